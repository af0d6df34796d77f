/**
 * Imports at rest: one sealed text a head, a part, and what was found of a part.
 *   D1. A head is sealed for the status, the next part and the position that its columns say: whoever can write rows and has
 *       no key can neither skip a check nor go back to a status that was left.
 */
import * as v from 'valibot'
import { ROLES, type Caller } from '../../actors/account/commands.ts'
import { IMPORT_FAULT_CODES, type ImportRefusal, type ImportSummary } from '../../runtime/ports/ledger-imports.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import { type Place, placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { BroughtToken } from './import-brought.ts'

export const IMPORT_STATUSES = ['staging', 'checking', 'applying', 'taking', 'done', 'refusing', 'refused'] as const
export type HeadStatus = (typeof IMPORT_STATUSES)[number]

/** Where a file ends so far: what the next line must go on from. */
export interface FileEnd {
  /** How many lines there are. */
  readonly lines: number
  /** `lineHash` of the last. */
  readonly tip: string
  /** By the order of kinds. */
  readonly rank: number
  /** Whose used keys may follow, and which part of them. */
  readonly account: { readonly accountId: string; readonly usedParts: number } | null
}

/** Who exported it, and for what. */
export interface ImportSource {
  readonly ledgerId: string
  readonly partial: boolean
  readonly keySalt: string
}

export interface ImportHead {
  readonly importId: string
  readonly status: HeadStatus
  readonly nextPart: number
  /** Steps of its phase that are done. */
  readonly position: number
  /** How many steps there are; 0 until they were counted. */
  readonly total: number
  readonly source: ImportSource
  readonly end: FileEnd
  /** Who sent the last part; before that, the first. */
  readonly caller: Caller
  readonly summary: ImportSummary | null
  readonly refusal: ImportRefusal | null
  /** Of tokens, to accounts that were not here; null until it is decided that it is taken. */
  readonly brought: readonly BroughtToken[] | null
}

export interface HeadRow {
  readonly import_id: string
  readonly status: string
  readonly next_part: number
  readonly position: number
  readonly document: Buffer
}

const FORMAT = 1
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const fieldAndDetail = { field: v.string(), detail: v.string() }

const signedSchema = v.object({ keyId: v.string(), payloadHash: v.string() })

const refusalSchema = v.variant('kind', [
  v.object({
    kind: v.literal('invalid'),
    faults: v.array(
      v.object({
        code: v.picklist(IMPORT_FAULT_CODES),
        field: v.string(),
        message: v.string(),
      }),
    ),
  }),
  v.object({ kind: v.picklist(['untrusted', 'exists']), ...fieldAndDetail }),
  v.object({ kind: v.literal('mismatch'), ...fieldAndDetail, signed: signedSchema }),
])

const headSchema = v.object({
  format: v.literal(FORMAT),
  total: count,
  source: v.object({ ledgerId: v.string(), partial: v.boolean(), keySalt: v.string() }),
  end: v.object({
    lines: count,
    tip: v.string(),
    rank: count,
    account: v.nullable(v.object({ accountId: v.string(), usedParts: count })),
  }),
  caller: v.object({
    clientId: v.string(),
    role: v.picklist(ROLES),
    boundary: v.union([v.boolean(), v.array(v.string())]),
  }),
  summary: v.nullable(
    v.object({
      accounts: count,
      tokens: count,
      nftClasses: count,
      nftInstances: count,
      attestations: count,
      present: count,
    }),
  ),
  refusal: v.nullable(refusalSchema),
  // Of imports that were decided before it was noted it is not known.
  brought: v.optional(
    v.nullable(v.array(v.object({ tokenId: v.string(), quantity: v.string(), supply: v.string() }))),
    null,
  ),
})

function placeOfHead(importId: string, status: string, nextPart: number, position: number): Place {
  return placeOf('imports', importId, status, nextPart, position)
}

export function placeOfPart(importId: string, part: number): Place {
  return placeOf('import_parts', importId, part)
}

function placeOfPresent(importId: string, part: number): Place {
  return placeOf('import_parts', importId, part, 'present')
}

