/**
 * The connection that commits go down, and the session's lock that is held on it.
 *   L1. One commit at a time, on a checked connection that holds the session's lock, or none at all: nothing waits in
 *       the driver. A commit that was not sent is `unsent`: it cannot have been applied. A commit waits a while for a
 *       connection that is being opened: an immediate refusal would make the caller build and sign the batch again at once.
 *   L2. After an unknown outcome the connection is destroyed, and no commit is taken before the server process behind
 *       it has ended: until then it may hold the shards' locks, or apply what was sent.
 *   L3. The session lock is free only if no commit of its session can be in flight.
 * A commit is never cancelled: one that waits for a standby would be reported as applied.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { LedgerStoreUnavailable, type CommitVerdict } from '../../../runtime/ports/ledger-store.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type { CommitStatement } from './commit-statement.ts'
import { isDangerous, verdictOfError } from './commit-verdict.ts'
import { type Backend, type Connection, type ServerNotice, type Sql, withDeadline } from '../connection/connection.ts'
import { codeOf } from '../connection/failure.ts'
import { prepared } from '../connection/prepared.ts'

export interface CommitLaneOptions {
  /** Opens a connection and checks whose it is; `onNotice` is for what the server says beside answers. */
  readonly open: (onNotice: (notice: ServerNotice) => void) => Promise<Connection>
  /** Of the session. */
  readonly lockKey: bigint
  /** Why there will never be another connection; undefined while there may. */
  readonly stopped: () => string | undefined
  /** Without an answer after this the outcome is unknown, milliseconds. */
  readonly commitTimeoutMs: number
  /** How long `ready` waits, milliseconds. */
  readonly readyTimeoutMs: number
  readonly log: Log
}

/** Turns a result into a verdict; if it throws, the outcome is unknown. */
type ReadRows = (rows: readonly unknown[]) => CommitVerdict

/** How long the server waits for the old process to end before it says that it has not, milliseconds. */
const END_BACKEND_MS = 2_000
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000
const TAKE_OVER_MS = 5_000
/** Limit on the distinct warnings that one process logs. */
const MAX_WARNINGS_KNOWN = 100
/** L1, milliseconds. */
const PATIENCE_MS = 1_000

/** Resolves once the first connection is open and holds the lock; rejects when it cannot be. */
export async function openCommitLane(options: CommitLaneOptions): Promise<CommitLane> {
  const lane = new CommitLane(options)
  await lane.open()
  return lane
}

export class CommitLane {
  private readonly options: CommitLaneOptions
  private connection: Connection | undefined
  /** The process behind the connection that was open last. */
  private backend: Backend | undefined
  private recovery: Promise<void> | undefined
  private inFlight: Promise<CommitVerdict> | undefined
  /** A warning made the outcome of the commit in flight unknown. */
  private inDanger = false
  /** SQLSTATE and source of logged warnings: each is logged once. */
  private readonly warned = new Set<string>()
  private closed = false

  constructor(options: CommitLaneOptions) {
    this.options = options
  }

  /** Never rejects. */
  async send(statement: CommitStatement, read: ReadRows): Promise<CommitVerdict> {
    if (this.connection === undefined) await this.opened()
    const { connection } = this
    if (connection === undefined || !connection.isOpen()) return notSent('the connection for commits is not open')
    if (this.inFlight !== undefined) return notSent('another commit is in flight')
    this.inFlight = this.execute(connection, statement, read)
    try {
      return await this.inFlight
    } finally {
      this.inFlight = undefined
    }
  }

  /** Resolves once commits are taken: L2 is over. Rejects when that takes too long. */
  async ready(): Promise<void> {
    await withDeadline(this.recovery ?? Promise.resolve(), this.options.readyTimeoutMs, () => undefined)
    if (this.connection === undefined) throw new LedgerStoreUnavailable('the connection for commits is not open')
  }

  /** Ends it after the commit in flight. */
  async close(): Promise<void> {
    this.closed = true
    await this.inFlight
    await this.connection?.end()
    await this.recovery
  }

