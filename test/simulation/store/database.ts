/**
 * The simulated database server, shared by the stores of all sessions. It runs outside every process:
 * statements that have arrived take effect even if their client has died.
 *   B1. A statement is atomic; between its start and its commit it holds its row locks and is invisible.
 *   B2. A commit skips shards whose row is locked or whose token differs (SKIP LOCKED); an acquire waits up to 500 ms.
 *   B3. A session's lock is free only when no commit of it can still take effect.
 */
import type {
  AcknowledgedChannel,
  AcquireResult,
  CommitBatch,
  CommitVerdict,
  DueActor,
  LookUpAnswer,
  LookUpQuestion,
  ShardBatch,
  ShardRecord,
  ShardStart,
  ShardToken,
} from '../../../runtime/ports/ledger-store.ts'
import type { MemoryWebhookState } from '../../support/memory/webhook-store-memory.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { AppliedCommit, ShardChange } from './applied.ts'
import { NO_STORE_FAULTS, type StoreFaults, type StoreRule } from './faults.ts'
import { createGate, createRowLocks, type Gate, type RowLocks } from './locks.ts'
import { lookUpStatements } from './look-up.ts'
import { openShardStatements, type Statements, type StatementWorld } from './statements.ts'
import { poisonIn, Rows, type ShardRow } from './rows.ts'
import { EPOCH_LEAP, refusalOf, type SimServer, SimServers, type Stored } from './servers.ts'
import { hasRows, onlyMakesNew, shuffled } from './table.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'

/** `lock_timeout` of statements that wait for a shard's row. */
export const LOCK_TIMEOUT_MS = 500

export interface SimDatabaseOptions {
  readonly kernel: Kernel
  readonly shardCount: number
  readonly broken?: StoreRule | undefined
}

/** A session's connection. Statements on a connection that the server has ended are never executed. */
export interface Connection {
  readonly session: string
  readonly nodeId: string
  /** The timeline of the server at connection. */
  readonly timeline: number
  /** False once the client has abandoned it. */
  open: boolean
  /** True once the server has ended it: its statements no longer take effect. */
  ended: boolean
  /** Commits that may still take effect. */
  pending: number
  readonly onEnded: Set<() => void>
}

interface OldSnapshot {
  readonly rows: Rows
  readonly untilMs: number
}

/** For the mutation: how long after an acquire a load counts as part of its statement. */
const SAME_STATEMENT_MS = 250

/** The share of the commits in flight that take effect when a server is lost. */
const IN_DOUBT_APPLIED = 0.5

export class SimDatabase {
  private readonly servers: SimServers
  readonly faults: StoreFaults = { ...NO_STORE_FAULTS }
  /** By node, the largest extra delay of its statements and their answers, milliseconds. */
  readonly far = new Map<string, number>()
  /** Nodes without any connection to the server. */
  readonly cutOff = new Set<string>()
  /** Whether the disk is full: commits cannot write rows. */
  isFull = false
  /** Nodes and shards that administrators drain. */
  readonly drains = { nodes: new Set<string>(), shards: new Map<number, string>() }
  readonly locks: RowLocks
  readonly random: SeededRandom
  readonly kernel: Kernel
  readonly shardCount: number
  /** Writes that the tables refused although their values are storable: each is a broken invariant of an owner. */
  readonly brokenWrites: string[] = []
  private readonly connections = new Map<string, Set<Connection>>()
  private readonly broken: StoreRule | undefined
  private readonly appliedListeners: ((applied: AppliedCommit) => void)[] = []
  private readonly startListeners: ((nodeId: string, shardIds: readonly number[]) => void)[] = []
  private readonly shardListeners: ((change: ShardChange) => void)[] = []
  private readonly readListeners: ((nodeId: string) => void)[] = []
  private readonly held = new Map<string, Gate>()
  private readonly oldSnapshots = new Map<string, OldSnapshot>()