/** As hexadecimal digits. */
export function sealedHead(head: ImportHead, vault: RowVault): string {
  const { importId, status, nextPart, position, total, source, end, caller, summary, refusal, brought } = head
  const document: v.InferInput<typeof headSchema> = {
    format: FORMAT,
    total,
    source,
    end,
    caller: { ...caller, boundary: typeof caller.boundary === 'boolean' ? caller.boundary : [...caller.boundary] },
    summary,
    refusal: refusal?.kind === 'invalid' ? { ...refusal, faults: [...refusal.faults] } : refusal,
    brought: brought && [...brought],
  }
  return vault.seal(LEDGER_KEY_NAME, placeOfHead(importId, status, nextPart, position), JSON.stringify(document))
}

/** Throws UnreadableRow. */
export function openHead(row: HeadRow, vault: RowVault): ImportHead {
  const { import_id: importId, status: named, next_part: nextPart, position } = row
  const place = placeOfHead(importId, named, nextPart, position)
  const read = v.safeParse(headSchema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, row.document))
  const status = IMPORT_STATUSES.find((known) => known === named)
  if (!read.success || status === undefined) {
    throw new UnreadableRow(place, 'its document does not say what such a document says')
  }
  const { format: _, ...head } = read.output
  return { importId, status, nextPart, position, ...head }
}

/** What is staged of a part. */
export interface StagedPart {
  /** The number of its first line in the file. */
  readonly firstLine: number
  /** Its lines, each with its line feed. */
  readonly text: string
  /** What was encrypted in it, opened: by line. */
  readonly balances: ReadonlyMap<number, OpenedBalances>
}

/** By token, which may be called as what every object has. */
export type OpenedBalances = ReadonlyMap<string, string>

const partSchema = v.object({ firstLine: count, text: v.string(), balances: v.unknown() })

export function sealedPart(importId: string, part: number, staged: StagedPart, vault: RowVault): string {
  const lines = [...staged.balances].map(([line, opened]) => [line, Object.fromEntries(opened)] as const)
  const document = { ...staged, balances: Object.fromEntries(lines) }
  return vault.seal(LEDGER_KEY_NAME, placeOfPart(importId, part), JSON.stringify(document))
}

/** Throws UnreadableRow. */
export function openPart(importId: string, part: number, document: Buffer, vault: RowVault): StagedPart {
  const place = placeOfPart(importId, part)
  const read = v.safeParse(partSchema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, document))
  const balances = read.success ? balancesIn(read.output.balances) : undefined
  if (!read.success || balances === undefined) {
    throw new UnreadableRow(place, 'its document does not say what such a document says')
  }
  return { ...read.output, balances }
}

/** No schema of a library: theirs leave out members whose names every object has. */
function balancesIn(value: unknown): ReadonlyMap<number, OpenedBalances> | undefined {
  const lines = new Map<number, OpenedBalances>()
  const members = membersOf(value)
  if (members === undefined) return undefined
  for (const [line, opened] of members) {
    const quantities = membersOf(opened)
    if (!v.is(count, Number(line)) || quantities === undefined) return undefined
    const byToken = new Map<string, string>()
    for (const [tokenId, quantity] of quantities) {
      if (typeof quantity !== 'string') return undefined
      byToken.set(tokenId, quantity)
    }
    lines.set(Number(line), byToken)
  }
  return lines
}

function membersOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined
}

/** Lines of a part whose record, or whose issuer, was here already: nothing of the import is held there. */
export interface Present {
  readonly records: readonly number[]
  readonly issuers: readonly number[]
}

const presentSchema = v.object({ records: v.array(count), issuers: v.array(count) })

export function sealedPresent(importId: string, part: number, present: Present, vault: RowVault): string {
  return vault.seal(LEDGER_KEY_NAME, placeOfPresent(importId, part), JSON.stringify(present))
}

/** Throws UnreadableRow. */
export function openPresent(importId: string, part: number, document: Buffer, vault: RowVault): Present {
  const place = placeOfPresent(importId, part)
  const read = v.safeParse(presentSchema, openJson<unknown>(vault, LEDGER_KEY_NAME, place, document))
  if (!read.success) throw new UnreadableRow(place, 'it does not say what it must say')
  return read.output
}
