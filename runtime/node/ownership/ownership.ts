/**
 * Owns shards for this node. PostgreSQL decides ownership; session keys show liveness, and hints show recent owners.
 *   O1. A shard is taken by its own acquire, and loaded only after that has returned.
 *   O2. A shard is taken only if it has no owner, or its owner counts as dead. It is given away only when empty, and
 *       then to its intended owner, with a call that saves the wait for the next round.
 *   O3. An epoch lower than one seen before means that the store was rewound: the node stops.
 *   O4. A missed renewal ends nothing: an owner serves until it is fenced.
 *   O5. A session counts as dead at once if it has no listener and the store proves that it cannot commit. Neither
 *       suffices alone: a network partition looks like a death, and a live process may lose a connection.
 *   O6. Live nodes rewrite lost keys and hints from their own state and PostgreSQL.
 * One loop derives everything from durable state.
 */
import { delay, type Timer } from '../../ports/clock.ts'
import type { LeaseStore, ListedSession, Revision, SessionRecord, Watch } from '../../ports/lease-store.ts'
import type { Drains, ShardRecord } from '../../ports/ledger-store.ts'
import type { Service } from '../../ports/transport.ts'
import { type Acquisition, createAcquisition } from './acquisition.ts'
import { EpochsSeen } from './epochs-seen.ts'
import { createHandOver, type HandOver } from './hand-over.ts'
import { inParallel } from '../../common/in-parallel.ts'
import type { NodeCalls } from './node-calls.ts'
import type { NodeContext } from '../shard/node-context.ts'
import { ownersOf, Peers, type SessionName } from './peers.ts'
import { placeOn, sessionsOf } from './placement.ts'
import type { ShardHost } from '../host/shard-host.ts'
import { createVitalSigns, type VitalSigns, type VitalSignsBook } from './vital-signs.ts'
import { reasonOf } from '../../common/reason.ts'

export interface OwnershipDependencies extends Pick<
  NodeContext,
  'session' | 'store' | 'clock' | 'log' | 'metrics' | 'rare'
> {
  readonly nodeId: string
  readonly leases: LeaseStore
  readonly host: ShardHost
  readonly calls: NodeCalls
  readonly settings: OwnershipSettings
  /** The store read its time between two moments of the monotonic clock. */
  readonly onStoreTime: (storeMs: number, askedMs: number, answeredMs: number) => boolean
  /** The store was rewound (O3): the process must exit. */
  readonly onStoreWentBack: () => void
}

export interface OwnershipSettings {
  readonly reconcileMs: number
  readonly renewMs: number
  /** Larger differences between this clock and the store's make the node not ready. */
  readonly maxClockSkewMs: number
  /** Wait before the first acquisition, so that nodes that start together share the shards. */
  readonly settleMs: number
}

/** Time that a node must be seen before it gets shards of live nodes. */
const JOIN_DELAY_MS = 3_000

export class Ownership {
  private readonly dependencies: OwnershipDependencies
  private readonly peers: Peers
  private readonly handOver: HandOver
  private readonly signs: VitalSignsBook
  private readonly epochs = new EpochsSeen()
  private readonly acquisition: Acquisition
  private readonly firstSeenMs = new Map<string, number>()
  private revision: Revision = 0
  private ready = false
  private draining = false
  /** An administrator drains this node. */
  private emptying = false
  private service: Service | undefined
  private stopped = false
  private reconciling: Promise<void> = Promise.resolve()
  /** The hand-over to intended owners, which runs beside the loop. */
  private giving: Promise<void> | undefined
  private timers: (Timer | undefined)[] = []
  private watch: Watch | undefined

  constructor(dependencies: OwnershipDependencies) {
    this.dependencies = dependencies
    this.peers = new Peers(dependencies.clock)
    this.signs = createVitalSigns(dependencies.clock, dependencies.settings.maxClockSkewMs)
    this.handOver = createHandOver({ ...dependencies, epochs: this.epochs })
    this.acquisition = createAcquisition({
      ...dependencies,
      epochs: this.epochs,
      isLeaving: () => this.isLeaving(),
    })
  }

