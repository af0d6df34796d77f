/**
 * The stored log as edges read it for strangers, apart from the connections that extend it.
 *   S1. Complete tiles never change: those of the last reads are kept.
 *   S2. The published head is read at most once in `KEPT_MS` and process, unless a reader knows of more entries. Another edge
 *       may have shown that reader a newer head.
 */
import { TILE_WIDTH } from '../../runtime/log/tree.ts'
import type { TileAddress } from '../../runtime/log/tile-paths.ts'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { PublishedLogHead } from '../../runtime/ports/log-store.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { readEntries, readHashes, readPublished } from './log-store-postgres.ts'

/** Of at most 12 KiB. */
const KEPT_TILES = 1_000
const KEPT_MS = 500

/** Gives work a connection. */
export type RunOnLog = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>

export class ServedLog {
  private readonly clock: Pick<Clock, 'monotonic'>
  private readonly tiles = createBoundedCache<string, Buffer>(KEPT_TILES)
  private head: { readonly atMs: number; readonly read: Promise<PublishedLogHead | undefined> } | undefined

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock
  }

  /** `size`: entries that the reader may know of (S2). */
  async published(run: RunOnLog, size = 0): Promise<PublishedLogHead | undefined> {
    const nowMs = this.clock.monotonic()
    if (this.head !== undefined && nowMs - this.head.atMs < KEPT_MS) {
      const kept = await this.head.read
      if ((kept?.size ?? 0) >= size) return kept
    }
    const head = { atMs: nowMs, read: run(readPublished) }
    this.head = head
    try {
      return await head.read
    } catch (error) {
      if (this.head === head) this.head = undefined
      throw error
    }
  }

  /** Hashes or entries, one after the other; undefined if the log does not have them. */
  async tile(run: RunOnLog, { level, number, width }: TileAddress): Promise<Buffer | undefined> {
    const key = `${level} ${number}`
    const kept = width === TILE_WIDTH ? this.tiles.get(key) : undefined
    if (kept !== undefined) return kept
    const content = await run((sql) =>
      level === 'entries' ? readEntries(sql, number, width) : readHashes(sql, level, number, width),
    )
    if (width === TILE_WIDTH && content !== undefined) this.tiles.set(key, content)
    return content
  }
}
