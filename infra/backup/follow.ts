/**
 * Copies the WAL of a ledger until a signal ends it, and takes base backups beside it.
 *   F1. Everything that was acknowledged is stored some seconds later (FOLLOW_MS, and the time to copy it).
 *   F2. It takes a base backup when there is none that the stored WAL continues without a gap, and when the last is old.
 *   F3. A server that is away, silent or in recovery ends nothing: it continues from where it was. If PostgreSQL has
 *       removed WAL meanwhile, or has another timeline, it takes a new base backup. (A replication slot would keep the WAL,
 *       until the disk is full.)
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
  readonly pauses?: { readonly followMs: number; readonly retryMs: number }
}

/** Between two copies of the WAL, and between two attempts to reach PostgreSQL. */
const PAUSES = { followMs: 2_000, retryMs: 2_000 }

/** Resolves after the signal. Throws BackupUnusable: the server is another one, or cannot be backed up. */
export async function follow(options: FollowOptions): Promise<void> {
  const { signal, say } = options
  let isAway = false
  while (!signal.aborted) {
    try {
      await followOnce(options, () => {
        if (isAway) say('the copy continues')
        isAway = false
      })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof BackupUnusable && !(error instanceof ServerInRecovery)) throw error
      const because = error instanceof Error ? error.message : String(error)
      if (!isAway && !(error instanceof WalGone)) say(`the copy is interrupted (${because}); trying again`)
      isAway = !(error instanceof WalGone)
      await pause(options.pauses?.retryMs ?? PAUSES.retryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** On one connection, until it is lost. */
async function followOnce(options: FollowOptions, onReached: () => void): Promise<void> {
  const { connect, signal, systemIdentifier, onBase, pauses = PAUSES } = options
  const connection = await connect()
  // A statement may take a minute.
  signal.addEventListener('abort', connection.destroy, { once: true })
  const bases = new Bases(options)
  try {
    const { sql } = connection
    const facts = await readServerFacts(sql)
    if (facts.systemIdentifier !== systemIdentifier) throw new BackupUnusable('PostgreSQL is another server now')
    onReached()
    let followed = await resume(sql, options, facts)
    if (followed === undefined) {
      const taken = await takeBase({ ...options, sql, isFast: true })
      onBase(taken)
      followed = taken
    }
    const { wal } = followed
    bases.last = followed.base
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
  private fail: (error: unknown) => void = () => undefined
  /** Rejects when a base backup fails. */
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
    this.running = this.take(wal).then(
      () => (this.running = undefined),
      (error: unknown) => this.fail(error),
    )
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