  async start(): Promise<void> {
    const { clock, leases, host, settings } = this.dependencies
    this.service = this.dependencies.calls.serve({
      wouldTake: (shardIds) => (this.isReady() ? shardIds.filter((shardId) => !host.refused().includes(shardId)) : []),
      take: (shardId, epoch) => this.takeReleased(shardId, epoch),
    })
    this.watch = leases.watchHints(({ shardId, epoch }) => this.epochs.saw(shardId, epoch))
    await this.renew()
    await delay(clock, settings.settleMs)
    await this.reconcile()
    this.every(settings.renewMs, 0, () => this.renew())
    this.every(settings.reconcileMs, 1, () => this.reconcile())
  }

  isReady(): boolean {
    return this.ready && !this.emptying && !this.isLeaving()
  }

  /** `leaving`: the node gives its shards away, and takes no others. */
  measures(): VitalSigns & { readonly leaving: boolean } {
    return { ...this.signs.read(), leaving: this.emptying || this.isLeaving() }
  }

  /** Gives every shard away, then ends the session. */
  async stop(): Promise<void> {
    this.draining = true
    await this.renew()
    const { host, leases, nodeId } = this.dependencies
    // The round in progress may still take shards, which must be given away too.
    await this.reconciling
    await this.giving
    await this.handOver.giveAllAway([...host.serving().keys()], await this.successors())
    this.halt()
    await this.service?.drain()
    await leases.end(nodeId).catch(() => undefined)
  }

  /** Stops the loops at once. */
  halt(): void {
    this.stopped = true
    for (const timer of this.timers) timer?.cancel()
    this.watch?.stop()
  }

  /** Whether other nodes could take this node's shards. */
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

  /** Probes the store and renews the session key; a failure only stops the taking of new shards. */
  private async renew(): Promise<void> {
    const { nodeId, session, store, leases, host, clock, log, settings, onStoreTime } = this.dependencies
    try {
      const beforeMs = clock.now()
      const askedMs = clock.monotonic()
      const proves = host.commits.mayProve()
      const { nowMs } = await store.probe(proves)
      if (proves) host.commits.proved()
      if (!onStoreTime(nowMs, askedMs, clock.monotonic())) log.error('store_clock_jumped', { store_ms: nowMs })
      const skewMs = Math.max(beforeMs - nowMs, nowMs - clock.now(), 0)
      this.ready = skewMs <= settings.maxClockSkewMs
      this.signs.probed(askedMs, skewMs)
      if (!this.ready) log.warn('clock_skew_exceeded', { skew_ms: skewMs })
    } catch (error) {
      this.ready = false
      this.signs.notProbed()
      log.warn('probe_failed', { cause: reasonOf(error) })
    }
    const record: SessionRecord = {
      nodeId,
      session,
      ready: this.ready,
      draining: this.draining || this.emptying,
      refusedShards: host.refused(),
    }
    try {
      const begunMs = clock.monotonic()
      const renewed = await leases.renew(record, this.revision)
      if (renewed !== 'conflict') {
        this.revision = renewed
        this.signs.renewed(begunMs)
        return
      }
      this.revision = (await leases.list()).find((listed) => listed.nodeId === nodeId)?.revision ?? 0
      // The stored key is not the one that this node wrote: hints may be lost, too (O6).
      for (const { shardId, epoch } of host.serving().values()) {
        void leases.hint({ shardId, nodeId, session, epoch }).catch(() => undefined)
      }
    } catch (error) {
      this.signs.notRenewed()
      log.warn('renewal_failed', { cause: reasonOf(error) })
    }
  }

  private reconcile(): Promise<void> {
    this.reconciling = this.look()
    return this.reconciling
  }

