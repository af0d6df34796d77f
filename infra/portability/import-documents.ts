/**
 * Stored imports: one sealed text for the head, for each part, and for the records of a part that existed before.
 *   D1. A head is sealed with the status, next part and position of its columns as associated data. Without the key,
 *       write access to the table cannot skip a check or restore an earlier status.
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

/** Current end of a file. The next line must continue from it. */
export interface FileEnd {
  /** Number of lines. */
  readonly lines: number
  /** `lineHash` of the last line. */
  readonly tip: string
  /** Rank of the last kind in the order of kinds. */
  readonly rank: number
  /** Account whose used keys may follow, and the number of the next part of them. */
  readonly account: { readonly accountId: string; readonly usedParts: number } | null
}

/** Content of the file's first line. */
export interface ImportSource {
  readonly ledgerId: string
  readonly partial: boolean
  readonly keySalt: string
}

export interface ImportHead {
  readonly importId: string
  readonly status: HeadStatus
  readonly nextPart: number
  /** Steps completed. */
  readonly position: number
  /** Number of all steps; 0 until they are counted. */
  readonly total: number
  readonly source: ImportSource
  readonly end: FileEnd
  /** Sender of the newest part. */
  readonly caller: Caller
  readonly summary: ImportSummary | null
  readonly refusal: ImportRefusal | null
  /** Tokens brought to new accounts; null until the import is accepted. */
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
const MALFORMED = 'its document does not match its schema'
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
  // Unknown for imports that were accepted before this member existed.
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

/** In hexadecimal digits. */
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
    throw new UnreadableRow(place, MALFORMED)
  }
  const { format: _, ...head } = read.output
  return { importId, status, nextPart, position, ...head }
}

export interface StagedPart {
  /** Number of its first line in the file. */
  readonly firstLine: number
  /** Its lines, each with its line feed. */
  readonly text: string
  /** Decrypted balances by line. */
  readonly balances: ReadonlyMap<number, OpenedBalances>
}

/** Decimal strings by token. A Map, because a token may be named `__proto__`. */
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
    throw new UnreadableRow(place, MALFORMED)
  }
  return { ...read.output, balances }
}

/** Checked by hand: valibot drops members such as `__proto__`. */
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

/** Lines of a part whose record or issuer existed here before the import. Nothing is staged for them. */
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
  if (!read.success) throw new UnreadableRow(place, MALFORMED)
  return read.output
}
