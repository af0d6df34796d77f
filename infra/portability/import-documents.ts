/**
 * Stored imports: one sealed text for the head, for each part, and for the records of a part that existed before.
 *   D1. A head is sealed with the status, next part and position of its columns as associated data. Without the key,
 *       write access to the table cannot skip a check or restore an earlier status.
 */
import type { Caller } from '../../actors/account/commands.ts'
import type { ImportRefusal, ImportStatus, ImportSummary } from '../../runtime/ports/ledger-imports.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import { type Place, placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { BroughtToken } from './import-brought.ts'

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
  readonly status: ImportStatus['phase']
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
  readonly status: ImportStatus['phase']
  readonly next_part: number
  readonly position: number
  readonly document: Buffer
}

const FORMAT = 1

type HeadColumn = 'importId' | 'status' | 'nextPart' | 'position'

interface HeadDocument extends Omit<ImportHead, HeadColumn> {
  readonly format: number
}

function placeOfHead({ importId, status, nextPart, position }: Pick<ImportHead, HeadColumn>): Place {
  return placeOf('imports', importId, status, nextPart, position)
}

function placeOfPart(importId: string, part: number): Place {
  return placeOf('import_parts', importId, part)
}

function placeOfPresent(importId: string, part: number): Place {
  return placeOf('import_parts', importId, part, 'present')
}

/** In hexadecimal digits. */
export function sealedHead(head: ImportHead, vault: RowVault): string {
  const { importId: _id, status: _status, nextPart: _part, position: _position, ...content } = head
  const document: HeadDocument = { format: FORMAT, ...content }
  return vault.seal(LEDGER_KEY_NAME, placeOfHead(head), JSON.stringify(document))
}

/** Throws UnreadableRow. */
export function openHead(row: HeadRow, vault: RowVault): ImportHead {
  const columns = { importId: row.import_id, status: row.status, nextPart: row.next_part, position: row.position }
  const place = placeOfHead(columns)
  const { format, ...content } = openJson<HeadDocument>(vault, LEDGER_KEY_NAME, place, row.document)
  if (format !== FORMAT) throw new UnreadableRow(place, 'its format is unknown')
  return { ...columns, ...content }
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

interface PartDocument extends Omit<StagedPart, 'balances'> {
  readonly balances: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export function sealedPart(importId: string, part: number, staged: StagedPart, vault: RowVault): string {
  const lines = [...staged.balances].map(([line, opened]) => [line, Object.fromEntries(opened)] as const)
  const document: PartDocument = { ...staged, balances: Object.fromEntries(lines) }
  return vault.seal(LEDGER_KEY_NAME, placeOfPart(importId, part), JSON.stringify(document))
}

/** Throws UnreadableRow. */
export function openPart(importId: string, part: number, document: Buffer, vault: RowVault): StagedPart {
  const read = openJson<PartDocument>(vault, LEDGER_KEY_NAME, placeOfPart(importId, part), document)
  const lines = Object.entries(read.balances)
  return { ...read, balances: new Map(lines.map(([line, opened]) => [Number(line), new Map(Object.entries(opened))])) }
}

/** Lines of a part whose record or issuer existed here before the import. Nothing is staged for them. */
export interface Present {
  readonly records: readonly number[]
  readonly issuers: readonly number[]
}

export function sealedPresent(importId: string, part: number, present: Present, vault: RowVault): string {
  return vault.seal(LEDGER_KEY_NAME, placeOfPresent(importId, part), JSON.stringify(present))
}

/** Throws UnreadableRow. */
export function openPresent(importId: string, part: number, document: Buffer, vault: RowVault): Present {
  return openJson<Present>(vault, LEDGER_KEY_NAME, placeOfPresent(importId, part), document)
}
