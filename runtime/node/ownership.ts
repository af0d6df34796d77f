/**
 * Which shards this node owns. PostgreSQL decides; session keys and hints only say who lives and where to look first.
 *   O1. A shard is taken by an acquire of its own, and loaded only after that has returned.
 *   O2. It is taken only if nobody owns it or its owner is held for dead; it is given away only when it is empty.
 *   O3. An epoch lower than one seen before means that the store went back: the node stops rather than serve.
 *   O4. A missed renewal ends nothing: an owner serves until it is fenced.
 * One loop derives everything from durable state; nothing is remembered that cannot be read again.
 */
import { type Clock, delay, type Timer } from '../ports/clock.ts'
import type { LeaseStore, ListedSession, Revision, SessionRecord, Watch } from '../ports/lease-store.ts'
import type { LedgerStore, ShardRecord } from '../ports/ledger-store.ts'
import type { Log } from '../ports/log.ts'
import type { RarePaths } from '../ports/rare-paths.ts'
import { Peers } from './peers.ts'
import { placeShards } from './placement.ts'
import type { ShardHost } from './shard-host.ts'

export interface OwnershipDependencies {
  readonly nodeId: string
  readonly session: string
  readonly store: LedgerStore
  readonly leases: LeaseStore
  readonly host: ShardHost
  readonly clock: Clock
  readonly log: Log
  readonly rare: RarePaths
  readonly settings: OwnershipSettings
  /** The store named its time between two moments of the monotonic clock. */
  readonly onStoreTime: (storeMs: number, askedMs: number, answeredMs: number) => void
  /** The store went back in time (O3): the process must not go on. */
  readonly onStoreWentBack: () => void
}

export interface OwnershipSettings {
  readonly reconcileMs: number
  readonly renewMs: number
  /** Larger differences between this clock and the store's make the node not ready. */
  readonly maxClockSkewMs: number
  /** Before the first shards are taken, so that nodes that start together share them. */
  readonly settleMs: number
}

const PARALLEL_ACQUIRES = 8
const DRAIN_TIMEOUT_MS = 2_000
const LOADED_LATE_MS = 500
/** A node is given shards of the living only after it has been seen this long. */
const JOIN_DELAY_MS = 3_000

export class Ownership {
  private readonly dependencies: OwnershipDependencies
  private readonly peers: Peers
  private readonly highestEpochs = new Map<number, number>()
  private readonly firstSeenMs = new Map<string, number>()
  private revision: Revision = 0
  private ready = false
  private draining = false
  private stopped = false
  private reconciling: Promise<void> = Promise.resolve()
  private timers: (Timer | undefined)[] = []
  private watch: Watch | undefined

  constructor(dependencies: OwnershipDependencies) {
    this.dependencies = dependencies
    this.peers = new Peers(dependencies.clock)
  }

  async start(): Promise<void> {
    const { clock, leases, settings } = this.dependencies
    this.watch = leases.watchHints(({ shardId, epoch }) => this.sawEpoch(shardId, epoch))
    await this.renew()
    await delay(clock, settings.settleMs)
    await this.reconcile()
    this.every(settings.renewMs, 0, () => this.renew())
    this.every(settings.reconcileMs, 1, () => this.reconcile())
  }

  isReady(): boolean {
    return this.ready && !this.draining && !this.stopped
  }

  /** Gives every shard away in order, then forgets the session. */
  async stop(): Promise<void> {
    this.draining = true
    await this.renew()
    const { host, leases, nodeId } = this.dependencies
    // What a look under way still takes must be given away too.
    await this.reconciling
    await this.giveAllAway([...host.serving().keys()])
    this.halt()
    await leases.end(nodeId).catch(() => undefined)
  }

  /** Stops the loops at once. */
  halt(): void {
    this.stopped = true
    for (const timer of this.timers) timer?.cancel()
    this.watch?.stop()
  }

  /** Whether other nodes could serve what this one gives away. */
  hasPeers(): boolean {
    return this.firstSeenMs.size > 0
  }

  private isLeaving(): boolean {
    return this.stopped || this.draining
  }

  private every(periodMs: number, slot: number, run: () => Promise<void>): void {
    if (this.stopped) return
    this.timers[slot] = this.dependencies.clock.after(periodMs, () => {
      void run().finally(() => this.every(periodMs, slot, run))
    })
  }

