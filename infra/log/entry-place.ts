/** Finds an entry in the log: its commit names the batches of its range, in which entries are sorted. */
import { type LogStore, LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import { TILE_WIDTH } from '../../runtime/log/tree.ts'
import { readServer } from '../postgres/connection/accepted-servers.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { ENTRY_BYTES } from './log-entry.ts'

/** Enough to tell entries of a batch from each other. */
const COMPARED_BYTES = 6
const GUESSES = 3

/** `pending`: the log has not come to its commit. `lacking`: the log has come further, and the entry is not there. */
export type EntryPlace = number | 'pending' | 'lacking'

/** `xid`: of its commit. */
export async function placeOfEntry(
  sql: Sql,
  store: Pick<LogStore, 'entries'>,
  { entry, xid }: { readonly entry: Buffer; readonly xid: string },
): Promise<EntryPlace> {
  // The position is of the same snapshot as the batches: one that was added since has no entry that the position covers.
  const batches = await sql<{ first: string; entries: string; position: string }[]>`
    SELECT first, entries, (SELECT position FROM log_head) AS position FROM log_batches
     WHERE until_xid = (SELECT until_xid FROM log_batches WHERE until_xid > ${xid}::xid8 ORDER BY until_xid LIMIT 1)
     ORDER BY first`
  for (const { first, entries } of batches) {
    const place = await placeWithin(store, entry, { first: Number(first), end: Number(first) + Number(entries) })
    if (place !== undefined) return place
  }
  // In a cluster to which the database was moved, an earlier range gets its entries when it is compared with the rows.
  const [cluster, until = '0'] = batches[0]?.position.split('.') ?? []
  if (cluster === undefined || BigInt(until) <= BigInt(xid)) return 'pending'
  return (await readServer(sql)).systemIdentifier === cluster ? 'lacking' : 'pending'
}

interface Range {
  readonly first: number
  readonly end: number
}

/**
 * Entries are evenly distributed, as hashes are: the first bytes tell in which tile an entry is, or beside which. Only a
 * range that was made up takes more than three reads.
 */
export async function placeWithin(
  store: Pick<LogStore, 'entries'>,
  entry: Buffer,
  range: Range,
): Promise<number | undefined> {
  const count = range.end - range.first
  const share = entry.readUIntBE(0, COMPARED_BYTES) / 2 ** (8 * COMPARED_BYTES)
  const guess = Math.floor((range.first + share * count) / TILE_WIDTH)
  let [low, high] = [Math.floor(range.first / TILE_WIDTH), Math.floor((range.end - 1) / TILE_WIDTH)]
  for (let reads = 0; low <= high; reads += 1) {
    const tile = reads < GUESSES ? Math.min(Math.max(guess, low), high) : Math.floor((low + high) / 2)
    const found = await inTile(store, entry, tile, range)
    if (found === 'before') high = tile - 1
    else if (found === 'after') low = tile + 1
    else return found
  }
  return undefined
}

/** The place of the entry; undefined: it is missing between others of the tile; otherwise on which side of the tile it is. */
async function inTile(
  store: Pick<LogStore, 'entries'>,
  entry: Buffer,
  tile: number,
  { first, end }: Range,
): Promise<number | 'before' | 'after' | undefined> {
  const start = tile * TILE_WIDTH
  const content = await store.entries(tile, Math.min(TILE_WIDTH, end - start))
  if (content === undefined) throw new LogStoreUnavailable(`the log lacks the entries of tile ${tile}`)
  const compareAt = (place: number): number =>
    entry.compare(content, (place - start) * ENTRY_BYTES, (place - start + 1) * ENTRY_BYTES)
  let [low, high] = [Math.max(first, start), start + content.length / ENTRY_BYTES]
  const [lowest, highest] = [low, high]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const order = compareAt(middle)
    if (order === 0) return middle
    if (order > 0) low = middle + 1
    else high = middle
  }
  if (low === lowest) return 'before'
  return low === highest ? 'after' : undefined
}
