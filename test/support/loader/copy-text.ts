/**
 * Rows of a batch as `COPY … FROM STDIN` reads them in its text format (documentation, COPY, File Formats), by the very
 * description that commits are written from.
 */
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { arrayLiteral, type ColumnType, type ColumnValue } from '../../../infra/postgres/connection/array-literal.ts'
import { keyNamesOfNew } from '../../../infra/postgres/commit/commit-keys.ts'
import { SECTION_NAMES, type SectionName, SECTIONS } from '../../../infra/postgres/commit/commit-rows.ts'
import { createRowSealer } from '../../../infra/postgres/rows/row-sealer.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'

/** Sums over a whole load, written at its end. */
const NO_ROWS: ReadonlySet<SectionName> = new Set(['new_channels', 'sent', 'marks'])

const SPECIAL = /[\\\t\n\r]/
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

export interface TableRows {
  readonly table: string
  readonly columns: readonly string[]
  /** Whole lines. */
  readonly text: string
}

/** Columns that have the number of their commit by default. */
const COMMIT_COLUMNS: Readonly<Partial<Record<SectionName, readonly string[]>>> = {
  audit_entries: ['commit_xid'],
  transactions: ['entered_xid', 'ended_xid'],
}

/**
 * Rows of one commit, with the keys of what is new in it. A load has new accounts only: what would change a row that is there
 * before has a section whose name is no table's. `xid`: the commit's transaction number.
 */
export function copyTextOf(parts: readonly ShardBatch[], vault: RowVault, xid: string): readonly TableRows[] {
  const tables: TableRows[] = [commitOf(parts, xid)]
  const names = parts.flatMap((part) => keyNamesOfNew(part, vault))
  const made = new Map(names.map((name) => [name, vault.keys.make(name)]))
  const sealed = parts.map((part) => ({ part, sealer: createRowSealer(vault, part.token.shardId, made) }))
  for (const name of SECTION_NAMES) {
    if (NO_ROWS.has(name)) continue
    const { columns, rowsOf } = SECTIONS[name]
    const types = columns.map(({ type }) => type)
    const ofCommit = COMMIT_COLUMNS[name] ?? []
    const end = `${`\t${xid}`.repeat(ofCommit.length)}\n`
    let text = ''
    for (const { part, sealer } of sealed) {
      for (const row of rowsOf(part, sealer)) text += lineOf(sealer.shardId, types, row) + end
    }
    if (text === '') continue
    const table = name === 'new_accounts' ? 'accounts' : name
    tables.push({ table, columns: ['shard_id', ...columns.map((column) => column.name), ...ofCommit], text })
  }
  return tables
}

/** All transactions of a load are final. */
function commitOf(parts: readonly ShardBatch[], xid: string): TableRows {
  const ids = parts.flatMap(({ transactions }) => transactions.map(({ transaction }) => transaction.txnId))
  const final = arrayLiteral('text', ids.toSorted())
  return { table: 'commits', columns: ['commit_xid', 'final', 'pending', 'ended'], text: `${xid}\t${final}\t{}\t{}\n` }
}

function lineOf(shardId: number, types: readonly ColumnType[], row: readonly ColumnValue[]): string {
  let line = `${shardId}`
  for (let index = 0; index < types.length; index += 1) line += `\t${fieldOf(types[index], row[index] ?? null)}`
  return line
}

function fieldOf(type: ColumnType | undefined, value: ColumnValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return type === 'timestamptz' ? isoTimestamp(value) : `${value}`
  if (type === 'sealed') return `\\\\x${Buffer.from(value, 'base64').toString('hex')}`
  if (type === 'bytea') return `\\\\x${value}`
  return SPECIAL.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '') : value
}
