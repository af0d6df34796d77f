/**
 * The ledger of record in PostgreSQL. One object is one session: it commits down one connection, which holds the
 * session's lock, and does everything else on others. Every connection is checked for whose database it is.
 *   R1. A commit is one autocommit statement behind a fence that locks (I1).
 *   R2. Once the database is another than the one seen first, nothing is served from here again, and `onStopped` says so:
 *       the process must end, or it would be a zombie that owns nothing and looks alive.
 *   R3. No connection is used on which an answered commit could be lost (durability.ts).
 *   R4. A server that lacks a confirmed commit is another database, even under the same identity (evidence.ts,
 *       store-position.ts). The store withdraws its acceptance, so that no other part runs on it.
 * Contract: test/contract/ledger-store/ledger-store.contract.ts
 */
import { BrokenInvariant } from '../../../actors/result.ts'
import {
  type CommitBatch,
  type CommitVerdict,
  type LedgerStore,
  LedgerStoreUnavailable,
} from '../../../runtime/ports/ledger-store.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type { MadeKey } from '../../vault/data-keys.ts'
import type { KeyName } from '../../vault/key-name.ts'
import { DataKeyMissing, type RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { keyNamesOfKnown, keyNamesOfNew } from '../commit/commit-keys.ts'
import { type CommitLane, openCommitLane } from '../commit/commit-lane.ts'
import { type CommitStatement, commitStatement } from '../commit/commit-statement.ts'
import { WENT_BACK, withdrawAcceptance } from '../connection/accepted-servers.ts'
import {
  applicationName,
  connect,
  type Connection,
  type ServerNotice,
  type Sql,
  withDeadline,
} from '../connection/connection.ts'
import { demandDurability } from './durability.ts'
import { foldCrossings } from './crossing-fold.ts'
import { createEvidence, type Evidence } from './evidence.ts'
import { codeOf, unavailable } from '../connection/failure.ts'
import { createIdentityGuard, type DatabaseIdentity, type IdentityGuard, readIdentity } from './identity.ts'
import { createLanes, type Lanes } from './lane.ts'
import { lookUp } from './look-up.ts'
import { acknowledge, prune } from './outbox.ts'
import { readDrains } from './drains.ts'
import { acquireShard, listShards, type Owner, raiseAttempt, releaseShard } from './ownership.ts'
import { PLAN_SETTINGS } from '../connection/plan-settings.ts'
import { foldCounts } from '../rows/shard-counts.ts'
import { dueActors, openShard } from './shard-start.ts'
import { lacksPosition, type PositionMemory, type RememberedPosition } from './store-position.ts'
import { hasRoomOnDisk, isSessionHeld, probeSession, sessionLockKey, terminateSession } from './sessions.ts'

export interface PostgresLedgerStoreOptions {
  readonly url: string
  readonly nodeId: string
  /** 32 hexadecimal digits, new with every start of the process. */
  readonly session: string
  /** Another ledger in the database is refused. Left out: the one found first is the one for good. */
  readonly ledgerId?: string
  readonly log: Log
  /** How rows are written and read. */
  readonly vault: RowVault
  /** In production standbys that no commit waits for are refused, too. */
  readonly production?: boolean
  /** Called once, if the database turns out to be another than the one seen first: the store is of no use any more. */
  readonly onStopped?: (reason: string) => void
  /** The database's latest known position; without it only this process's own memory detects an older copy. */
  readonly positions?: PositionMemory
  /** Without an answer after this a commit's outcome is unknown. */
  readonly commitTimeoutMs?: number
  /** Of every other call. */
  readonly callTimeoutMs?: number
  /** How long an ownership change waits for a commit that holds the shard. */
  readonly lockTimeoutMs?: number
}

export interface PostgresLedgerStore extends LedgerStore {
  /** The database is older than a state seen before: no other part may run on it. */
  readonly refuseServer: () => Promise<void>
  /** Ends the connections after the commit in flight. The session's lock is free then. */
  readonly close: () => Promise<void>
}

const DEFAULT_TIMEOUT_MS = 5_000
const DEFAULT_LOCK_TIMEOUT_MS = 500
/** One for the shards that are looked up together, one for those that stand apart: no other read waits behind them. */
const LOOK_UP_LANES = 2
const READ_LANES = 2
/** Acquires that meet a locked row take their connection with them for `lockTimeoutMs`. */
const CONTROL_LANES = 4

/** Rejects with `LedgerStoreUnavailable`: no server answers, it is another database, or the session is in use. */
export async function createPostgresLedgerStore(options: PostgresLedgerStoreOptions): Promise<PostgresLedgerStore> {
  if (!/^[0-9a-f]{32}$/.test(options.session)) throw new RangeError('a session is 32 hexadecimal digits')
  const guard = createIdentityGuard(options.ledgerId, options.onStopped)
  const evidence = createEvidence(options.vault)
  const callTimeoutMs = options.callTimeoutMs ?? DEFAULT_TIMEOUT_MS
  const lockTimeout = `${options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS}ms`
  const bounded = { statement_timeout: `${callTimeoutMs}ms` }
  const readingLanes = (count: number): Lanes =>
    createLanes({
      count,
      timeoutMs: callTimeoutMs,
      open: () => openChecked(options, { guard, evidence }, { ...bounded, ...PLAN_SETTINGS }),
    })
  const lookUps = readingLanes(LOOK_UP_LANES)
  const reads = readingLanes(READ_LANES)
  const control = createLanes({
    count: CONTROL_LANES,
    timeoutMs: callTimeoutMs,
    open: () => openChecked(options, { guard, evidence }, { ...bounded, ...PLAN_SETTINGS, lock_timeout: lockTimeout }),
  })
  try {
    await control.run((sql) => probeSession(sql, options, true))
    const commits = await openCommitLane({
      open: (onNotice) => openChecked(options, { guard, evidence }, PLAN_SETTINGS, onNotice),
      lockKey: sessionLockKey(options.session),
      stopped: guard.stopped,
      commitTimeoutMs: options.commitTimeoutMs ?? DEFAULT_TIMEOUT_MS,
      readyTimeoutMs: callTimeoutMs,
      log: options.log,
    })
    return storeOn({ owner: options, vault: options.vault, guard, evidence, lookUps, reads, control, commits })
  } catch (cause) {
    await Promise.all([lookUps.close(), reads.close(), control.close()])
    throw unavailable(cause)
  }
}

async function openChecked(
  options: PostgresLedgerStoreOptions,
  { guard, evidence }: Pick<Parts, 'guard' | 'evidence'>,
  settings: Readonly<Record<string, string>>,
  onNotice?: (notice: ServerNotice) => void,
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
    const identity = await withDeadline(readIdentity(connection.sql), DEFAULT_TIMEOUT_MS, connection.destroy)
    guard.check(identity)
    const loss = findLoss(connection.sql, identity, evidence, options.positions?.latest())
    const reason = await withDeadline(loss, DEFAULT_TIMEOUT_MS, connection.destroy)
    if (reason !== undefined) {
      const withdrawn = withdrawAcceptance(connection.sql).catch(() => undefined)
      await withDeadline(withdrawn, DEFAULT_TIMEOUT_MS, connection.destroy)
      guard.stop(reason)
    }
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

/** Evidence that the database is older than a state seen before (R4); undefined: no known commit is missing. */
async function findLoss(
  sql: Sql,
  identity: DatabaseIdentity,
  evidence: Evidence,
  remembered: RememberedPosition | undefined,
): Promise<string | undefined> {
  if (remembered !== undefined && (await lacksPosition(sql, identity, remembered))) return WENT_BACK
  const lacking = await evidence.lackingShard(sql)
  return lacking === undefined ? undefined : `PostgreSQL went back: shard ${lacking} lacks what was committed`
}

interface Parts {
  readonly owner: Owner & Pick<PostgresLedgerStoreOptions, 'log' | 'positions'>
  readonly vault: RowVault
  readonly guard: IdentityGuard
  readonly evidence: Evidence
  readonly lookUps: Lanes
  readonly reads: Lanes
  readonly control: Lanes
  readonly commits: CommitLane
}

function storeOn({ owner, vault, guard, evidence, lookUps, reads, control, commits }: Parts): PostgresLedgerStore {
  const { session } = owner
  let folding: Promise<void> | undefined
  const batches = { commits, vault, session, sent: { count: 0 } }

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
      const verdict = await sendBatch({ ...batches, read }, batch)
      if (verdict.kind === 'answered') evidence.note(batch, verdict.committed)
      return guard.stopped() === undefined ? verdict : stoppedVerdict(guard)
    },
    lookUp: (question) =>
      guarded(() =>
        lookUps.run(async (sql) => {
          const answer = await lookUp(sql, question, vault)
          // An account may have been erased between the look at its row and that at its key. A damaged row is unreadable
          // the second time, too.
          return answer.unreadable.size === 0 ? answer : lookUp(sql, question, vault)
        }),
      ),
    openShard: (shardId) => read((sql) => openShard(sql, shardId, vault)).catch(throwUnreadable),
    due: (shardIds, untilMs, limit) => read((sql) => dueActors(sql, shardIds, untilMs, limit)),
    acknowledge: (channels) => change((sql) => acknowledge(sql, channels)),
    prune: (shardIds, writtenBeforeMs, limit) => change((sql) => prune(sql, shardIds, writtenBeforeMs, limit)),
    sessionHeld: (other) => read((sql) => isSessionHeld(sql, other)),
    terminate: async (other) => {
      if (other !== session) await change((sql) => terminateSession(sql, other))
    },
    probe: async (isGood = true) => {
      // The connection of commits must be open: another connection would prove nothing.
      await commits.ready().catch((cause: unknown) => {
        throw unavailable(cause)
      })
      const hasRoom = await change(hasRoomOnDisk)
      const { nowMs, probes } = await change((sql) => probeSession(sql, owner, isGood && hasRoom))
      if (!hasRoom) throw new LedgerStoreUnavailable('PostgreSQL has no room on its disk')
      const acceptance = guard.first()?.acceptance
      if (typeof acceptance === 'string') owner.positions?.remember({ acceptance, session, probes })
      // In the quiet after a proof that writing works; what is not folded now is folded later.
      folding ??= foldRows(owner, vault, change).finally(() => {
        folding = undefined
      })
      return { nowMs }
    },
    refuseServer: () => change(withdrawAcceptance),
    close: async () => {
      await commits.close()
      await Promise.all([lookUps.close(), reads.close(), control.close()])
    },
  }
}

