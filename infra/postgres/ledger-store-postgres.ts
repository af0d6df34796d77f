/**
 * The ledger of record in PostgreSQL. One object is one session: it commits down one connection, which holds the
 * session's lock, and does everything else on others. Every connection is checked for whose database it is.
 *   R1. A commit is one autocommit statement behind a fence that locks (I1).
 *   R2. Once the database is another than the one seen first, nothing is served from here again, and `onStopped` says so:
 *       the process must end, or it would be a zombie that owns nothing and looks alive.
 *   R3. No connection is used on which an answered commit could be lost (durability.ts).
 *   R4. A server that lacks what it once answered as committed is another database, whatever it calls itself (evidence.ts).
 * Contract: test/contract/ledger-store.contract.ts
 */
import {
  type CommitBatch,
  type CommitVerdict,
  type LedgerStore,
  LedgerStoreUnavailable,
} from '../../runtime/ports/ledger-store.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { type CommitLane, openCommitLane } from './commit-lane.ts'
import { type CommitStatement, commitStatement } from './commit-statement.ts'
import { applicationName, connect, type Connection, type Sql, withDeadline } from './connection.ts'
import { demandDurability } from './durability.ts'
import { createEvidence, type Evidence } from './evidence.ts'
import { codeOf, unavailable } from './failure.ts'
import { createIdentityGuard, type IdentityGuard, readIdentity } from './identity.ts'
import { createLanes, type Lanes } from './lane.ts'
import { lookUp } from './look-up.ts'
import { acknowledge, prune } from './outbox.ts'
import { readDrains } from './drains.ts'
import { acquireShard, listShards, type Owner, raiseAttempt, releaseShard } from './ownership.ts'
import { PLAN_SETTINGS } from './plan-settings.ts'
import { sessionLockKey } from './session-lock.ts'
import { dueActors, openShard } from './shard-start.ts'
import { isSessionHeld, probeSession, terminateSession } from './sessions.ts'

export interface PostgresLedgerStoreOptions {
  readonly url: string
  readonly nodeId: string
  /** 32 hexadecimal digits, new with every start of the process. */
  readonly session: string
  /** Another ledger in the database is refused. Left out: the one found first is the one for good. */
  readonly ledgerId?: string
  readonly log: Log
  /** In production standbys that no commit waits for are refused, too. */
  readonly production?: boolean
  /** Called once, if the database turns out to be another than the one seen first: the store is of no use any more. */
  readonly onStopped?: (reason: string) => void
  /** Without an answer after this a commit's outcome is unknown. */
  readonly commitTimeoutMs?: number
  /** Of every other call. */
  readonly callTimeoutMs?: number
  /** How long an ownership change waits for a commit that holds the shard. */
  readonly lockTimeoutMs?: number
}

export interface PostgresLedgerStore extends LedgerStore {
  /** Ends the connections after the commit in flight. The session's lock is free then. */
  readonly close: () => Promise<void>
}

const DEFAULT_TIMEOUT_MS = 5_000
const DEFAULT_LOCK_TIMEOUT_MS = 500
const READ_LANES = 2
/** Acquires that meet a locked row take their connection with them for `lockTimeoutMs`. */
const CONTROL_LANES = 4

/** Rejects with `LedgerStoreUnavailable`: nobody answers, the database is not the one, or the session is in use. */
export async function createPostgresLedgerStore(options: PostgresLedgerStoreOptions): Promise<PostgresLedgerStore> {
  if (!/^[0-9a-f]{32}$/.test(options.session)) throw new RangeError('a session is 32 hexadecimal digits')
  const guard = createIdentityGuard(options.ledgerId, options.onStopped)
  const evidence = createEvidence()
  const callTimeoutMs = options.callTimeoutMs ?? DEFAULT_TIMEOUT_MS
  const lockTimeout = `${options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS}ms`
  const bounded = { statement_timeout: `${callTimeoutMs}ms` }
  const reads = createLanes({
    count: READ_LANES,
    timeoutMs: callTimeoutMs,
    open: () => openChecked(options, { guard, evidence }, { ...bounded, ...PLAN_SETTINGS }),
  })
  const control = createLanes({
    count: CONTROL_LANES,
    timeoutMs: callTimeoutMs,
    open: () => openChecked(options, { guard, evidence }, { ...bounded, ...PLAN_SETTINGS, lock_timeout: lockTimeout }),
  })
  try {
    await control.run((sql) => probeSession(sql, options))
    const commits = await openCommitLane({
      open: (onNotice) => openChecked(options, { guard, evidence }, PLAN_SETTINGS, onNotice),
      lockKey: sessionLockKey(options.session),
      stopped: guard.stopped,
      commitTimeoutMs: options.commitTimeoutMs ?? DEFAULT_TIMEOUT_MS,
      readyTimeoutMs: callTimeoutMs,
      log: options.log,
    })
    return storeOn({ owner: options, guard, evidence, reads, control, commits })
  } catch (cause) {
    await Promise.all([reads.close(), control.close()])
    throw unavailable(cause)
  }
}