  private async look(): Promise<void> {
    const { session, store, leases, calls, log, rare } = this.dependencies
    if (this.stopped || rare.takes('reconcile_left_out')) return
    try {
      const seen = this.epochs.copy()
      const [records, drains] = await Promise.all([store.shards(), store.drains()])
      if (this.wentBack(records, seen)) return
      this.emptying = drains.nodes.has(this.dependencies.nodeId)
      this.followStore(records)
      const listed = await leases.list().catch(() => undefined)
      if (listed === undefined) this.peers.forget()
      else this.peers.observe(listed, ownersOf(records))
      // Without a listing, only this node is known to be alive. If it is unreachable, it must not take the shards of
      // others.
      const isAlone = listed === undefined && !(await calls.isReachable(session))
      if (!this.draining && !isAlone) await this.takeAndGive(records, listed ?? [], drains)
    } catch (error) {
      log.warn('reconcile_failed', { cause: reasonOf(error) })
    }
  }

  /** O3. `seen` predates the query: an epoch seen during the query may be newer than the records. */
  private wentBack(records: readonly ShardRecord[], seen: ReadonlyMap<number, number>): boolean {
    const back = records.find(({ shardId, epoch }) => epoch < (seen.get(shardId) ?? 0))
    for (const { shardId, epoch } of records) this.epochs.saw(shardId, epoch)
    if (back === undefined) return false
    this.dependencies.log.error('postgresql_rewound', { shard: back.shardId, epoch: back.epoch })
    this.halt()
    for (const shardId of this.dependencies.host.serving().keys()) this.dependencies.host.drop(shardId)
    this.dependencies.onStoreWentBack()
    return true
  }

  /** Drops shards that now belong to other nodes. */
  private followStore(records: readonly ShardRecord[]): void {
    const { host, session, metrics } = this.dependencies
    const serving = host.serving()
    for (const { shardId, epoch, session: owner } of records) {
      const token = serving.get(shardId)
      if (token === undefined || token.epoch > epoch || (owner === session && token.epoch === epoch)) continue
      metrics?.moves('fenced', 1)
      host.drop(shardId)
    }
  }

  private async takeAndGive(
    records: readonly ShardRecord[],
    listed: readonly ListedSession[],
    drains: Drains,
  ): Promise<void> {
    const { nodeId, session, store, host, clock, log, rare } = this.dependencies
    const dead = await this.deadSessions([...ownersOf(records), ...listed])
    const alive = listed.filter((peer) => !dead.has(peer.session))
    const candidates = this.candidates(alive, drains)
    const shardIds = records.map(({ shardId }) => shardId)
    const wanted = placeOn(candidates, shardIds, drains)
    const mine = records.filter(({ shardId }) => wanted.get(shardId) === nodeId)
    // After a lost reply or a broken invariant, PostgreSQL assigns this node a shard that it does not serve. No other
    // node takes that shard while this node lives.
    const serving = host.serving()
    const isStray = ({ shardId }: ShardRecord) => !serving.has(shardId) && !this.acquisition.isTaking(shardId)
    const isFree = ({ session: owner }: ShardRecord) => owner === null || owner === session || dead.has(owner)
    const stranded = records.filter(
      (record) => record.session === session && isStray(record) && wanted.get(record.shardId) !== nodeId,
    )
    const failed =
      (what: string) =>
      ({ shardId }: ShardRecord, error: unknown): void => {
        log.warn(what, { shard: shardId, cause: reasonOf(error) })
      }
    await inParallel(stranded, async (record) => void (await store.release(record)), failed('shard_not_released'))
    const before = serving.size
    await inParallel(
      mine.filter((record) => isStray(record) && isFree(record)),
      (record) => this.take(record, dead),
      failed('shard_not_taken'),
    )
    const acquired = host.serving().size - before
    if (acquired > 0) log.info('shards_acquired', { acquired, owned: host.serving().size })
    const joinedByMs = clock.monotonic() - JOIN_DELAY_MS
    const hasSettled = (peer: SessionRecord) => (this.firstSeenMs.get(peer.session) ?? Infinity) <= joinedByMs
    const settled = new Set(candidates.filter(hasSettled).map((peer) => peer.nodeId))
    const misplaced = [...host.serving().keys()].filter((shardId) => {
      const owner = wanted.get(shardId)
      return (owner !== undefined && owner !== nodeId && settled.has(owner)) || rare.takes('shard_given_away')
    })
    const atOnce = Math.max(1, Math.floor(records.length / 10))
    this.give(misplaced.slice(0, atOnce), sessionsOf(candidates, wanted))
  }