  /** Probes the store and renews the session key; neither failure ends anything but the claim to new shards. */
  private async renew(): Promise<void> {
    const { nodeId, session, store, leases, host, clock, log, settings, onStoreTime } = this.dependencies
    try {
      const beforeMs = clock.now()
      const askedMs = clock.monotonic()
      const { nowMs } = await store.probe()
      onStoreTime(nowMs, askedMs, clock.monotonic())
      const skewMs = Math.max(beforeMs - nowMs, nowMs - clock.now(), 0)
      this.ready = skewMs <= settings.maxClockSkewMs
      if (!this.ready) log.warn('clock_skew', { skewMs })
    } catch {
      this.ready = false
    }
    const record: SessionRecord = {
      nodeId,
      session,
      ready: this.ready,
      draining: this.draining,
      refusedShards: host.refused(),
    }
    try {
      const renewed = await leases.renew(record, this.revision)
      if (renewed !== 'conflict') this.revision = renewed
      else this.revision = (await leases.list()).find((listed) => listed.nodeId === nodeId)?.revision ?? 0
    } catch (error) {
      log.warn('renewal_failed', { cause: error instanceof Error ? error.message : 'unknown' })
    }
  }

  private reconcile(): Promise<void> {
    this.reconciling = this.look()
    return this.reconciling
  }

  private async look(): Promise<void> {
    const { store, leases, log, rare } = this.dependencies
    if (this.stopped || rare.takes('reconcile_left_out')) return
    try {
      const seen = new Map(this.highestEpochs)
      const records = await store.shards()
      if (this.wentBack(records, seen)) return
      this.followStore(records)
      const listed = await leases.list().catch(() => undefined)
      if (listed === undefined) this.peers.forget()
      else this.peers.observe(listed, ownersOf(records))
      if (!this.draining) await this.takeAndGive(records, listed ?? [])
    } catch (error) {
      log.warn('reconcile_failed', { cause: error instanceof Error ? error.message : 'unknown' })
    }
  }

  /** O3. `seen` is from before the records were asked for: what is seen meanwhile may be newer than they are. */
  private wentBack(records: readonly ShardRecord[], seen: ReadonlyMap<number, number>): boolean {
    const back = records.find(({ shardId, epoch }) => epoch < (seen.get(shardId) ?? 0))
    for (const { shardId, epoch } of records) this.sawEpoch(shardId, epoch)
    if (back === undefined) return false
    this.dependencies.log.error('postgresql_went_back', { shard: back.shardId, epoch: back.epoch })
    this.halt()
    for (const shardId of this.dependencies.host.serving().keys()) this.dependencies.host.drop(shardId)
    this.dependencies.onStoreWentBack()
    return true
  }

  private sawEpoch(shardId: number, epoch: number): void {
    this.highestEpochs.set(shardId, Math.max(epoch, this.highestEpochs.get(shardId) ?? 0))
  }

  /** Drops what the store says is another's. */
  private followStore(records: readonly ShardRecord[]): void {
    const { host, session } = this.dependencies
    const serving = host.serving()
    for (const { shardId, epoch, session: owner } of records) {
      const token = serving.get(shardId)
      if (token !== undefined && token.epoch <= epoch && (owner !== session || token.epoch !== epoch))
        host.drop(shardId)
    }
  }

  private async takeAndGive(records: readonly ShardRecord[], listed: readonly ListedSession[]): Promise<void> {
    const { nodeId, session, store, host, log, rare } = this.dependencies
    const candidates = this.candidates(listed)
    const wanted = placeShards(
      records.map(({ shardId }) => shardId),
      candidates.map((peer) => ({ nodeId: peer.nodeId, refusedShards: new Set(peer.refusedShards) })),
    )
    const dead = await this.deadSessions(records)
    const mine = records.filter(({ shardId }) => wanted.get(shardId) === nodeId)
    // Written as this session's and not served here, after an answer was lost or an invariant broke: while this node
    // lives nobody else would take it.
    const serving = host.serving()
    const stranded = records.filter(
      (record) => record.session === session && !serving.has(record.shardId) && wanted.get(record.shardId) !== nodeId,
    )
    await inParallel(stranded, async (record) => void (await store.release(record)))
    const before = serving.size
    await inParallel(
      mine.filter((record) => !serving.has(record.shardId) && this.isFree(record, dead)),
      (record) => this.take(record, dead),
    )
    const acquired = host.serving().size - before
    if (acquired > 0) log.info('shards_acquired', { acquired, owned: host.serving().size })
    const settled = new Set(candidates.filter((peer) => this.hasSettled(peer)).map((peer) => peer.nodeId))
    const misplaced = [...host.serving().keys()].filter((shardId) => {
      const owner = wanted.get(shardId)
      return (owner !== undefined && owner !== nodeId && settled.has(owner)) || rare.takes('shard_given_away')
    })
    const atOnce = Math.max(1, Math.floor(records.length / 10))
    await this.giveAllAway(misplaced.slice(0, atOnce))
  }