async function openChecked(
  options: PostgresLedgerStoreOptions,
  { guard, evidence }: Pick<Parts, 'guard' | 'evidence'>,
  settings: Readonly<Record<string, string>>,
  onNotice?: () => void,
): Promise<Connection> {
  const before = guard.stopped()
  if (before !== undefined) throw new LedgerStoreUnavailable(before)
  const connection = await connect({
    url: options.url,
    applicationName: applicationName(options.nodeId, options.session),
    settings,
    ...(onNotice === undefined ? {} : { onNotice }),
  })
  try {
    guard.check(await withDeadline(readIdentity(connection.sql), DEFAULT_TIMEOUT_MS, connection.destroy))
    const lacking = await withDeadline(evidence.lackingShard(connection.sql), DEFAULT_TIMEOUT_MS, connection.destroy)
    if (lacking !== undefined) guard.stop(`PostgreSQL went back: shard ${lacking} lacks what was committed`)
    const durable = demandDurability(connection.sql, options.production ?? false)
    await withDeadline(durable, DEFAULT_TIMEOUT_MS, connection.destroy)
    return connection
  } catch (cause) {
    connection.destroy()
    // Only words of ours are of this class here.
    if (cause instanceof LedgerStoreUnavailable) options.log.error('postgres_refused', { reason: cause.message })
    throw cause
  }
}

interface Parts {
  readonly owner: Owner
  readonly guard: IdentityGuard
  readonly evidence: Evidence
  readonly reads: Lanes
  readonly control: Lanes
  readonly commits: CommitLane
}

function storeOn({ owner, guard, evidence, reads, control, commits }: Parts): PostgresLedgerStore {
  const { session } = owner

  /** R2, asked before and after: another connection may have learned of it while this one was answered. */
  async function guarded<T>(call: () => Promise<T>): Promise<T> {
    refuseIfStopped(guard)
    const answer = await call()
    refuseIfStopped(guard)
    return answer
  }
  const read = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => guarded(() => reads.run(work))
  const change = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => guarded(() => control.run(work))

  return {
    shards: () => read(listShards),
    drains: () => read(readDrains),
    acquire: (shardId, seen, next) => change((sql) => acquireShard(sql, owner, shardId, seen, next)),
    release: (token) => change((sql) => releaseShard(sql, session, token)),
    raiseAttempt: async (token) => {
      await commits.ready().catch((cause: unknown) => {
        throw unavailable(cause)
      })
      return change((sql) => raiseAttempt(sql, session, token))
    },
    commit: async (batch) => {
      if (guard.stopped() !== undefined) return stoppedVerdict(guard)
      const verdict = await sendBatch(commits, batch, session)
      if (verdict.kind === 'answered') evidence.note(batch, verdict.committed)
      return guard.stopped() === undefined ? verdict : stoppedVerdict(guard)
    },
    lookUp: (question) => read((sql) => lookUp(sql, question)),
    openShard: (shardId) => read((sql) => openShard(sql, shardId)),
    due: (shardIds, untilMs, limit) => read((sql) => dueActors(sql, shardIds, untilMs, limit)),
    acknowledge: (channels) => change((sql) => acknowledge(sql, channels)),
    prune: (shardIds, writtenBeforeMs, limit) => change((sql) => prune(sql, shardIds, writtenBeforeMs, limit)),
    sessionHeld: (other) => read((sql) => isSessionHeld(sql, other)),
    terminate: async (other) => {
      if (other !== session) await change((sql) => terminateSession(sql, other))
    },
    probe: async () => {
      // What commits go down must be open, or the proof would be another connection's.
      await commits.ready().catch((cause: unknown) => {
        throw unavailable(cause)
      })
      return change((sql) => probeSession(sql, owner))
    },
    close: async () => {
      await commits.close()
      await Promise.all([reads.close(), control.close()])
    },
  }
}

function refuseIfStopped(guard: IdentityGuard): void {
  const stopped = guard.stopped()
  if (stopped !== undefined) throw new LedgerStoreUnavailable(stopped)
}

function stoppedVerdict(guard: IdentityGuard): CommitVerdict {
  return { kind: 'unknown', detail: guard.stopped() ?? 'stopped' }
}

async function sendBatch(commits: CommitLane, batch: CommitBatch, session: string): Promise<CommitVerdict> {
  let statement: CommitStatement
  try {
    statement = commitStatement(batch, session)
  } catch (error) {
    return { kind: 'failed', cause: 'data', detail: `no statement can be made of it: ${codeOf(error)}` }
  }
  const asked = new Set(batch.shards.map((part) => part.token.shardId))
  return commits.send(statement, (rows) => committedOf(rows, asked))
}

/** Throws on anything but shards that were asked for: then it is not known what the answer means. */
function committedOf(rows: readonly unknown[], asked: ReadonlySet<number>): CommitVerdict {
  const committed = new Set<number>()
  for (const row of rows) {
    const shardId = typeof row === 'object' && row !== null && 'shard_id' in row ? row.shard_id : undefined
    if (typeof shardId !== 'number' || !asked.has(shardId)) throw new Error('the answer names no shard of the batch')
    committed.add(shardId)
  }
  return { kind: 'answered', committed }
}
