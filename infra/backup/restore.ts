/**
 * Restores a backup into a new data directory.
 *   R1. The directory appears under its name only when PostgreSQL has recovered it, and the caller has verified it. Until
 *       then it is called `.unfinished-restore`. The next restore removes the remains of an
 *       interrupted one.
 *   R2. One process restores to a directory. An existing directory is never replaced, unless it is empty.
 */
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { endLeftovers } from '../embedded/postgres-server.ts'
import { canEnter, unprivilegedUser, type User } from '../embedded/unprivileged-user.ts'
import { claimFile, FileInUse } from '../log/file-claim.ts'
import { syncFolder } from '../system/private-file.ts'
import { type BackupDirectory, type BaseName, BackupUnusable, type WalPiece } from './backup-directory.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { type RecoveredServer, startRecovered } from './recovery-server.ts'
import { walOf, writeFiles } from './restored-files.ts'
import { type Opener, PieceBroken } from './sealed-piece.ts'
import { recoveredEnd, refuseUnreadWal } from './wal-end.ts'

export interface RestoreOptions {
  readonly source: BackupDirectory
  readonly opener: Opener
  /** Absolute path of the new data directory. */
  readonly target: string
  /** Milliseconds since 1970. */
  readonly untilMs: number | undefined
  /** Looks at the manifest before anything is written. */
  readonly accept: (manifest: Manifest) => void
  /** Verifies the recovered ledger. Throws, or the restore is done. */
  readonly verify: (server: RecoveredServer, manifest: Manifest) => Promise<void>
  readonly signal: AbortSignal
  readonly say: (text: string) => void
  readonly progress: (doneBytes: number, totalBytes: number) => void
  readonly log: (line: string) => void
}

/** The backup that a restore uses. */
export interface Restorable {
  readonly base: BaseName
  readonly manifest: Manifest
  readonly wal: readonly WalPiece[]
  /** By PostgreSQL's clock: everything that was acknowledged before is in it. */
  readonly knownUntilMs: number
}

const MARK = 'ledger-restore'
/** Settings of ALTER SYSTEM, which a server reads whatever its configuration file is. */
const OVERRIDES = 'postgresql.auto.conf'

/** Throws BackupUnusable: there is no backup of that time. */
export async function findRestorable(
  source: BackupDirectory,
  opener: Opener,
  untilMs: number | undefined,
): Promise<Restorable> {
  const bases = source.bases()
  const [first] = bases
  if (first === undefined) throw new BackupUnusable(`${source.path} has no complete backup`)
  const base = bases.findLast(({ atMs }) => untilMs === undefined || atMs <= untilMs)
  if (base === undefined) {
    throw new BackupUnusable(`the earliest time that can be restored is ${new Date(first.atMs).toISOString()}`)
  }
  const manifest = manifestIn(await source.readManifest(base, opener), base)
  const wal = walOf(source, base, manifest.wal_segment_bytes)
  const knownUntilMs = wal.reduce((latest, { atMs }) => Math.max(latest, atMs), base.atMs)
  if (untilMs !== undefined && untilMs > knownUntilMs) {
    const next = bases.find(({ atMs }) => atMs > untilMs)
    const end = new Date(knownUntilMs).toISOString()
    throw new BackupUnusable(
      next === undefined
        ? `the backup ends at ${end}: name no later time`
        : `the backup has no time between ${end} and ${new Date(next.atMs).toISOString()}`,
    )
  }
  return { base, manifest, wal, knownUntilMs }
}

function manifestIn(bytes: Buffer, { name, timeline, start, stop }: BaseName): Manifest {
  try {
    const manifest = readManifest(bytes)
    if (manifest.timeline === timeline && manifest.start === start && manifest.stop === stop) return manifest
    throw new RangeError('it is of another backup')
  } catch (cause) {
    throw new PieceBroken(`the manifest ${name} is wrong: ${cause instanceof Error ? cause.message : ''}`, { cause })
  }
}

