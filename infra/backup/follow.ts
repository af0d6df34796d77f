/**
 * Copies the WAL of a ledger until a signal ends it, and takes base backups beside it.
 *   F1. Everything that was acknowledged is stored some seconds later (FOLLOW_MS, and the time to copy it).
 *   F2. It takes a base backup when there is none that the stored WAL continues without a gap, and when the last is old.
 *   F3. A server that is away, silent or in recovery ends nothing: it continues from where it was. If PostgreSQL has
 *       removed WAL meanwhile, or has another timeline, it takes a new base backup. (A replication slot would keep the WAL,
 *       until the disk is full.)
 *   F4. A base backup that fails is tried again after some minutes (baseRetryMs), because each reads all files of the server,
 *       and the first makes it write a checkpoint at full speed. Meanwhile the WAL after an earlier base is still copied.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Connection, Sql } from '../postgres/connection/connection.ts'
import { type BaseName, BackupUnusable } from './backup-directory.ts'
import {
  type BaseOptions,
  readServerFacts,
  type ServerFacts,
  ServerInRecovery,
  takeBase,
  type TakenBase,
} from './base-backup.ts'
import { chainOf, WalCopy, WalGone } from './wal-copy.ts'
import { segmentStart } from './wal-position.ts'

export interface FollowOptions extends Pick<
  BaseOptions,
  'writer' | 'checkpoint' | 'progress' | 'signal' | 'deadlineMs'
> {
  readonly connect: () => Promise<Connection>
  readonly baseEveryMs: number
  /** Of the directory. */
  readonly systemIdentifier: string
  readonly say: (text: string) => void
  readonly onBase: (taken: TakenBase) => void
  readonly pauses?: Pauses
}

interface Pauses {
  /** Between two copies of the WAL. */
  readonly followMs: number
  /** Between two attempts to reach PostgreSQL. */
  readonly retryMs: number
  /** After a base backup that failed while PostgreSQL was there. */
  readonly baseRetryMs: number
}

const PAUSES: Pauses = { followMs: 2_000, retryMs: 2_000, baseRetryMs: 300_000 }

/** Resolves after the signal. Throws BackupUnusable: the server is another one, or cannot be backed up. */
export async function follow(options: FollowOptions): Promise<void> {
  const { signal, say, pauses = PAUSES } = options
  let isAway = false
  while (!signal.aborted) {
    try {
      await followOnce(options, () => {
        if (isAway) say('the copy continues')
        isAway = false
      })
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) throw error
      const because = messageOf(error)
      if (!isAway && !(error instanceof WalGone)) say(`the copy is interrupted (${because}); trying again`)
      isAway = !(error instanceof WalGone)
      const pauseMs = error instanceof BaseFailed ? pauses.baseRetryMs : pauses.retryMs
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Of the first base backup, while PostgreSQL was there (F4). */
class BaseFailed extends Error {}

/** Another attempt would not help. */
function isFinal(error: unknown): boolean {
  return error instanceof BackupUnusable && !(error instanceof ServerInRecovery)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** On one connection, until it is lost. */
async function followOnce(options: FollowOptions, onReached: () => void): Promise<void> {
  const { connect, signal, systemIdentifier, pauses = PAUSES } = options
  const connection = await connect()
  // A statement may take a minute.
  signal.addEventListener('abort', connection.destroy, { once: true })
  const bases = new Bases(options)
  try {
    const { sql } = connection
    const facts = await readServerFacts(sql)
    if (facts.systemIdentifier !== systemIdentifier) throw new BackupUnusable('PostgreSQL is another server now')
    onReached()
    const { wal, base } = (await resume(sql, options, facts)) ?? (await takeFirst(options, connection))
    bases.last = base
    while (!signal.aborted) {
      await Promise.race([pause(pauses.followMs, undefined, { signal }).catch(() => undefined), bases.failed])
      await wal.advance()
      bases.takeIfDue(wal)
    }
  } finally {
    signal.removeEventListener('abort', connection.destroy)
    await bases.end()
    await connection.end()
  }
}

/** F4. */
async function takeFirst(options: FollowOptions, { sql, isOpen }: Connection): Promise<Followed> {
  const { onBase, signal } = options
  try {
    const taken = await takeBase({ ...options, sql, isFast: true })
    onBase(taken)
    return taken
  } catch (error) {
    if (signal.aborted || isFinal(error) || !isOpen()) throw error
    throw new BaseFailed(`the base backup failed: ${messageOf(error)}`, { cause: error })
  }
}

interface Followed {
  readonly base: BaseName
  readonly wal: WalCopy
}

/** Continues the stored WAL. Undefined: there is none on this timeline, or PostgreSQL has removed what follows. */
async function resume(
  sql: Sql,
  { writer, say, deadlineMs }: FollowOptions,
  facts: ServerFacts,
): Promise<Followed | undefined> {
  const base = writer.bases().findLast(({ timeline }) => timeline === facts.timeline)
  if (base === undefined) return undefined
  const from = segmentStart(base.start, facts.segmentBytes)
  const end = chainOf(writer.walPieces(facts.timeline), from).at(-1)?.end ?? from
  if (end < base.stop) return undefined
  const wal = new WalCopy(sql, writer, { ...facts, position: end }, deadlineMs)
  try {
    await wal.advance()
    return { base, wal }
  } catch (error) {
    if (!(error instanceof WalGone)) throw error
    say(`${error.message}: a new base backup begins`)
    return undefined
  }
}

/** Base backups beside the copy of the WAL, one at a time. */
class Bases {
  private readonly options: FollowOptions
  private readonly stopping = new AbortController()
  private running: Promise<void> | undefined
  private notBeforeMs = -Infinity
  private fail: (error: unknown) => void = () => undefined
  /** Rejects when a base backup fails and another attempt would not help. */
  readonly failed: Promise<never>
  /** The last complete one. */
  last: BaseName | undefined

  constructor(options: FollowOptions) {
    this.options = options
    this.failed = new Promise((_resolve, reject) => (this.fail = reject))
    this.failed.catch(() => undefined)
  }

  takeIfDue(wal: WalCopy): void {
    const ageMs = wal.knownUntilMs - (this.last?.atMs ?? 0)
    if (this.running !== undefined || ageMs < this.options.baseEveryMs) return
    if (performance.now() < this.notBeforeMs) return
    this.running = this.take(wal)
      .catch((error: unknown) => this.noteFailure(error))
      .finally(() => (this.running = undefined))
  }

  /** F4. */
  private noteFailure(error: unknown): void {
    const { pauses = PAUSES, say, signal } = this.options
    if (isFinal(error)) return this.fail(error)
    if (signal.aborted || this.stopping.signal.aborted) return
    say(`the base backup failed (${messageOf(error)}); the next attempt is in ${pauses.baseRetryMs / 1_000} s`)
    this.notBeforeMs = performance.now() + pauses.baseRetryMs
  }

  private async take(wal: WalCopy): Promise<void> {
    const { connect, signal, onBase } = this.options
    const connection = await connect()
    const stop = AbortSignal.any([signal, this.stopping.signal])
    stop.addEventListener('abort', connection.destroy, { once: true })
    try {
      const taken = await takeBase({ ...this.options, sql: connection.sql, signal: stop, wal, isFast: false })
      this.last = taken.base
      onBase(taken)
    } finally {
      stop.removeEventListener('abort', connection.destroy)
      await connection.end()
    }
  }

  async end(): Promise<void> {
    this.stopping.abort()
    await this.running
  }
}