  /**
   * One hand-over at a time, beside the loop: a shard that empties slowly must not delay taking those of dead nodes.
   */
  private give(shardIds: readonly number[], successors: ReadonlyMap<number, string>): void {
    if (this.giving !== undefined || shardIds.length === 0) return
    this.giving = this.handOver.giveToWilling(shardIds, successors).finally(() => {
      this.giving = undefined
    })
  }

  /** The next owner's session of each of this node's shards; empty if it cannot be determined. */
  private async successors(): Promise<ReadonlyMap<number, string>> {
    const { store, leases, host, nodeId } = this.dependencies
    try {
      const [listed, drains] = await Promise.all([leases.list(), store.drains()])
      const candidates = this.candidates(listed, drains).filter((peer) => peer.nodeId !== nodeId)
      return sessionsOf(candidates, placeOn(candidates, [...host.serving().keys()], drains))
    } catch {
      return new Map()
    }
  }

  /**
   * Nodes that may own shards: alive, ready and not leaving, this node included. Drained nodes count only if there are
   * no others.
   */
  private candidates(listed: readonly ListedSession[], { nodes }: Drains): readonly SessionRecord[] {
    const alive = this.living(listed, nodes)
    const staying = alive.filter((peer) => !nodes.has(peer.nodeId))
    return staying.length > 0 ? staying : alive
  }

  private living(listed: readonly ListedSession[], emptied: ReadonlySet<string>): readonly SessionRecord[] {
    const { nodeId, session, host, clock } = this.dependencies
    const others = listed.filter(
      (peer) =>
        peer.nodeId !== nodeId &&
        peer.ready &&
        (!peer.draining || emptied.has(peer.nodeId)) &&
        !this.peers.isDead(peer.session),
    )
    const present = new Set(others.map((peer) => peer.session))
    for (const known of this.firstSeenMs.keys()) if (!present.has(known)) this.firstSeenMs.delete(known)
    for (const known of present) if (!this.firstSeenMs.has(known)) this.firstSeenMs.set(known, clock.monotonic())
    if (!this.ready) return others
    return [...others, { nodeId, session, ready: true, draining: false, refusedShards: host.refused() }]
  }

  /** Sessions that count as dead: silent too long, or proved dead (O5). */
  private async deadSessions(known: readonly SessionName[]): Promise<ReadonlySet<string>> {
    const { session, log } = this.dependencies
    const others = new Map(known.filter((one) => one.session !== session).map((one) => [one.session, one]))
    const dead = new Set<string>()
    await inParallel(
      [...others.values()],
      async (one) => {
        if (this.peers.isDead(one.session) || (await this.isProvedDead(one))) dead.add(one.session)
      },
      ({ nodeId }, error) => {
        log.warn('lock_not_read', { node: nodeId, cause: reasonOf(error) })
      },
    )
    return dead
  }

  /** O5. An earlier session of this same node has ended; only a commit may still be in flight. */
  private async isProvedDead(owner: SessionName): Promise<boolean> {
    const { nodeId, store, calls } = this.dependencies
    const isGone =
      owner.nodeId === nodeId || (this.peers.isSilent(owner.session) && !(await calls.isReachable(owner.session)))
    return isGone && !(await store.sessionHeld(owner.session))
  }

  private async take(record: ShardRecord, dead: ReadonlySet<string>): Promise<void> {
    const result = await this.acquisition.acquire(record.shardId, record.epoch)
    // A commit that does not end: only the connections of a session that counts as dead may be terminated.
    if (result === 'locked' && record.session !== null && dead.has(record.session)) {
      await this.dependencies.store.terminate(record.session)
    }
  }

  /** The former owner has released the shard in this epoch, and called this node. */
  private async takeReleased(shardId: number, epoch: number): Promise<boolean> {
    if (!this.isReady()) return false
    return (await this.acquisition.acquire(shardId, epoch).catch(() => undefined)) === 'served'
  }
}
