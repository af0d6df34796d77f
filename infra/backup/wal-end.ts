/**
 * Whether PostgreSQL recovered all WAL of a backup. It takes any record that it cannot read for the end of the log.
 * Sizes and places: access/xlog_internal.h and access/xlogrecord.h of PostgreSQL.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BackupDirectory, BackupUnusable, type WalPiece } from './backup-directory.ts'
import type { Opener } from './sealed-piece.ts'
import { formatPosition, parsePosition } from './wal-position.ts'

const PAGE_BYTES = 8_192
const PAGE_HEADER_BYTES = 24
const SEGMENT_HEADER_BYTES = 40
const LENGTH_BYTES = 4

/** Where the recovered server began its timeline: the end of the last record that it read. */
export function recoveredEnd(data: string): number {
  const directory = join(data, 'pg_wal')
  const history = readdirSync(directory)
    .filter((name) => name.endsWith('.history'))
    .toSorted()
    .at(-1)
  if (history === undefined) throw new Error('the recovered server has no history of its timelines')
  const last = readFileSync(join(directory, history), 'utf8').trimEnd().split('\n').at(-1) ?? ''
  return parsePosition(last.split('\t')[1] ?? '')
}

/** Throws BackupUnusable if WAL of the backup lies behind `end` that is more than an unfinished record. */
export async function refuseUnreadWal(
  { source, opener }: { readonly source: BackupDirectory; readonly opener: Opener },
  wal: readonly WalPiece[],
  segmentBytes: number,
  end: number,
): Promise<void> {
  const storedEnd = wal.at(-1)?.end ?? end
  const record = end + headerBytes(end, segmentBytes)
  const piece = wal.find(({ start, end: pieceEnd }) => start <= record && record + LENGTH_BYTES <= pieceEnd)
  if (piece === undefined) return
  const length = (await source.readWal(piece, opener)).readUInt32LE(record - piece.start)
  if (length > bytesOfRecords(record, storedEnd, segmentBytes)) return
  throw new BackupUnusable(
    `PostgreSQL can read the WAL of the backup up to ${formatPosition(end)}, and it goes on to ${formatPosition(storedEnd)}: ` +
      'commits would be missing. Restore an earlier time with --until',
  )
}

/** Of a page that begins there; 0 within a page. */
function headerBytes(position: number, segmentBytes: number): number {
  if (position % PAGE_BYTES !== 0) return 0
  return position % segmentBytes === 0 ? SEGMENT_HEADER_BYTES : PAGE_HEADER_BYTES
}

/** Bytes from `from` to `to` without headers of pages. */
function bytesOfRecords(from: number, to: number, segmentBytes: number): number {
  let bytes = to - from
  for (let page = from - (from % PAGE_BYTES) + PAGE_BYTES; page < to; page += PAGE_BYTES) {
    bytes -= headerBytes(page, segmentBytes)
  }
  return bytes
}