  constructor(options: SimDatabaseOptions) {
    this.kernel = options.kernel
    this.shardCount = options.shardCount
    this.broken = options.broken
    this.random = options.kernel.random.fork('database')
    this.locks = createRowLocks(options.kernel)
    const shardRows = new Map<number, ShardRow>()
    for (let shardId = 0; shardId < options.shardCount; shardId += 1) {
      shardRows.set(shardId, { epoch: 0, attempt: 0, nodeId: null, session: null })
    }
    this.servers = new SimServers(new Rows(this.broken), shardRows)
  }

  get rows(): Rows {
    return this.servers.stored.rows
  }

  get server(): SimServer {
    return this.servers.server
  }

  /** Identifies this server in positions of the event log; null if it is not accepted. */
  get acceptance(): string | null {
    const { accepted, timeline } = this.server
    return accepted ? `00000000-0000-4000-8000-${String(timeline).padStart(12, '0')}` : null
  }

  get webhooks(): MemoryWebhookState {
    return this.servers.stored.webhooks
  }

  /** Why a session that has first seen that server refuses this one; undefined if it may continue. */
  refusalOf(first: SimServer | undefined): string | undefined {
    const { server } = this
    return refusalOf(first, { ...server, accepted: server.accepted || this.broken === 'refusesUnaccepted' })
  }

  /** The state of a standby that receives no more changes from now on. */
  standby(): Stored {
    return this.servers.copy()
  }

  /**
   * The server is lost and a standby takes its place: the given one, or one with all answered commits. Commits in
   * flight may have reached it.
   */
  promote(standby?: Stored): void {
    this.restart(IN_DOUBT_APPLIED)
    this.servers.promote(standby)
  }

  /**
   * The ledger may run again: the lost server is back if its replacement lacks commits; otherwise the replacement is
   * accepted.
   */
  recover(): void {
    if (this.server.accepted) return
    if (this.servers.comeBack()) this.restart()
    else this.accept()
  }

  /** A2: a session found commits missing. */
  withdraw(): void {
    this.servers.withdraw()
  }

  /** A1: an administrator accepts this server. */
  accept(): void {
    this.servers.accept()
    for (const { shardId, epoch } of this.shards()) {
      this.setShard(shardId, { epoch: epoch + EPOCH_LEAP, attempt: 0, nodeId: null, session: null })
    }
  }

  /**
   * Closes every connection. Uncommitted statements are lost, except for a share that takes effect without an answer.
   */
  restart(inDoubtApplied = this.faults.commitAppliedWhenEnded): void {
    const usual = this.faults.commitAppliedWhenEnded
    this.faults.commitAppliedWhenEnded = inDoubtApplied
    for (const connections of this.connections.values()) connections.forEach((connection) => this.end(connection))
    this.faults.commitAppliedWhenEnded = usual
  }

  /** Restarts with tables that contain only these commits. The shards' owners stay. */
  goBack(commits: readonly AppliedCommit[]): void {
    this.restart()
    const rows = new Rows(this.broken)
    for (const { shards } of commits) {
      const batches = shards.map(({ batch }) => batch)
      rows.apply(batches)
      const commit = rows.events.begin()
      rows.events.write(commit, batches)
      rows.events.end(commit)
    }
    this.servers.stored = { ...this.servers.stored, rows }
  }

  onApplied(listener: (applied: AppliedCommit) => void): void {
    this.appliedListeners.push(listener)
  }

  /** Calls back when a commit has taken its locks and has not yet taken effect: the moment for a takeover. */
  onCommitStart(listener: (nodeId: string, shardIds: readonly number[]) => void): void {
    this.startListeners.push(listener)
  }

  onShardChange(listener: (change: ShardChange) => void): void {
    this.shardListeners.push(listener)
  }

  /** Calls back when a node's statement reads stored data. */
  onRead(listener: (nodeId: string) => void): void {
    this.readListeners.push(listener)
  }