/** Throws BackupUnusable, PieceBroken, and the errors of `accept` and `verify`. */
export async function restore(options: RestoreOptions): Promise<Restorable> {
  const { source, opener, target, untilMs } = options
  const restorable = await findRestorable(source, opener, untilMs)
  options.accept(restorable.manifest)
  refuseUsed(target)
  const user = unprivilegedUser()
  mkdirSync(dirname(target), { recursive: true })
  if (!canEnter(user, dirname(target))) {
    throw new BackupUnusable(`PostgreSQL's user ${user?.name ?? ''} cannot enter ${dirname(target)}`)
  }
  const release = claimed(target)
  try {
    const unfinished = await prepare(`${target}.unfinished-restore`, user, options.log)
    try {
      await restoreInto(join(unfinished, 'data'), options, restorable, user)
      refuseUsed(target)
      await rename(join(unfinished, 'data'), target)
      await syncFolder(dirname(target))
    } finally {
      rmSync(unfinished, { recursive: true, force: true })
    }
  } finally {
    release()
  }
  return restorable
}

async function restoreInto(
  data: string,
  { source, opener, untilMs, verify, signal, say, progress, log }: RestoreOptions,
  { manifest, wal }: Restorable,
  user: User | undefined,
): Promise<void> {
  mkdirSync(data, { mode: 0o700 })
  if (user !== undefined) chownSync(data, user.uid, user.gid)
  await writeFiles({ source, opener, manifest, wal, target: data, user, progress, signal })
  say('PostgreSQL recovers the backup')
  const { postgres_version: version, superuser, database } = manifest
  const putBack = setAside(data, join(data, '..', OVERRIDES))
  const server = await startRecovered({ data, version, superuser, database, user, untilMs, log, signal })
  try {
    if (server.isWhole) {
      await refuseUnreadWal({ source, opener }, wal, manifest.wal_segment_bytes, recoveredEnd(data))
    }
    await unlessAborted(signal, verify(server, manifest))
  } finally {
    await server.stop()
  }
  putBack()
}

/** A recovery reads no settings of the backup: they may fit another machine, and may name commands. */
function setAside(data: string, place: string): () => void {
  const path = join(data, OVERRIDES)
  if (!existsSync(path)) return () => undefined
  renameSync(path, place)
  return () => renameSync(place, path)
}

async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted()
  // A verification that is left fails when its server ends.
  work.catch(() => undefined)
  return new Promise<T>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work.then(resolve, reject)
  })
}

/** R2. */
function refuseUsed(target: string): void {
  if (!existsSync(target)) return
  let names: readonly string[]
  try {
    names = readdirSync(target)
  } catch (cause) {
    throw new BackupUnusable(`${target} is not a directory that can be read`, { cause })
  }
  if (names.length > 0) throw new BackupUnusable(`${target} is not empty: a restore needs a new or an empty directory`)
  if (statSync(target).dev !== statSync(dirname(target)).dev) {
    throw new BackupUnusable(`${target} is a file system of its own: name a directory in it`)
  }
}

function claimed(target: string): () => void {
  try {
    return claimFile(target)
  } catch (cause) {
    if (!(cause instanceof FileInUse)) throw cause
    throw new BackupUnusable(`another restore writes to ${target}: ${cause.message}`, { cause })
  }
}

/** The mark shows that a restore made the directory. */
async function prepare(path: string, user: User | undefined, log: (line: string) => void): Promise<string> {
  const mark = join(path, MARK)
  if (existsSync(path)) {
    if (!existsSync(mark) && readdirSync(path).length > 0) {
      throw new BackupUnusable(`${path} is not of an earlier restore: move it away`)
    }
    await endLeftovers(join(path, 'data'), log)
    rmSync(path, { recursive: true })
  }
  // PostgreSQL's user passes through it.
  mkdirSync(path, { mode: user === undefined ? 0o700 : 0o711 })
  writeFileSync(mark, '')
  return path
}
