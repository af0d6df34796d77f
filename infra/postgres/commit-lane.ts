/**
 * The connection that commits go down, and the session's lock that is held on it.
 *   L1. One commit at a time, on a checked connection that holds the session's lock, or none at all: nothing waits in
 *       the driver. What was not sent is `transient`, because it cannot have been applied.
 *   L2. After an unknown outcome the connection is destroyed, and no commit is taken before the server process behind
 *       it has ended: until then it may hold the shards' locks, or apply what was sent.
 *   L3. The lock is free only if no commit of this session can be in flight.
 * A commit is never cancelled: one that waits for a standby would be reported as applied.
 */
import { LedgerStoreUnavailable, type CommitVerdict } from '../../runtime/ports/ledger-store.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { CommitStatement } from './commit-statement.ts'
import { verdictOfError } from './commit-verdict.ts'
import { type Backend, type Connection, type Sql, withDeadline } from './connection.ts'
import { codeOf } from './failure.ts'

export interface CommitLane {
  /** Never rejects. `read` turns the result into a verdict; if it throws, the outcome is unknown. */
  readonly send: (statement: CommitStatement, read: (rows: readonly unknown[]) => CommitVerdict) => Promise<CommitVerdict>
  /** Resolves once commits are taken: L2 is over. Rejects with `LedgerStoreUnavailable` when it takes too long. */
  readonly ready: () => Promise<void>
  /** Ends it after the commit in flight. */
  readonly close: () => Promise<void>
}

export interface CommitLaneOptions {
  /** Opens a connection and checks whose it is; `onNotice` is for what the server says beside answers. */
  readonly open: (onNotice: () => void) => Promise<Connection>
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

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 1_000
/** How long the server waits for the old process to end before it says that it has not. */
const END_BACKEND_MS = 2_000
const TAKE_OVER_MS = 5_000

/** Resolves once the first connection is open and holds the lock; rejects when it cannot be. */
export async function openCommitLane(options: CommitLaneOptions): Promise<CommitLane> {
  const { log } = options
  let connection: Connection | undefined
  /** The process behind the connection that was open last. */
  let backend: Backend | undefined
  let recovery: Promise<void> | undefined
  let inFlight: Promise<CommitVerdict> | undefined
  let notices = 0
  let closed = false

  async function open(): Promise<void> {
    const opened = await options.open(() => (notices += 1))
    try {
      await withDeadline(takeOver(opened.sql, backend, options.lockKey), TAKE_OVER_MS, opened.destroy)
      if (closed) throw new LedgerStoreUnavailable('the store is closed')
    } catch (cause) {
      opened.destroy()
      throw cause
    }
    connection = opened
    backend = opened.backend
    opened.onClosed(() => {
      connection = undefined
      if (!closed) recovery ??= recover()
    })
  }

  /** Tries until it is open again, or closed or stopped for good. */
  async function recover(): Promise<void> {
    let delayMs = FIRST_RETRY_MS
    while (!closed && options.stopped() === undefined) {
      try {
        await open()
        if (connection !== undefined) break
      } catch (cause) {
        log.warn('commit_connection_refused', { code: codeOf(cause) })
      }
      await pause(delayMs)
      delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)
    }
    recovery = undefined
    if (connection === undefined) log.error('commit_connection_given_up', { closed, stopped: options.stopped() })
    else log.info('commit_connection_open')
  }

  async function execute(
    current: Connection,
    statement: CommitStatement,
    read: (rows: readonly unknown[]) => CommitVerdict,
  ): Promise<CommitVerdict> {
    notices = 0
    const verdict = await verdictWithin(current.sql, statement, read, options.commitTimeoutMs)
    const doubted: CommitVerdict =
      verdict.kind === 'answered' && notices > 0 ? { kind: 'unknown', detail: 'applied with a warning' } : verdict
    if (doubted.kind === 'unknown') {
      log.error('commit_unknown', { detail: doubted.detail })
      current.destroy()
    }
    return doubted
  }

  await open()
  return {
    send: async (statement, read) => {
      const current = connection
      if (current === undefined || !current.isOpen()) return notSent('the connection for commits is not open')
      if (inFlight !== undefined) return notSent('another commit is in flight')
      inFlight = execute(current, statement, read)
      try {
        return await inFlight
      } finally {
        inFlight = undefined
      }
    },
    ready: async () => {
      await withDeadline(recovery ?? Promise.resolve(), options.readyTimeoutMs, () => undefined)
      if (connection === undefined) throw new LedgerStoreUnavailable('the connection for commits is not open')
    },
    close: async () => {
      closed = true
      await inFlight
      await connection?.end()
      await recovery
    },
  }
}

function notSent(detail: string): CommitVerdict {
  return { kind: 'failed', cause: 'transient', detail }
}

async function verdictWithin(
  sql: Sql,
  statement: CommitStatement,
  read: (rows: readonly unknown[]) => CommitVerdict,
  timeoutMs: number,
): Promise<CommitVerdict> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CommitVerdict>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'unknown', detail: `no answer within ${timeoutMs} ms` }), timeoutMs)
  })
  const answer = sql
    .unsafe<Record<string, unknown>[]>(statement.text, statement.parameters, { prepare: true })
    .then(read)
    .catch(verdictOfError)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

async function takeOver(sql: Sql, previous: Backend | undefined, lockKey: bigint): Promise<void> {
  if (previous !== undefined) await endBackend(sql, previous)
  await takeLock(sql, lockKey)
}

/** L2. The process is named by its start too: its number may be another's by now. */
async function endBackend(sql: Sql, backend: Backend): Promise<void> {
  await sql`
    SELECT pg_terminate_backend(pid, ${END_BACKEND_MS}) FROM pg_stat_activity
     WHERE pid = ${backend.pid} AND backend_start = ${backend.startedAt}::text::timestamptz`
  const left = await sql`
    SELECT 1 FROM pg_stat_activity WHERE pid = ${backend.pid} AND backend_start = ${backend.startedAt}::text::timestamptz`
  if (left.length > 0) throw new LedgerStoreUnavailable('the process of an earlier commit does not end')
}

async function takeLock(sql: Sql, key: bigint): Promise<void> {
  const [row] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${String(key)}::bigint) AS taken`
  if (row?.taken !== true) throw new LedgerStoreUnavailable('the lock of this session is held elsewhere')
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs)
  })
}