  reads({ nodeId }: Connection): void {
    for (const listener of this.readListeners) listener(nodeId)
  }

  connect(session: string, nodeId: string): Connection {
    const isCut = this.cutOff.has(nodeId)
    const { timeline } = this.server
    const onEnded = new Set<() => void>()
    const connection = { session, nodeId, timeline, open: !isCut, ended: isCut, pending: 0, onEnded }
    if (isCut) return connection
    const all = this.connections.get(session) ?? new Set()
    this.connections.set(session, all.add(connection))
    return connection
  }

  /** Whether a statement on this connection arrives: statements to one server do not reach another. */
  reaches({ ended, timeline }: Connection): boolean {
    return !ended && timeline === this.server.timeline
  }

  /** The client abandons this connection; its statements may still take effect. */
  disconnect(connection: Connection): void {
    connection.open = false
    this.forgetIfIdle(connection)
  }

  /** The client abandons all its connections. */
  leave(session: string): void {
    for (const connection of this.connections.get(session) ?? []) this.disconnect(connection)
  }

  /** One commit of this connection can no longer take effect. */
  finish(connection: Connection): void {
    connection.pending -= 1
    this.forgetIfIdle(connection)
  }

  /** Ends a connection: its uncommitted statements never take effect. */
  end(connection: Connection): void {
    if (connection.ended) return
    connection.ended = true
    connection.open = false
    for (const hook of connection.onEnded) hook()
    connection.onEnded.clear()
    this.forgetIfIdle(connection)
  }

  /** Ends a session's connections: all, or those that its client has abandoned, as far as they are found. */
  endSession(session: string, which: 'left' | 'all'): void {
    for (const connection of this.connections.get(session) ?? []) {
      if (which === 'all' || (!connection.open && !this.random.chance(this.faults.leftConnectionEscapes)))
        this.end(connection)
    }
  }

  /** Frees the locks of a host's sessions, as a server does after too long a silence. */
  endNode(nodeId: string): void {
    for (const connections of this.connections.values()) {
      for (const connection of connections) if (connection.nodeId === nodeId) this.end(connection)
    }
  }

  sessionHeld(session: string): boolean {
    return (this.connections.get(session)?.size ?? 0) > 0
  }

  shardRow(shardId: number): ShardRow {
    const row = this.servers.stored.shardRows.get(shardId)
    if (row === undefined) throw new Error(`no shard ${shardId}`)
    return row
  }

  shards(): readonly ShardRecord[] {
    return [...this.servers.stored.shardRows].map(([shardId, row]) => ({ shardId, ...row }))
  }

  /** Executes an acquire that has arrived, and answers with its result after the commit. */
  acquire(
    connection: Connection,
    wish: { readonly shardId: number; readonly seenEpoch: number; readonly nextEpoch: number },
    executionMs: number,
    answer: (result: AcquireResult) => void,
  ): void {
    const { shardId, seenEpoch, nextEpoch } = wish
    const { session, nodeId } = connection
    if (this.broken === 'acquireLoadsOldSnapshot') {
      const untilMs = this.kernel.now() + LOCK_TIMEOUT_MS + SAME_STATEMENT_MS
      this.oldSnapshots.set(`${session} ${shardId}`, { rows: this.rows.snapshotOf(shardId), untilMs })
    }
    this.update(connection, shardId, executionMs, (row) => {
      if (row === 'locked') {
        this.kernel.count('store:acquire-locked')
        answer({ kind: 'locked' })
      } else if (row.epoch !== seenEpoch && this.broken !== 'acquireCompares') {
        answer({ kind: 'lost' })
      } else {
        this.setShard(shardId, { epoch: nextEpoch, attempt: 0, nodeId, session })
        answer({ kind: 'owned', token: { shardId, epoch: nextEpoch, attempt: 0 } })
      }
    })
  }

