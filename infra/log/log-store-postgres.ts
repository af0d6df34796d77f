/**
 * The log in PostgreSQL. Invariants G1 to G6 of the port, and:
 *   G7. The row of the head is changed first, under the condition that it is the expected one. Other appends wait for it,
 *       and then find another head.
 *   G8. The entries of a batch are sorted by their bytes, which are as good as random: their order tells nothing. An entry
 *       is found by the batch of its commit.
 */
import { HASH_BYTES, leafHash, rootOf, TILE_WIDTH } from '../../runtime/log/tree.ts'
import {
  type CommittedEntries,
  LOG_LEASE_MS,
  type LogBatch,
  type LogPosition,
  type LogStore,
  LogStoreUnavailable,
  type PublishedLogHead,
  type StoredLogHead,
} from '../../runtime/ports/log-store.ts'
import { column } from '../postgres/connection/array-literal.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { PLAN_SETTINGS } from '../postgres/connection/plan-settings.ts'
import { createQueryPool } from '../postgres/connection/query-pool.ts'
import { committedEntries } from './committed-entries.ts'
import { ENTRY_BYTES } from './log-entry.ts'
import { acceptedServer } from './log-server.ts'

export interface PostgresLogStore extends LogStore {
  readonly close: () => Promise<void>
}

export interface LogStoreOptions {
  readonly url: string
  /** The secret from which the log keys of all accounts follow. */
  readonly logKey: Buffer
  readonly poolSize?: number
}

/** A batch may be a whole import. */
const STATEMENT_TIMEOUT_MS = 60_000

export function createLogStore({ url, logKey, poolSize = 2 }: LogStoreOptions): PostgresLogStore {
  const pool = createQueryPool({
    url,
    name: 'ledger log',
    size: poolSize,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: PLAN_SETTINGS,
    unavailable: logFailure,
  })
  const onAccepted = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
    pool.run(async (sql) => {
      await acceptedServer(sql)
      return work(sql)
    })
  return {
    claim: (holder) => pool.run((sql) => claim(sql, holder)),
    release: (holder) =>
      pool.run(async (sql) => {
        await sql`DELETE FROM log_lease WHERE holder = ${holder}`
      }),
    head: () => onAccepted(readHead),
    since: (position) => pool.run((sql) => since(sql, position, logKey)),
    append: (head, batch) => onAccepted((sql) => append(sql, head, batch)),
    published: () => pool.run(readPublished),
    publish: (head) => onAccepted((sql) => publish(sql, head)),
    hashes: (level, number, width) => pool.run((sql) => readHashes(sql, level, number, width)),
    entries: (number, width) => pool.run((sql) => readEntries(sql, number, width)),
    close: pool.close,
  }
}

/** Keeps the errors of the port as they are. */
function logFailure(message: string, { cause }: ErrorOptions): Error {
  return cause instanceof LogStoreUnavailable ? cause : new LogStoreUnavailable(message, { cause })
}

async function claim(sql: Sql, holder: string): Promise<boolean> {
  const claimed = await sql`
    INSERT INTO log_lease AS l (holder, until) VALUES (${holder}, now() + ${LOG_LEASE_MS} * interval '1 ms')
    ON CONFLICT (singleton) DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE l.holder = excluded.holder OR l.until < now()`
  return claimed.count === 1
}

async function since(sql: Sql, position: LogPosition, logKey: Buffer): Promise<CommittedEntries> {
  const found = await committedEntries(sql, position, logKey)
  return { ...found, entries: inOrder(found.entries) }
}

/** Sorted by their bytes. Numbers of the first six decide almost always, and are compared in a tenth of the time. */
function inOrder(entries: readonly Buffer[]): readonly Buffer[] {
  return entries
    .map((entry) => ({ entry, beginning: entry.readUIntBE(0, 6) }))
    .sort((left, right) => left.beginning - right.beginning || Buffer.compare(left.entry, right.entry))
    .map(({ entry }) => entry)
}

async function readHead(sql: Sql): Promise<StoredLogHead> {
  const [row] = await sql<{ size: string; root: Buffer; position: string }[]>`SELECT size, root, position FROM log_head`
  if (row === undefined) return { edge: { size: 0, levels: [] }, position: '' }
  const size = Number(row.size)
  const levels: Buffer[] = []
  for (let level = 0, width = size; width > 0; level += 1, width = Math.floor(width / TILE_WIDTH)) {
    const rest = width % TILE_WIDTH
    const hashes = rest === 0 ? Buffer.alloc(0) : await readHashes(sql, level, Math.floor(width / TILE_WIDTH), rest)
    if (hashes === undefined) throw new LogStoreUnavailable(`the log lacks a tile of level ${level}`)
    levels.push(hashes)
  }
  const edge = { size, levels }
  if (!rootOf(edge).equals(row.root)) throw new LogStoreUnavailable('the tiles of the log are not those of its head')
  return { edge, position: row.position }
}

