/**
 * Compares the rows of the ledger with the entries of its log.
 *   R1. Each batch has the rows of one range of transaction numbers: from the end of the range before up to `until_xid`.
 *       Several batches may have the same range. The ranges leave out no number below the last `until_xid`.
 *   R2. A row belongs to the range of its commit. Its entry is in a batch of that range, and nowhere else.
 */
import { TILE_WIDTH } from '../../runtime/log/tree.ts'
import { LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { ENTRY_BYTES } from './log-entry.ts'
import { type LogRow, readLogRows } from './log-rows.ts'

export interface LackingRow extends LogRow {
  /** The end of its range. */
  readonly until: bigint
}

/** An entry of the log that no row has. */
export interface GoneEntry {
  readonly place: number
  readonly entry: Buffer
  /** First place of its batch. */
  readonly first: number
  readonly addedAt: Date
}

/** The result for some ranges in sequence. */
export interface ComparedRows {
  /** The end of the last range. */
  readonly until: bigint
  /** Number of entries in the log. */
  readonly entries: number
  /** Rows whose entries the log lacks, in the order of their commits. */
  readonly lacking: readonly LackingRow[]
  readonly gone: readonly GoneEntry[]
}

interface StoredBatch {
  readonly first: number
  readonly entries: number
  readonly until: bigint
  readonly addedAt: Date
}

/** Entries that are compared at once, if one range has no more. A snapshot that is held long slows every commit. */
const COMPARED_ENTRIES = 20_000
const FETCHED_TILES = 100

/** Compares the ranges from that of transaction number `from` on. Undefined: no batch has this number or a larger one. */
export async function compareRows(sql: Sql, from: bigint, logKey: Buffer): Promise<ComparedRows | undefined> {
  const batches = await batchesFrom(sql, from)
  const last = batches.at(-1)
  if (last === undefined) return undefined
  const unmatched = new Map<string, GoneEntry & { readonly until: bigint }>()
  const gone: GoneEntry[] = []
  for (const batch of batches) {
    await readEntries(sql, batch, (place, entry) => {
      const key = entry.toString('latin1')
      const found = { place, entry, first: batch.first, addedAt: batch.addedAt, until: batch.until }
      if (unmatched.has(key)) gone.push(found)
      else unmatched.set(key, found)
    })
  }
  const ends = [...new Set(batches.map(({ until }) => until))]
  const lacking: LackingRow[] = []
  let at = 0
  await readLogRows(sql, { from: await startOf(sql, from), until: last.until }, logKey, (row) => {
    while (row.xid >= (ends[at] ?? last.until)) at += 1
    const until = ends[at] ?? last.until
    const key = row.entry.toString('latin1')
    if (unmatched.get(key)?.until === until) unmatched.delete(key)
    else lacking.push({ ...row, until })
    return true
  })
  gone.push(...unmatched.values())
  return {
    until: last.until,
    entries: batches.reduce((sum, { entries }) => sum + entries, 0),
    lacking,
    gone: gone.toSorted((left, right) => left.place - right.place),
  }
}

/** The batches of the first ranges, in the order of ranges. */
async function batchesFrom(sql: Sql, from: bigint): Promise<readonly StoredBatch[]> {
  const rows = await sql<{ first: string; entries: string; until: string; added_at: Date }[]>`
    WITH ranges AS (
      SELECT until_xid, sum(entries) OVER (ORDER BY until_xid) - entries AS before
        FROM (SELECT until_xid, sum(entries) AS entries
                FROM (SELECT until_xid, entries FROM log_batches WHERE until_xid > ${String(from)}::xid8
                       ORDER BY until_xid LIMIT ${COMPARED_ENTRIES}) b
               GROUP BY until_xid) r)
    SELECT first, entries, until_xid::text AS until, added_at FROM log_batches
     WHERE until_xid > ${String(from)}::xid8
       AND until_xid <= (SELECT until_xid FROM ranges WHERE before < ${COMPARED_ENTRIES} ORDER BY until_xid DESC LIMIT 1)
     ORDER BY until_xid, first`
  return rows.map((row) => ({
    first: Number(row.first),
    entries: Number(row.entries),
    until: BigInt(row.until),
    addedAt: row.added_at,
  }))
}

/** The beginning of the range that has transaction number `xid`. */
async function startOf(sql: Sql, xid: bigint): Promise<bigint> {
  const [row] = await sql<{ until: string }[]>`
    SELECT until_xid::text AS until FROM log_batches WHERE until_xid <= ${String(xid)}::xid8
     ORDER BY until_xid DESC LIMIT 1`
  return BigInt(row?.until ?? 0)
}

/** Throws LogStoreUnavailable if the log lacks entries of the batch. */
async function readEntries(
  sql: Sql,
  { first, entries }: StoredBatch,
  take: (place: number, entry: Buffer) => void,
): Promise<void> {
  const end = first + entries
  let place = first
  while (place < end) {
    const tile = Math.floor(place / TILE_WIDTH)
    const rows = await sql<{ number: string; content: Buffer }[]>`
      SELECT number, content FROM log_tiles
       WHERE level = 0 AND number >= ${tile} AND number < ${Math.min(tile + FETCHED_TILES, Math.ceil(end / TILE_WIDTH))}
       ORDER BY number`
    const before = place
    for (const { number, content } of rows) {
      const start = Number(number) * TILE_WIDTH
      const stop = Math.min(end, start + Math.floor(content.length / ENTRY_BYTES))
      while (place >= start && place < stop) {
        const at = (place - start) * ENTRY_BYTES
        take(place, content.subarray(at, at + ENTRY_BYTES))
        place += 1
      }
    }
    if (place === before) throw new LogStoreUnavailable(`the log lacks entry ${place}`)
  }
}
