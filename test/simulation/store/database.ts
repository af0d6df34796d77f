/**
 * The simulated database server, shared by the stores of all sessions. It runs outside every process:
 * statements that have arrived take effect even if their client has died.
 *   B1. A statement is atomic; between its start and its commit it holds its row locks and is invisible.
 *   B2. A commit skips shards whose row is locked or whose token differs (SKIP LOCKED).
 * The rows of shards are in shard-table.ts, the connections of sessions in connections.ts.
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
  ShardStart,
  ShardToken,
} from '../../../runtime/ports/ledger-store.ts'
import type { MemoryAttestationState } from '../../support/memory/attestation-store-memory.ts'
import type { MemoryLogState } from '../../support/memory/log-store-memory.ts'
import type { MemoryWebhookState } from '../../support/memory/webhook-store-memory.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { AppliedCommit } from './applied.ts'
import { type Connection, Connections } from './connections.ts'
import { NO_STORE_FAULTS, type StoreFaults, type StoreRule } from './faults.ts'
import { createGate, createRowLocks, type Gate, type RowLocks } from './locks.ts'
import { lookUpStatements } from './look-up.ts'
import { type AcquireWish, LOCK_TIMEOUT_MS, owns, ShardTable } from './shard-table.ts'
import { openShardStatements, type Statements, type StatementWorld } from './statements.ts'
import { poisonIn, Rows, type ShardRow } from './rows.ts'
import { refusalOf, type SimServer, SimServers, type Stored } from './servers.ts'
import { hasRows, onlyMakesNew, shuffled } from './table.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'

export interface SimDatabaseOptions {
  readonly kernel: Kernel
  readonly shardCount: number
  readonly broken?: StoreRule | undefined
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
  readonly connections: Connections
  readonly shards: ShardTable
  readonly random: SeededRandom
  readonly kernel: Kernel
  readonly shardCount: number
  /** Writes that the tables refused although their values are storable: each is a broken invariant of an owner. */
  readonly brokenWrites: string[] = []
  private readonly broken: StoreRule | undefined
  private readonly appliedListeners: ((applied: AppliedCommit) => void)[] = []
  private readonly startListeners: ((nodeId: string, shardIds: readonly number[]) => void)[] = []
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
    this.connections = new Connections({
      timeline: () => this.server.timeline,
      cutOff: this.cutOff,
      escapes: () => this.random.chance(this.faults.leftConnectionEscapes),
    })
    this.shards = new ShardTable({
      kernel: this.kernel,
      locks: this.locks,
      rows: () => this.servers.stored.shardRows,
      acquireCompares: this.broken !== 'acquireCompares',
    })
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

  get attestations(): MemoryAttestationState {
    return this.servers.stored.attestations
  }

  get webhooks(): MemoryWebhookState {
    return this.servers.stored.webhooks
  }

  get log(): MemoryLogState {
    return this.servers.stored.log
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
    this.shards.disown()
  }

  /**
   * Closes every connection. Uncommitted statements are lost, except for a share that takes effect without an answer.
   */
  restart(inDoubtApplied = this.faults.commitAppliedWhenEnded): void {
    const usual = this.faults.commitAppliedWhenEnded
    this.faults.commitAppliedWhenEnded = inDoubtApplied
    this.connections.endAll()
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

  /** Calls back when a node's statement reads stored data. */
  onRead(listener: (nodeId: string) => void): void {
    this.readListeners.push(listener)
  }

  reads({ nodeId }: Connection): void {
    for (const listener of this.readListeners) listener(nodeId)
  }

  acquire(
    connection: Connection,
    wish: AcquireWish,
    executionMs: number,
    answer: (result: AcquireResult) => void,
  ): void {
    if (this.broken === 'acquireLoadsOldSnapshot') {
      const { shardId } = wish
      const untilMs = this.kernel.now() + LOCK_TIMEOUT_MS + SAME_STATEMENT_MS
      this.oldSnapshots.set(`${connection.session} ${shardId}`, { rows: this.rows.snapshotOf(shardId), untilMs })
    }
    this.shards.acquire(connection, wish, executionMs, answer)
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
    const mine = owns(this.shards.row(token.shardId), token, connection.session)
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
    const shards = fenced.map((shard) => ({ batch: shard, row: this.shards.row(shard.token.shardId) }))
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
}
