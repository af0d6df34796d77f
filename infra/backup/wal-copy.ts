/**
 * Copies the write-ahead log as PostgreSQL flushes it.
 *   W1. Pieces follow each other without a gap, and end where the log was flushed: such bytes never change.
 *   W2. A piece begins and ends within one stretch of CHUNK_BYTES. The last piece of the log is replaced as it grows.
 *   W3. Every page is the one of its position: PostgreSQL reuses files under other names.
 *   W4. A server whose log ends before the stored one was put back: its log does not continue that one.
 *   W5. Each statement has a deadline: of a machine that is gone the system would notice only after a quarter of an hour.
 */
import { type Sql, withDeadline } from '../postgres/connection/connection.ts'
import { BackupUnusable, type BackupWriter, CHUNK_BYTES, type WalPiece } from './backup-directory.ts'
import { readPart } from './server-files.ts'
import { formatPosition, segmentName, segmentStart } from './wal-position.ts'

/** PostgreSQL removed WAL before it was copied. A new base backup is needed. */
export class WalGone extends Error {
  override readonly name = 'WalGone'
}

export interface WalPlace {
  /** Eight hexadecimal digits. */
  readonly timeline: string
  readonly segmentBytes: number
  /** Of the first byte to copy. */
  readonly position: number
}

/** Of a statement, which reads at most CHUNK_BYTES. */
const DEADLINE_MS = 60_000
const PAGE_BYTES = 8_192
/** Of a page's header: magic and flags, timeline, position. */
const ADDRESS_AT = 8
const HEADER_BYTES = 16

export class WalCopy {
  private readonly sql: Sql
  private readonly writer: BackupWriter
  private readonly place: WalPlace
  private readonly deadlineMs: number
  private open: { readonly piece: WalPiece; readonly content: Buffer } | undefined
  /** Everything before it is stored. */
  position: number
  /** By PostgreSQL's clock: everything that was acknowledged before is stored. */
  knownUntilMs = 0
  private running: Promise<void> = Promise.resolve()

  constructor(sql: Sql, writer: BackupWriter, place: WalPlace, deadlineMs = DEADLINE_MS) {
    this.sql = sql
    this.writer = writer
    this.place = place
    this.deadlineMs = deadlineMs
    this.position = place.position
  }

  get timeline(): string {
    return this.place.timeline
  }

  /** Copies everything that was flushed before the call. Throws WalGone, BackupUnusable (W4), DeadlinePassed (W5). */
  advance(): Promise<void> {
    const before = this.running.catch(() => undefined)
    this.running = before.then(() => this.copyFlushed())
    return this.running
  }

  private async copyFlushed(): Promise<void> {
    // In this order: what was acknowledged before the time lies below the position.
    const [row] = await this.inTime(
      this.sql<{ now: Date; flushed: string }[]>`
        SELECT clock_timestamp() AS now, pg_current_wal_flush_lsn() - '0/0'::pg_lsn AS flushed`,
    )
    if (row === undefined) throw new Error('PostgreSQL returned no position')
    const [flushed, atMs] = [Number(row.flushed), row.now.getTime()]
    refusePutBack(this.position, flushed)
    while (this.position < flushed) {
      const end = Math.min(flushed, this.position - (this.position % CHUNK_BYTES) + CHUNK_BYTES)
      // The time is true of the last piece only: the copy may end before it.
      await this.copy(end, end === flushed ? atMs : this.knownUntilMs)
    }
    this.knownUntilMs = atMs
  }

  private async copy(end: number, atMs: number): Promise<void> {
    const { timeline, segmentBytes } = this.place
    const added = await this.read(end)
    const { open } = this
    const content = open === undefined ? added : Buffer.concat([open.content, added])
    const piece = { timeline, start: end - content.length, end, atMs }
    await this.writer.putWal(piece, content, open?.piece)
    this.open = end % CHUNK_BYTES === 0 || end % segmentBytes === 0 ? undefined : { piece, content }
    this.position = end
  }

  private async read(end: number): Promise<Buffer> {
    const { timeline, segmentBytes } = this.place
    const name = segmentName(timeline, this.position, segmentBytes)
    const from = this.position - segmentStart(this.position, segmentBytes)
    const bytes = await this.inTime(readPart(this.sql, `pg_wal/${name}`, from, end - this.position))
    if (bytes === null) throw this.gone()
    if (bytes.length !== end - this.position || !arePagesOf(bytes, this.position)) throw this.gone()
    return bytes
  }

  private inTime<T>(statement: Promise<T>): Promise<T> {
    return withDeadline(statement, this.deadlineMs, () => undefined)
  }

  private gone(): WalGone {
    return new WalGone(`PostgreSQL has removed its WAL at ${formatPosition(this.position)} before it was copied`)
  }
}

/** W4. Throws BackupUnusable. `stored`: the end of the stored log. `flushed`: of the server's. */
export function refusePutBack(stored: number, flushed: number): void {
  if (stored <= flushed) return
  throw new BackupUnusable(
    `the backup has the WAL up to ${formatPosition(stored)}, and PostgreSQL only up to ${formatPosition(flushed)}: ` +
      'an older copy was put back, so name another directory',
  )
}

/** W3. After a switch of segments the rest of a segment is zeros. */
function arePagesOf(bytes: Buffer, position: number): boolean {
  const first = (PAGE_BYTES - (position % PAGE_BYTES)) % PAGE_BYTES
  for (let at = first; at + HEADER_BYTES <= bytes.length; at += PAGE_BYTES) {
    const isEmpty = bytes.subarray(at, at + HEADER_BYTES).every((byte) => byte === 0)
    if (!isEmpty && bytes.readBigUInt64LE(at + ADDRESS_AT) !== BigInt(position + at)) return false
  }
  return true
}

/** The pieces that lead from `from` on without a gap, as far as possible, in their order. */
export function chainOf(pieces: readonly WalPiece[], from: number): readonly WalPiece[] {
  const chain: WalPiece[] = []
  let end = from
  let best: WalPiece | undefined
  for (const piece of pieces.toSorted((a, b) => a.start - b.start)) {
    if (piece.start > end) {
      if (best === undefined || best.end <= end) break
      chain.push(best)
      end = best.end
      if (piece.start > end) break
    }
    if (piece.end > (best?.end ?? end)) best = piece
  }
  if (best !== undefined && best.end > end) chain.push(best)
  return chain
}
