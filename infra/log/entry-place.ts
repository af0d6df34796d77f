/** Finds an entry in the log: its commit names the batches of its range, in which entries are sorted. */
import { type LogStore, LogStoreUnavailable } from '../../runtime/ports/log-store.ts'
import { TILE_WIDTH } from '../../runtime/log/tree.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { ENTRY_BYTES } from './log-entry.ts'

/** `xid`: of its commit. Undefined if it is not in the log, or not yet. */
export async function placeOfEntry(
  sql: Sql,
  store: Pick<LogStore, 'entries'>,
  { entry, xid }: { readonly entry: Buffer; readonly xid: string },
): Promise<number | undefined> {
  const batches = await sql<{ first: string; entries: string }[]>`
    SELECT first, entries FROM log_batches
     WHERE until_xid = (SELECT until_xid FROM log_batches WHERE until_xid > ${xid}::xid8 ORDER BY until_xid LIMIT 1)
     ORDER BY first`
  for (const { first, entries } of batches) {
    const place = await placeWithin(store, entry, { first: Number(first), end: Number(first) + Number(entries) })
    if (place !== undefined) return place
  }
  return undefined
}

async function placeWithin(
  store: Pick<LogStore, 'entries'>,
  entry: Buffer,
  { first, end }: { readonly first: number; readonly end: number },
): Promise<number | undefined> {
  const entryAt = createReader(store, end)
  let [low, high] = [first, end]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (Buffer.compare(await entryAt(middle), entry) < 0) low = middle + 1
    else high = middle
  }
  return low < end && (await entryAt(low)).equals(entry) ? low : undefined
}

/** Reads entries below `end`, each tile once. */
function createReader(store: Pick<LogStore, 'entries'>, end: number): (place: number) => Promise<Buffer> {
  const tiles = new Map<number, Buffer>()
  return async (place) => {
    const number = Math.floor(place / TILE_WIDTH)
    const width = Math.min(TILE_WIDTH, end - number * TILE_WIDTH)
    const content = tiles.get(number) ?? (await store.entries(number, width))
    if (content === undefined) throw new LogStoreUnavailable(`the log lacks the entries of tile ${number}`)
    tiles.set(number, content)
    const at = (place % TILE_WIDTH) * ENTRY_BYTES
    return content.subarray(at, at + ENTRY_BYTES)
  }
}