  /** Nodes that may own shards: alive as far as is known, ready, not leaving. This one speaks for itself. */
  private candidates(listed: readonly ListedSession[]): readonly SessionRecord[] {
    const { nodeId, session, host, clock } = this.dependencies
    const others = listed.filter(
      (peer) => peer.nodeId !== nodeId && peer.ready && !peer.draining && !this.peers.isDead(peer.session),
    )
    const present = new Set(others.map((peer) => peer.session))
    for (const known of this.firstSeenMs.keys()) if (!present.has(known)) this.firstSeenMs.delete(known)
    for (const known of present) if (!this.firstSeenMs.has(known)) this.firstSeenMs.set(known, clock.monotonic())
    if (!this.ready) return others
    return [...others, { nodeId, session, ready: true, draining: false, refusedShards: host.refused() }]
  }

  private hasSettled(peer: SessionRecord): boolean {
    const sinceMs = this.firstSeenMs.get(peer.session)
    return sinceMs !== undefined && this.dependencies.clock.monotonic() - sinceMs >= JOIN_DELAY_MS
  }

  /** Owners held for dead: silent too long, or an earlier life of this very node whose last commit cannot be in flight. */
  private async deadSessions(records: readonly ShardRecord[]): Promise<ReadonlySet<string>> {
    const { nodeId, session, store } = this.dependencies
    const dead = new Set<string>()
    for (const owner of ownersOf(records)) {
      if (owner.session === session || dead.has(owner.session)) continue
      if (this.peers.isDead(owner.session)) dead.add(owner.session)
      else if (owner.nodeId === nodeId && !(await store.sessionHeld(owner.session))) dead.add(owner.session)
    }
    return dead
  }

  private isFree(record: ShardRecord, dead: ReadonlySet<string>): boolean {
    const { session } = this.dependencies
    return record.session === null || record.session === session || dead.has(record.session)
  }

  private async take(record: ShardRecord, dead: ReadonlySet<string>): Promise<void> {
    const { nodeId, session, store, leases, host, clock, rare } = this.dependencies
    const { shardId } = record
    if (this.isLeaving()) return
    const nextEpoch = Math.max(record.epoch, this.highestEpochs.get(shardId) ?? 0) + 1
    const result = await store.acquire(shardId, record.epoch, nextEpoch)
    if (result.kind === 'lost') return
    if (result.kind === 'locked') {
      // A commit that does not end: only the connections of a session held for dead may be ended.
      if (record.session !== null && dead.has(record.session)) await store.terminate(record.session)
      return
    }
    this.sawEpoch(shardId, nextEpoch)
    if (this.isLeaving()) {
      await store.release(result.token)
      return
    }
    if (rare.takes('loaded_late')) await delay(clock, LOADED_LATE_MS)
    const start = await store.openShard(shardId)
    if (this.stopped) return
    host.serve(result.token, start)
    void leases.hint({ shardId, nodeId, session, epoch: nextEpoch }).catch(() => undefined)
  }

  private async giveAllAway(shardIds: readonly number[]): Promise<void> {
    const { host, log } = this.dependencies
    if (shardIds.length === 0) return
    await inParallel(shardIds, (shardId) => this.giveAway(shardId))
    log.info('shards_released', { released: shardIds.length, owned: host.serving().size })
  }

  private async giveAway(shardId: number): Promise<void> {
    const { store, leases, host } = this.dependencies
    const token = await host.drain(shardId, DRAIN_TIMEOUT_MS)
    if (token === undefined) return
    const released = await store.release(token).catch(() => false)
    host.drop(shardId)
    if (!released) return
    this.sawEpoch(shardId, token.epoch + 1)
    void leases.hint({ shardId, nodeId: null, session: null, epoch: token.epoch + 1 }).catch(() => undefined)
  }
}

function ownersOf(records: readonly ShardRecord[]): { nodeId: string; session: string }[] {
  const owners = new Map<string, { nodeId: string; session: string }>()
  for (const { nodeId, session } of records) {
    if (nodeId !== null && session !== null) owners.set(session, { nodeId, session })
  }
  return [...owners.values()]
}

/** A few at a time; one that fails does not stop the others, and is tried again by the next look. */
async function inParallel<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all]
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await run(next).catch(() => undefined)
  }
  await Promise.all(Array.from({ length: PARALLEL_ACQUIRES }, worker))
}