async function foldRows(
  { session, log }: Parts['owner'],
  vault: RowVault,
  change: (work: (sql: Sql) => Promise<void>) => Promise<void>,
): Promise<void> {
  await change((sql) => foldCrossings(sql, session, vault)).catch((error: unknown) =>
    log.warn('crossings_not_folded', { cause: codeOf(error) }),
  )
  await change(foldCounts).catch((error: unknown) => log.warn('counts_not_folded', { cause: codeOf(error) }))
}

function refuseIfStopped(guard: IdentityGuard): void {
  const stopped = guard.stopped()
  if (stopped !== undefined) throw new LedgerStoreUnavailable(stopped)
}

function stoppedVerdict(guard: IdentityGuard): CommitVerdict {
  return { kind: 'unknown', detail: guard.stopped() ?? 'stopped' }
}

interface Batches {
  readonly commits: CommitLane
  readonly vault: RowVault
  readonly session: string
  /** Number of statements that the store has made. */
  readonly sent: { count: number }
  readonly read: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
}

async function sendBatch({ commits, vault, session, sent, read }: Batches, batch: CommitBatch): Promise<CommitVerdict> {
  let statement: CommitStatement
  const made = new Map<KeyName, MadeKey>()
  try {
    await fetchKnown(batch, vault, read)
    for (const name of batch.shards.flatMap((part) => keyNamesOfNew(part, vault))) made.set(name, vault.keys.make(name))
    sent.count += 1
    statement = commitStatement(batch, { session, number: sent.count, vault, made })
  } catch (error) {
    return notMade(error)
  }
  const asked = new Set(batch.shards.map((part) => part.token.shardId))
  const verdict = await commits.send(statement, (rows) => committedOf(rows, asked))
  if (verdict.kind === 'answered') adoptKeys(batch, verdict.committed, made, vault)
  return verdict
}

