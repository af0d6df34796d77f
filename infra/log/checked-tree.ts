/**
 * Recomputes the tree of the log from its entries, and compares it with the stored tiles, batches and head. The log may
 * grow meanwhile.
 */
import { EMPTY_TREE, grow, HASH_BYTES, leafHash, rootOf, type Tile, TILE_WIDTH } from '../../runtime/log/tree.ts'
import { column } from '../postgres/connection/array-literal.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { ENTRY_BYTES } from './log-entry.ts'
import type { LogState } from './log-state.ts'

const FETCHED_TILES = 100
const TILE_BYTES = TILE_WIDTH * ENTRY_BYTES

/** Returns the first problem; undefined if everything agrees. `progress`: called with the number of entries so far. */
export async function problemOfTree(
  sql: Sql,
  head: NonNullable<LogState['head']>,
  progress: (entries: number) => void,
): Promise<string | undefined> {
  const batches = await problemOfBatches(sql, head.size)
  if (batches !== undefined) return batches
  let edge = EMPTY_TREE
  while (edge.size < head.size) {
    const entries = await entriesFrom(sql, edge.size / TILE_WIDTH, head.size)
    const grown = grow(edge, Buffer.concat(entries.map(leafHash)))
    const complete = grown.tiles.filter(({ hashes }) => hashes.length === TILE_WIDTH * HASH_BYTES)
    const problem = await problemOfTiles(sql, complete)
    if (problem !== undefined) return problem
    edge = grown.edge
    progress(edge.size)
    if (edge.size % TILE_WIDTH !== 0 && edge.size < head.size) return lacks(edge.size)
    if (entries.length === 0) return lacks(edge.size)
  }
  const partial = edge.levels.map((hashes, level) => {
    return { level, number: Math.floor(edge.size / TILE_WIDTH ** (level + 1)), hashes }
  })
  const problem = await problemOfTiles(
    sql,
    partial.filter(({ hashes }) => hashes.length > 0),
  )
  if (problem !== undefined) return problem
  return rootOf(edge).equals(head.root) ? undefined : 'its entries are not those of its head'
}

function lacks(place: number): string {
  return `its entry ${place} is gone`
}

/** The batches have all entries, each once. */
async function problemOfBatches(sql: Sql, size: number): Promise<string | undefined> {
  const [row] = await sql<{ wrong: string | null; size: string }[]>`
    SELECT min(first) FILTER (WHERE first <> expected) AS wrong, coalesce(max(first + entries), 0) AS size
      FROM (SELECT first, entries, lag(first + entries, 1, 0::bigint) OVER (ORDER BY first) AS expected
              FROM log_batches WHERE first < ${size}) b`
  if (row !== undefined && row.wrong !== null) return `its batch of entry ${row.wrong} does not follow the batch before`
  return Number(row?.size ?? 0) === size ? undefined : `its batches have ${row?.size ?? 0} entries, its head ${size}`
}

/** The entries of some tiles from tile `first` on, up to the first that is missing. */
async function entriesFrom(sql: Sql, first: number, size: number): Promise<readonly Buffer[]> {
  const rows = await sql<{ number: string; content: Buffer }[]>`
    SELECT number, content FROM log_tiles WHERE level = 0 AND number >= ${first} AND number < ${first + FETCHED_TILES}
     ORDER BY number`
  const entries: Buffer[] = []
  for (const [index, { number, content }] of rows.entries()) {
    const width = Math.min(TILE_BYTES, (size - (first + index) * TILE_WIDTH) * ENTRY_BYTES)
    if (Number(number) !== first + index || content.length < width) break
    for (let at = 0; at < width; at += ENTRY_BYTES) entries.push(content.subarray(at, at + ENTRY_BYTES))
  }
  return entries
}

/** Tiles above the entries. */
async function problemOfTiles(sql: Sql, tiles: readonly Tile[]): Promise<string | undefined> {
  const expected = tiles.filter(({ level }) => level > 0)
  if (expected.length === 0) return undefined
  const rows = await sql.unsafe<{ content: Buffer | null }[]>(
    `SELECT t.content FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS n (level, number, place)
       LEFT JOIN log_tiles t ON t.level = n.level AND t.number = n.number ORDER BY n.place`,
    [column('integer', expected, ({ level }) => level), column('bigint', expected, ({ number }) => number)],
  )
  const wrong = expected.find(
    ({ hashes }, index) => rows[index]?.content?.subarray(0, hashes.length).equals(hashes) !== true,
  )
  return wrong && `its tile ${wrong.number} of level ${wrong.level} is not that of its entries`
}
