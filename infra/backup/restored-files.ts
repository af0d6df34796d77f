/**
 * Writes the data directory of a backup.
 *   R1. Everything that is written was encrypted to the identity, and has the hash that the manifest names.
 *   R2. The WAL has no gap from the beginning of the backup to its end, and on to where it was copied.
 */
import { chownSync } from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { User } from '../embedded/unprivileged-user.ts'
import { type BackupDirectory, type BaseName, BackupUnusable, CHUNK_BYTES, type WalPiece } from './backup-directory.ts'
import type { Manifest } from './manifest.ts'
import type { Opener } from './sealed-piece.ts'
import { chainOf } from './wal-copy.ts'
import { formatPosition, segmentName, segmentStart } from './wal-position.ts'

export interface FilesToRestore {
  readonly source: BackupDirectory
  readonly opener: Opener
  readonly manifest: Manifest
  /** Of `walOf`. */
  readonly wal: readonly WalPiece[]
  /** Exists, and is empty. */
  readonly target: string
  /** Owns the files; undefined: this process's user. */
  readonly user: User | undefined
  readonly progress: (doneBytes: number, totalBytes: number) => void
  readonly signal: AbortSignal
}

const PARALLEL_FILES = 4
const [DIRECTORY_MODE, FILE_MODE] = [0o700, 0o600]

/** The WAL of a backup, as far as it was copied (R2). Throws BackupUnusable. */
export function walOf(source: BackupDirectory, base: BaseName, segmentBytes: number): readonly WalPiece[] {
  const from = segmentStart(base.start, segmentBytes)
  const chain = chainOf(source.walPieces(base.timeline), from)
  const end = chain.at(-1)?.end ?? from
  if (end >= base.stop) return chain
  throw new BackupUnusable(
    `the WAL of the backup is missing from ${formatPosition(end)}; it needs the WAL up to ${formatPosition(base.stop)}`,
  )
}

export async function writeFiles(work: FilesToRestore): Promise<void> {
  const { manifest, target, user } = work
  for (const path of manifest.directories.toSorted()) {
    await mkdir(join(target, path), { recursive: true, mode: DIRECTORY_MODE })
    own(join(target, path), user)
  }
  let doneBytes = 0
  const chunks = manifest.files.reduce((sum, file) => sum + file.chunks.length, 0)
  const totalBytes = chunks * CHUNK_BYTES + work.wal.reduce((sum, piece) => sum + piece.end - piece.start, 0)
  const note = (bytes: number): void => {
    work.signal.throwIfAborted()
    doneBytes += bytes
    work.progress(doneBytes, totalBytes)
  }
  await eachOf(manifest.files, (file) => writeDataFile(work, file, note))
  await writeWal(work, note)
  await writeWhole(work, 'backup_label', manifest.label)
  await writeWhole(work, 'recovery.signal', '')
}

async function writeDataFile(
  { source, opener, target, user }: FilesToRestore,
  { path, chunks }: Manifest['files'][number],
  note: (bytes: number) => void,
): Promise<void> {
  await withFile(join(target, path), 'wx', user, async (file) => {
    for (const [index, name] of chunks.entries()) {
      if (name !== null) await writeAt(file, await source.readChunk(name, opener), index * CHUNK_BYTES)
      note(CHUNK_BYTES)
    }
  })
}

/** A segment has its full size: PostgreSQL ends at the zeros after the last record. */
async function writeWal(work: FilesToRestore, note: (bytes: number) => void): Promise<void> {
  const { source, opener, manifest, target, user, wal } = work
  const { timeline, wal_segment_bytes: segmentBytes } = manifest
  const segments = new Map<number, WalPiece[]>()
  for (const piece of wal) {
    const start = segmentStart(piece.start, segmentBytes)
    segments.set(start, [...(segments.get(start) ?? []), piece])
  }
  for (const [start, pieces] of segments) {
    const path = join(target, 'pg_wal', segmentName(timeline, start, segmentBytes))
    await withFile(path, 'wx', user, async (file) => {
      await file.truncate(segmentBytes)
      for (const piece of pieces) {
        await writeAt(file, await source.readWal(piece, opener), piece.start - start)
        note(piece.end - piece.start)
      }
    })
  }
}

async function writeWhole({ target, user }: FilesToRestore, name: string, text: string): Promise<void> {
  await withFile(join(target, name), 'w', user, (file) => file.writeFile(text))
}

async function withFile(
  path: string,
  flags: 'w' | 'wx',
  user: User | undefined,
  work: (file: FileHandle) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  const file = await open(path, flags, FILE_MODE)
  try {
    if (user !== undefined) await file.chown(user.uid, user.gid)
    await work(file)
  } finally {
    await file.close()
  }
}

async function writeAt(file: FileHandle, content: Buffer, position: number): Promise<void> {
  for (let done = 0; done < content.length;) {
    done += (await file.write(content, done, content.length - done, position + done)).bytesWritten
  }
}

function own(path: string, user: User | undefined): void {
  if (user !== undefined) chownSync(path, user.uid, user.gid)
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: PARALLEL_FILES }, worker))
}