  async open(): Promise<void> {
    const { open, lockKey } = this.options
    const opened = await open((notice) => this.noteWarning(notice))
    try {
      await withDeadline(takeOver(opened.sql, this.backend, lockKey), TAKE_OVER_MS, opened.destroy)
      if (this.closed) throw new LedgerStoreUnavailable('the store is closed')
    } catch (cause) {
      opened.destroy()
      throw cause
    }
    this.connection = opened
    this.backend = opened.backend
    opened.onClosed(() => {
      this.connection = undefined
      if (this.mayOpen()) this.recovery ??= this.recover()
    })
  }

  private noteWarning(notice: ServerNotice): void {
    const { code, file } = notice
    if (isDangerous(notice)) this.inDanger = true
    const name = `${code} ${file}`
    if (this.warned.has(name) || this.warned.size >= MAX_WARNINGS_KNOWN) return
    this.warned.add(name)
    this.options.log.warn('commit_warned', { code, file })
  }

  private mayOpen(): boolean {
    return !this.closed && this.options.stopped() === undefined
  }

  /** Resolves when it is open again, or given up, or when that takes too long for a commit to wait. */
  private async opened(): Promise<void> {
    await withDeadline(this.recovery ?? Promise.resolve(), PATIENCE_MS, () => undefined).catch(() => undefined)
  }

  /** Tries until it is open again, or closed or stopped for good. */
  private async recover(): Promise<void> {
    const { log, stopped } = this.options
    let delayMs = FIRST_RETRY_MS
    while (this.mayOpen()) {
      try {
        await this.open()
        if (this.connection !== undefined) break
      } catch (cause) {
        log.warn('commit_connection_refused', { code: codeOf(cause) })
      }
      await pause(delayMs)
      delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)
    }
    this.recovery = undefined
    if (this.connection === undefined) log.warn('commit_connection_given_up', { reason: stopped() ?? 'closed' })
    else log.info('commit_connection_open')
  }

  private async execute(connection: Connection, statement: CommitStatement, read: ReadRows): Promise<CommitVerdict> {
    this.inDanger = false
    const answered = await verdictWithin(connection.sql, statement, read, this.options.commitTimeoutMs)
    const verdict: CommitVerdict =
      answered.kind === 'answered' && this.inDanger ? { kind: 'unknown', detail: 'answered with a warning' } : answered
    if (verdict.kind === 'unknown') {
      this.options.log.error('commit_unknown', { detail: verdict.detail })
      connection.destroy()
    }
    return verdict
  }
}

function notSent(detail: string): CommitVerdict {
  return { kind: 'failed', cause: 'unsent', detail }
}

async function verdictWithin(
  sql: Sql,
  statement: CommitStatement,
  read: ReadRows,
  timeoutMs: number,
): Promise<CommitVerdict> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CommitVerdict>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'unknown', detail: `no answer within ${timeoutMs} ms` }), timeoutMs)
  })
  const answer = prepared<Record<string, unknown>>(sql, statement.text, statement.parameters)
    .then(read)
    .catch(verdictOfError)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Ends the process of the connection before, and takes the session's lock. Rejects when either fails. */
async function takeOver(sql: Sql, previous: Backend | undefined, lockKey: bigint): Promise<void> {
  if (previous !== undefined) await endBackend(sql, previous)
  const [row] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${String(lockKey)}::bigint) AS taken`
  if (row?.taken !== true) throw new LedgerStoreUnavailable('another connection holds the session lock')
}

/** The process is named by its start too: its number may be another's by now. */
async function endBackend(sql: Sql, backend: Backend): Promise<void> {
  await sql`
    SELECT pg_terminate_backend(pid, ${END_BACKEND_MS}) FROM pg_stat_activity
     WHERE pid = ${backend.pid} AND backend_start = ${backend.startedAt}::text::timestamptz`
  const left = await sql`
    SELECT 1 FROM pg_stat_activity WHERE pid = ${backend.pid} AND backend_start = ${backend.startedAt}::text::timestamptz`
  if (left.length > 0) throw new LedgerStoreUnavailable('the process of an earlier commit does not end')
}