function notMade(error: unknown): CommitVerdict {
  if (error instanceof LedgerStoreUnavailable && !isDataError(error.cause)) {
    return { kind: 'failed', cause: 'unsent', detail: error.message }
  }
  const cause = error instanceof DataKeyMissing || error instanceof BrokenInvariant ? 'invariant' : 'data'
  return { kind: 'failed', cause, detail: `no statement can be made of it: ${codeOf(error)}` }
}

/** SQLSTATE class 22: a name that PostgreSQL cannot take. */
function isDataError(error: unknown): boolean {
  return error instanceof Error && codeOf(error).startsWith('22')
}

/** Nearly always all are in memory: what a batch writes was loaded lately. */
async function fetchKnown(batch: CommitBatch, vault: RowVault, read: Batches['read']): Promise<void> {
  const missing = vault.keys.missing(keyNamesOfKnown(batch, vault))
  if (missing.length > 0) await read((sql) => vault.keys.fetch(sql, missing))
}

/** K1, K3: of shards whose part was committed. */
function adoptKeys(
  { shards }: CommitBatch,
  committed: ReadonlySet<number>,
  made: ReadonlyMap<KeyName, MadeKey>,
  vault: RowVault,
): void {
  for (const { token, erased } of shards) {
    if (!committed.has(token.shardId)) continue
    for (const accountId of erased) vault.keys.forget(vault.accountKeyName(accountId))
  }
  if (made.size === 0) return
  for (const part of shards) {
    if (!committed.has(part.token.shardId)) continue
    for (const name of keyNamesOfNew(part, vault)) {
      const key = made.get(name)
      if (key !== undefined) vault.keys.adopt(key)
    }
  }
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

/** PostgreSQL answered, with a row that this program cannot read: asking again does not help. */
function throwUnreadable(failure: unknown): never {
  throw failure instanceof LedgerStoreUnavailable && failure.cause instanceof UnreadableRow ? failure.cause : failure
}