  /** Changes a shard's row if the token belongs to the caller's session; undefined if the row stayed locked. */
  change(
    connection: Connection,
    token: ShardToken,
    executionMs: number,
    next: (row: ShardRow) => ShardRow,
    answer: (changed: boolean | undefined) => void,
  ): void {
    this.update(connection, token.shardId, executionMs, (row) => {
      if (row === 'locked') return answer(undefined)
      const mine = owns(row, token, connection.session)
      if (mine) this.setShard(token.shardId, next(row))
      return answer(mine)
    })
  }

  /** Executes a commit that has arrived: takes its locks, takes effect `executionMs` later, then answers. */
  commit(
    connection: Connection,
    batch: CommitBatch,
    executionMs: number,
    answer: (verdict: CommitVerdict) => void,
    copy: 'first' | 'second' = 'first',
  ): void {
    if (connection.ended) return
    const statement = {}
    const fenced = batch.shards.filter((shard) => this.passesFence(connection, shard.token, statement))
    const shardIds = fenced.map(({ token }) => token.shardId)
    for (const listener of this.startListeners) listener(connection.nodeId, shardIds)
    const { events } = this.rows
    const number = events.begin()
    const done = (): void => {
      events.end(number)
      this.locks.release(statement)
      connection.onEnded.delete(ended)
    }
    const ended = (): void => {
      if (this.broken !== 'fenceLocks' && this.random.chance(this.faults.commitAppliedWhenEnded)) {
        this.kernel.count('store:commit-applied-when-ended')
        this.apply(connection, batch, { fenced, number }, copy)
      }
      done()
    }
    connection.onEnded.add(ended)
    const finish = (): void => {
      if (connection.ended) return
      const verdict = this.apply(connection, batch, { fenced, number }, copy)
      done()
      answer(verdict)
    }
    const held = batch.shards.some(({ transactions }) => transactions.length > 0) && this.held.get(connection.session)
    if (held) held.enter(finish)
    else this.kernel.schedule(executionMs, `database commits ${connection.session}`, finish)
  }

  /**
   * This session's commits with transactions take their locks and then wait until `letGo`. `reached` resolves once one
   * waits.
   */
  hold(session: string): { readonly reached: Promise<void>; readonly letGo: () => void } {
    const gate = createGate()
    this.held.set(session, gate)
    const letGo = (): void => {
      this.held.delete(session)
      gate.open()
    }
    return { reached: gate.reached, letGo }
  }

  /** The statements of a look-up, as the caller's session sees the tables. */
  lookUp(session: string, question: LookUpQuestion): Statements<LookUpAnswer> {
    return lookUpStatements(this.worldOf(session), question)
  }

  /** The statements with which an owner reads a shard. */
  openShard(session: string, shardId: number): Statements<ShardStart> {
    return openShardStatements(this.worldOf(session), shardId)
  }

  /** The longest due first; those due since the same time in any order. */
  due(session: string, shardIds: readonly number[], untilMs: number, limit: number): readonly DueActor[] {
    const found = shardIds.flatMap((shardId) => this.rowsSeenBy(session, shardId).actors.due(shardId, untilMs))
    return shuffled(found, this.random)
      .toSorted((left, right) => left.dueAtMs - right.dueAtMs)
      .slice(0, limit)
  }

  acknowledge(channels: readonly AcknowledgedChannel[]): void {
    this.rows.channels.acknowledge(channels)
  }

  prune(shardIds: readonly number[], writtenBeforeMs: number, limit: number): number {
    return this.rows.channels.prune(shardIds, writtenBeforeMs, limit)
  }

  private worldOf(session: string): StatementWorld {
    return {
      rowsOf: (shardId) => this.rowsSeenBy(session, shardId),
      allRows: () => this.rows,
      shuffled: (items) => shuffled(items, this.random),
    }
  }

  private rowsSeenBy(session: string, shardId: number): Rows {
    const old = this.oldSnapshots.get(`${session} ${shardId}`)
    return old !== undefined && this.kernel.now() < old.untilMs ? old.rows : this.rows
  }