/** G1, G7. */
async function append(sql: Sql, head: StoredLogHead, batch: LogBatch): Promise<boolean> {
  const root = rootOf(batch.edge)
  return sql.begin(async (transaction) => {
    const moved = await transaction`
      INSERT INTO log_head AS h (size, root, position) VALUES (${batch.edge.size}, ${root}, ${batch.position})
      ON CONFLICT (singleton) DO UPDATE SET size = excluded.size, root = excluded.root, position = excluded.position
       WHERE h.size = ${head.edge.size} AND h.root = ${rootOf(head.edge)}`
    if (moved.count !== 1) return false
    await transaction`
      INSERT INTO log_batches (first, entries, until_xid)
      VALUES (${head.edge.size}, ${batch.entries.length}, ${batch.position.split('.')[1] ?? '0'}::xid8)`
    const leaves = entryTiles(head.edge.size, batch.entries)
    const above = batch.tiles.filter(({ level }) => level > 0)
    await transaction`
      INSERT INTO log_tiles AS t (level, number, content)
      SELECT 0, number, content
        FROM unnest(${column('bigint', leaves, ({ number }) => number)}::bigint[],
                    ${column('bytea', leaves, ({ content }) => content.toString('hex'))}::bytea[]) AS n (number, content)
      ON CONFLICT (level, number) DO UPDATE SET content = t.content || excluded.content`
    await transaction`
      INSERT INTO log_tiles AS t (level, number, content)
      SELECT level, number, content
        FROM unnest(${column('integer', above, ({ level }) => level)}::integer[],
                    ${column('bigint', above, ({ number }) => number)}::bigint[],
                    ${column('bytea', above, ({ hashes }) => hashes.toString('hex'))}::bytea[]) AS n (level, number, content)
      ON CONFLICT (level, number) DO UPDATE SET content = excluded.content`
    return true
  })
}

/** The entries of each tile of level 0, from place `size` on. */
function entryTiles(size: number, entries: readonly Buffer[]): readonly { number: number; content: Buffer }[] {
  const tiles: { number: number; content: Buffer }[] = []
  let at = 0
  while (at < entries.length) {
    const place = size + at
    const count = TILE_WIDTH - (place % TILE_WIDTH)
    tiles.push({ number: Math.floor(place / TILE_WIDTH), content: Buffer.concat(entries.slice(at, at + count)) })
    at += count
  }
  return tiles
}

/** G3. */
async function publish(sql: Sql, { size, note }: PublishedLogHead): Promise<boolean> {
  const published = await sql`
    INSERT INTO log_published AS p (size, note) VALUES (${size}, ${note})
    ON CONFLICT (singleton) DO UPDATE SET size = excluded.size, note = excluded.note WHERE p.size <= excluded.size`
  return published.count === 1
}

export async function readPublished(sql: Sql): Promise<PublishedLogHead | undefined> {
  const [row] = await sql<{ size: string; note: string }[]>`SELECT size, note FROM log_published`
  return row && { size: Number(row.size), note: row.note }
}

async function contentOf(sql: Sql, level: number, number: number, width: number): Promise<Buffer | undefined> {
  const bytes = width * (level === 0 ? ENTRY_BYTES : HASH_BYTES)
  const [row] = await sql<{ content: Buffer }[]>`
    SELECT substring(content FROM 1 FOR ${bytes}) AS content FROM log_tiles WHERE level = ${level} AND number = ${number}`
  return row?.content.length === bytes ? row.content : undefined
}

/** Undefined if the log does not have them. */
export function readEntries(sql: Sql, number: number, width: number): Promise<Buffer | undefined> {
  return contentOf(sql, 0, number, width)
}

/** Undefined if the tree does not have them. */
export async function readHashes(sql: Sql, level: number, number: number, width: number): Promise<Buffer | undefined> {
  const content = await contentOf(sql, level, number, width)
  if (content === undefined || level > 0) return content
  const entries = Array.from({ length: width }, (_, at) => content.subarray(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES))
  return Buffer.concat(entries.map(leafHash))
}