  private passesFence(connection: Connection, token: ShardToken, statement: object): boolean {
    const mine = owns(this.shardRow(token.shardId), token, connection.session)
    if (!mine && this.broken !== 'fenceChecks') {
      this.kernel.count('store:commit-fenced')
      return false
    }
    if (this.broken === 'fenceLocks') return true
    const locked = this.locks.tryLock(token.shardId, statement)
    if (!locked) this.kernel.count('store:commit-busy')
    return locked
  }

  private apply(
    connection: Connection,
    batch: CommitBatch,
    { fenced, number }: { readonly fenced: readonly ShardBatch[]; readonly number: number },
    copy: 'first' | 'second',
  ): CommitVerdict {
    if (copy === 'second') return this.applyAgain(connection, fenced)
    const poison = poisonIn(batch.shards)
    const refused = poison ?? this.rows.check(fenced)
    if (refused !== undefined) {
      if (poison === undefined) this.brokenWrites.push(`${connection.nodeId} ${connection.session}: ${refused.detail}`)
      else this.kernel.count('fault:store:poison')
      return { kind: 'failed', ...refused }
    }
    this.rows.apply(fenced)
    this.rows.events.write(number, fenced)
    for (const shard of fenced) this.oldSnapshots.delete(`${connection.session} ${shard.token.shardId}`)
    const shards = fenced.map((shard) => ({ batch: shard, row: this.shardRow(shard.token.shardId) }))
    const applied = { atMs: this.kernel.now(), session: connection.session, nodeId: connection.nodeId, shards }
    for (const listener of this.appliedListeners) listener(applied)
    return { kind: 'answered', committed: new Set(fenced.map((shard) => shard.token.shardId)) }
  }

  /**
   * Applies nothing: the tables must refuse the second copy, or it has no rows; otherwise an invariant is broken.
   * Exception: the rows that it created have been removed since. Its owner removes them only after an answer, or after
   * raising the attempt.
   */
  private applyAgain({ nodeId, session }: Connection, fenced: readonly ShardBatch[]): CommitVerdict {
    const refused = this.rows.check(fenced)
    if (refused !== undefined) this.kernel.count('store:commit-copy-refused')
    else if (fenced.length === 0) this.kernel.count('store:commit-copy-fenced')
    else if (!fenced.some(hasRows)) this.kernel.count('store:commit-copy-empty')
    else if (fenced.filter(hasRows).every(onlyMakesNew)) this.kernel.count('store:commit-copy-removed')
    else this.brokenWrites.push(`${nodeId} ${session}: a commit took effect twice`)
    return { kind: 'failed', cause: 'invariant', detail: 'it took effect before' }
  }

  private update(
    connection: Connection,
    shardId: number,
    executionMs: number,
    run: (row: ShardRow | 'locked') => void,
  ): void {
    if (connection.ended) return
    const statement = {}
    const done = (): void => {
      this.locks.release(statement)
      connection.onEnded.delete(done)
    }
    connection.onEnded.add(done)
    this.locks.lock(shardId, statement, LOCK_TIMEOUT_MS, (locked) => {
      if (connection.ended) return
      if (!locked) {
        done()
        run('locked')
        return
      }
      this.kernel.schedule(executionMs, `database updates shard ${shardId}`, () => {
        if (connection.ended) return
        run(this.shardRow(shardId))
        done()
      })
    })
  }

  private setShard(shardId: number, after: ShardRow): void {
    const before = this.shardRow(shardId)
    this.servers.stored.shardRows.set(shardId, after)
    for (const listener of this.shardListeners) listener({ shardId, before, after })
  }

  private forgetIfIdle(connection: Connection): void {
    if (connection.open || (!connection.ended && connection.pending > 0)) return
    this.connections.get(connection.session)?.delete(connection)
  }
}

function owns(row: ShardRow, token: ShardToken, session: string): boolean {
  return row.epoch === token.epoch && row.attempt === token.attempt && row.session === session
}
