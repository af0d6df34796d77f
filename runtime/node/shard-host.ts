/**
 * The shards of one node: their mailboxes, their memory, and the one place where a broken invariant is caught.
 *   H1. An item enters the mailbox of the incarnation whose epoch it names, or is told `moved`.
 *   H2. Mailboxes are bounded: what does not fit is told `overloaded` and has not entered.
 *   H3. After an unknown outcome nothing is stepped until the store has fenced this node's own earlier commits (B1).
 *   H4. A broken invariant ends its shard here and nothing else; this node does not serve it again. It counts only if
 *       the shard is still this node's: what is loaded for one that is another's by now may be newer than its marks.
 *   H5. Messages between shards have a lane of their own: submissions cannot fill it, and those that would add to it are
 *       refused while too much of what their shard has sent to the same target is not taken in.
 */
import { refusal } from '../../actors/account/outcome.ts'
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import type { StepActor } from '../../actors/step-actor.ts'
import {
  decodeDeliveries,
  decodeItems,
  encodeDeliveryAnswers,
  encodeVerdictMessages,
  type Item,
  type ItemVerdict,
  type Verdict,
} from '../messages.ts'
import { type Clock, delay } from '../ports/clock.ts'
import type { DueActor, LedgerStore, ShardRecord, ShardStart, ShardToken } from '../ports/ledger-store.ts'
import type { Log } from '../ports/log.ts'
import { NO_NODE_METRICS, type NodeMetrics } from '../ports/metrics.ts'
import type { Random } from '../ports/random.ts'
import type { RarePaths } from '../ports/rare-paths.ts'
import type { Signer } from '../ports/signer.ts'
import { nextHop } from '../ports/trail.ts'
import type { Transport } from '../ports/transport.ts'
import { applyDraft } from './applied.ts'
import { createAttemptMemory } from './attempt-memory.ts'
import { commandOf } from './command.ts'
import { CommitLane, type CommitLimits } from './commit-lane.ts'
import { Courier, type CourierDependencies } from './courier.ts'
import type { InboxOrder, ShardDraft, StepSettings } from './draft.ts'
import { createFacts } from './facts.ts'
import { followed, followedAll, leaveUndecided } from './followed.ts'
import { fateOf, type HostMeasures, measuresOf } from './host-measures.ts'
import { Inbox } from './inbox.ts'
import { createIncarnation, type Incarnation, nextStamp } from './incarnation.ts'
import { createLookUps, type LookUps } from './look-ups.ts'
import type { OutputGate } from './output-gate.ts'
import { receiversOf } from './receivers.ts'
import { createPending, isLate, letGo, type Pending, type ReplyChannel, settle, waitsFor } from './pending.ts'
import type { PinBoard } from './pin-board.ts'
import { Timers } from './timers.ts'

export interface ShardHostDependencies {
  readonly store: LedgerStore
  readonly signer: Signer
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics?: NodeMetrics
  readonly pins: PinBoard
  readonly gate: OutputGate
  readonly step: StepActor
  readonly inboxOrder: InboxOrder
  readonly rare: RarePaths
  readonly homeOf: (actor: ActorAddress) => number
  readonly session: string
  readonly transport: Transport
  readonly routes: CourierDependencies['routes']
  readonly settings: StepSettings & CommitLimits & MailboxLimits
  /** Before each commit: what it will write, with the commands that made it. */
  readonly onDrafted?: (drafts: readonly ShardDraft[]) => void
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
}

/** Bounds in commands; `maxOutbox` in messages, `maxResidents` in actors. */
export interface MailboxLimits {
  readonly maxActorMailbox: number
  readonly maxShardMailbox: number
  readonly maxNodeMailbox: number
  /** Messages of a shard to another that are not taken in; above, what would add to them is refused. */
  readonly maxOutbox: number
  /** Actors kept in memory for each shard. */
  readonly maxResidents: number
}

/** What a reply takes beside its verdicts. */
const REPLY_BYTES = 1_024
/** Requests that wait for one conclusion: the next have not entered. */
const MAX_WAITERS = 64
/** Before each try to recover from an unknown outcome, the first included: what made it unknown needs a moment too. */
const RECOVERY_RETRY_MS = 20
const BUSY_RETRY_MS = 5
const LONGEST_RETRY_MS = 1_000
const DRAIN_POLL_MS = 5

export class ShardHost {
  private readonly dependencies: ShardHostDependencies
  private readonly incarnations = new Map<number, Incarnation>()
  private readonly lane: CommitLane
  private readonly lookUps: LookUps
  private readonly courier: Courier
  private readonly inbox: Inbox
  private readonly timers: Timers
  private readonly attempts: ReturnType<typeof createAttemptMemory>
  private readonly broken = new Set<number>()

  constructor(dependencies: ShardHostDependencies) {
    const { settings, step, inboxOrder: inbox, homeOf } = dependencies
    this.dependencies = dependencies
    this.attempts = createAttemptMemory(dependencies.clock)
    const facts = createFacts(dependencies.rare)
    this.lane = new CommitLane({
      ...dependencies,
      surroundings: { settings, step, facts, inbox, homeOf },
      incarnations: () => this.incarnations.values(),
      onSkipped: (skipped) => void this.lookAtSkipped(skipped, BUSY_RETRY_MS),
      onUnknown: (unknown) => {
        for (const incarnation of unknown) void this.recover(incarnation)
      },
      onBroken: (incarnation, detail, guilty) => void this.lookAtBroken(incarnation, detail, guilty),
      onApplied: (applied) => {
        const { maxResidents } = settings
        applyDraft(applied, { ...dependencies, maxResidents, courier: this.courier, inbox: this.inbox })
      },
    })
    this.lookUps = createLookUps({ ...dependencies, facts, onReady: () => this.lane.kick() })
    this.courier = new Courier({
      ...dependencies,
      sentTo: async (incarnation, target) => {
        const start = await this.startOf(incarnation)
        // What no counter was ever written for is 0; only of another's shard nothing is known.
        return start && (start.channels.find((channel) => channel.target === target)?.sent ?? 0)
      },
      deliverHere: (deliveries, answer) => this.inbox.receive(deliveries, answer),
    })
    this.inbox = new Inbox({
      ...dependencies,
      find: (shardId) => this.incarnations.get(shardId),
      enter: (pending) => this.enter(pending),
      markOf: async (incarnation, source) => {
        const start = await this.startOf(incarnation)
        return start && (start.marks.find((mark) => mark.source === source)?.mark ?? 0)
      },
    })
    this.timers = new Timers({
      ...dependencies,
      // One that has not stepped the last ones yet is left out: it would be all that is ever found.
      shards: () =>
        [...this.incarnations].filter(([, { dueWaiting }]) => dueWaiting.size === 0).map(([shardId]) => shardId),
      onDue: (due) => this.enterDue(due),
      onTick: () => this.giveUpParked(),
    })
  }

  start(): void {
    this.timers.start()
  }

  stop(): void {
    this.timers.stop()
    this.courier.stop()
  }

  /** Shards that this node serves, with the epoch it serves them in. */
  serving(): ReadonlyMap<number, ShardToken> {
    return new Map([...this.incarnations].map(([shardId, { token }]) => [shardId, token]))
  }

  /** Shards that broke an invariant here. */
  refused(): readonly number[] {
    return [...this.broken]
  }

  /** Commands waiting in all mailboxes. */
  backlog(): number {
    let sum = 0
    for (const { mailbox } of this.incarnations.values()) sum += mailbox.size
    return sum
  }

  /** What waits, and where. */
  measures(): HostMeasures {
    return measuresOf(this.incarnations, this.broken, this.courier.measures())
  }

  /** Begins to serve a shard that was acquired. */
  serve(token: ShardToken, start: ShardStart): void {
    const before = this.incarnations.get(token.shardId)
    if (before !== undefined) this.end(before)
    this.begin(createIncarnation(token, start), start)
  }

  private begin(incarnation: Incarnation, start: ShardStart): void {
    this.incarnations.set(incarnation.token.shardId, incarnation)
    this.courier.open(incarnation, start)
  }

  /** Gives a shard up at once: it is another's. What waits is told that its outcome is not known here. */
  drop(shardId: number): void {
    const incarnation = this.incarnations.get(shardId)
    if (incarnation !== undefined) this.end(incarnation)
  }

  /**
   * Takes nothing new and finishes what has entered. Returns the token to be released; undefined when the shard was
   * lost meanwhile, or did not become empty within `timeoutMs`.
   */
  async drain(shardId: number, timeoutMs: number): Promise<ShardToken | undefined> {
    const { clock, rare } = this.dependencies
    const untilMs = clock.monotonic() + (rare.takes('drain_given_up') ? 0 : timeoutMs)
    for (;;) {
      const incarnation = this.incarnations.get(shardId)
      if (incarnation === undefined) return undefined
      if (incarnation.phase === 'serving') incarnation.phase = 'draining'
      // Whoever waits for a conclusion asks the next owner.
      leaveUndecided(
        [...incarnation.parked.values()].flatMap((waiting) => [...waiting]),
        'shard_given_away',
        this.dependencies,
      )
      incarnation.parked.clear()
      if (incarnation.phase === 'draining' && incarnation.mailbox.size === 0) return incarnation.token
      if (clock.monotonic() >= untilMs) {
        if (incarnation.phase === 'draining') incarnation.phase = 'serving'
        return undefined
      }
      await delay(clock, DRAIN_POLL_MS)
    }
  }

  /** One message from an edge. */
  receive(message: string, reply: (message: string) => void): void {
    const channel: ReplyChannel = {
      send: (verdicts) => {
        const maxBytes = this.dependencies.transport.maxMessageBytes() - REPLY_BYTES
        for (const encoded of encodeVerdictMessages(verdicts, maxBytes)) reply(encoded)
      },
    }
    const { metrics = NO_NODE_METRICS } = this.dependencies
    const turnedAway: ItemVerdict[] = []
    let backlog = this.backlog()
    for (const item of decodeItems(message)) {
      if (!this.attempts.isLatest(item.requestId, item.attempt)) continue
      const verdict = this.admit(item, channel, backlog)
      metrics.items(fateOf(verdict), 1)
      if (verdict === undefined) backlog += 1
      else turnedAway.push({ requestId: item.requestId, attempt: item.attempt, verdict })
    }
    if (turnedAway.length > 0) channel.send(turnedAway)
  }

  /** undefined: it entered the mailbox. */
  private admit(item: Item, channel: ReplyChannel, backlog: number): Verdict | undefined {
    const { clock, random, rare, settings, homeOf } = this.dependencies
    const incarnation = this.incarnations.get(item.shardId)
    if (incarnation === undefined || incarnation.token.epoch !== item.epoch || incarnation.phase === 'draining') {
      return { kind: 'moved', epoch: incarnation?.token.epoch ?? null }
    }
    // A request that another shard decides would be taken for a new one there.
    if (homeOf(item.actor) !== item.shardId) {
      return { kind: 'answered', answer: refusal('rejected', 'The request was sent to another shard than its own.') }
    }
    const { mailbox } = incarnation
    const full =
      mailbox.size >= settings.maxShardMailbox ||
      backlog >= settings.maxNodeMailbox ||
      mailbox.sizeOf(actorKey(item.actor)) >= settings.maxActorMailbox
    if (full || rare.takes('mailbox_full')) {
      return { kind: 'overloaded' }
    }
    const command = commandOf(item, nextStamp(incarnation, clock.now(), random), random, settings.production)
    if (command === undefined) {
      return { kind: 'answered', answer: refusal('rejected', 'The request is not one that this ledger understands.') }
    }
    // Only what would add to a channel that does not move: others are none the worse for it (H5).
    const isStuck = (actor: ActorAddress): boolean =>
      this.courier.backlog(incarnation, homeOf(actor)) >= settings.maxOutbox
    if (receiversOf(command).some(isStuck)) return { kind: 'overloaded' }
    const { trail } = item
    const here = trail === undefined ? item : { ...item, trail: nextHop(trail, random) }
    const pending = createPending({ kind: 'request', item: here, channel }, item.actor, command, incarnation)
    if ((incarnation.parked.get(waitsFor(pending))?.size ?? 0) >= MAX_WAITERS) return { kind: 'overloaded' }
    this.enter(pending)
    return undefined
  }

  private enter(pending: Pending): void {
    pending.incarnation.mailbox.add(pending)
    this.lookUps.add(pending)
  }

  /** Messages between shards from another node. */
  receiveDeliveries(message: string, reply: (message: string) => void): void {
    this.inbox.receive(decodeDeliveries(message), (answers) => reply(encodeDeliveryAnswers(answers)))
  }

  /** A time has come: it goes the way of every command, once. */
  private enterDue({ shardId, address, dueAtMs }: DueActor): void {
    const { clock, random } = this.dependencies
    const incarnation = this.incarnations.get(shardId)
    const key = actorKey(address)
    if (incarnation?.phase !== 'serving' || incarnation.dueWaiting.has(key)) return
    incarnation.dueWaiting.add(key)
    const { atMs, ulid } = nextStamp(incarnation, clock.now(), random)
    const command = { type: 'due', dueAtMs, atMs, salt: random.hex(16), newTxnId: `txn_${ulid}` } as const
    this.enter(createPending({ kind: 'due' }, address, command, incarnation))
  }

  private giveUpParked(): void {
    const nowMs = this.dependencies.clock.now()
    for (const { parked } of this.incarnations.values()) {
      for (const [key, waiting] of parked) {
        const late = [...waiting].filter((pending) => isLate(pending, nowMs))
        for (const pending of late) waiting.delete(pending)
        if (waiting.size === 0) parked.delete(key)
        leaveUndecided(late, 'late', this.dependencies)
      }
    }
  }

  /** What the store says of a shard that is still served as this incarnation; undefined when it is another's. */
  private async startOf({ token }: Incarnation): Promise<ShardStart | undefined> {
    const { store } = this.dependencies
    const start = await store.openShard(token.shardId)
    const record = (await store.shards()).find(({ shardId }) => shardId === token.shardId)
    return record?.epoch === token.epoch && record.attempt === token.attempt ? start : undefined
  }

  private end(incarnation: Incarnation): void {
    if (this.incarnations.get(incarnation.token.shardId) === incarnation) {
      this.incarnations.delete(incarnation.token.shardId)
    }
    incarnation.phase = 'ended'
    this.courier.close(incarnation)
    this.inbox.close(incarnation)
    const left = [...incarnation.mailbox]
    const { log } = this.dependencies
    if (left.some(({ origin }) => origin.kind === 'request'))
      log.warn('mailbox_given_up', { shard: incarnation.token.shardId, ...followedAll(left) })
    leaveUndecided(left, 'shard_ended', this.dependencies)
  }

  /** A shard that is another's by now was stepped on what that one has committed: nothing is broken then. */
  private async lookAtBroken(incarnation: Incarnation, detail: string, guilty: Pending): Promise<void> {
    const { store, clock } = this.dependencies
    const { shardId, epoch, attempt } = incarnation.token
    incarnation.phase = 'suspended'
    for (let waitMs = BUSY_RETRY_MS; this.incarnations.get(shardId) === incarnation; waitMs = longer(waitMs)) {
      try {
        const record = (await store.shards()).find((found) => found.shardId === shardId)
        if (this.incarnations.get(shardId) !== incarnation) return
        if (record?.epoch === epoch && record.attempt === attempt) this.quarantine(incarnation, detail, guilty)
        else this.fenced(incarnation, record)
        return
      } catch {
        this.giveUpLate(incarnation)
        await delay(clock, waitMs)
      }
    }
  }

  /** Another has it. */
  private fenced(incarnation: Incarnation, found: ShardRecord | undefined): void {
    const { log, metrics = NO_NODE_METRICS } = this.dependencies
    if (incarnation.phase === 'ended') return
    const { shardId, epoch } = incarnation.token
    log.warn('shard_fenced', { shard: shardId, epoch, found: found?.epoch })
    metrics.moves('fenced', 1)
    this.end(incarnation)
  }

  private quarantine(incarnation: Incarnation, detail: string, guilty: Pending): void {
    const { log, metrics = NO_NODE_METRICS } = this.dependencies
    const { shardId } = incarnation.token
    log.error('shard_quarantined', { ...followed(guilty), shard: shardId, detail })
    metrics.moves('quarantined', 1)
    this.broken.add(shardId)
    this.end(incarnation)
  }

  /** Busy or another's? Only the store knows. */
  private async lookAtSkipped(skipped: readonly Incarnation[], waitMs: number): Promise<void> {
    const { store, clock } = this.dependencies
    await delay(clock, waitMs)
    try {
      const records = new Map((await store.shards()).map((record) => [record.shardId, record]))
      for (const incarnation of skipped) {
        if (incarnation.phase === 'ended') continue
        const { shardId, epoch, attempt } = incarnation.token
        const record = records.get(shardId)
        if (record?.epoch !== epoch || record.attempt !== attempt) {
          this.fenced(incarnation, record)
        } else {
          incarnation.blocked = false
        }
      }
      this.lane.kick()
    } catch {
      void this.lookAtSkipped(skipped, longer(waitMs))
    }
  }

  /** H3: fence our own past, forget everything speculative, and ask again for everything that waits. */
  private async recover(incarnation: Incarnation): Promise<void> {
    const { store, clock, log } = this.dependencies
    const { shardId, epoch, attempt } = incarnation.token
    let raised = false
    for (let waitMs = RECOVERY_RETRY_MS; incarnation.phase !== 'ended'; waitMs = longer(waitMs)) {
      await delay(clock, waitMs)
      try {
        raised ||= await store.raiseAttempt(incarnation.token)
        if (raised) this.replace(incarnation, { shardId, epoch, attempt: attempt + 1 }, await store.openShard(shardId))
        else this.fenced(incarnation, undefined)
        return
      } catch (error) {
        log.warn('recovery_delayed', { shard: shardId, cause: error instanceof Error ? error.message : 'unknown' })
        this.giveUpLate(incarnation)
      }
    }
  }

  /** Nobody waits for these any more. */
  private giveUpLate({ mailbox }: Incarnation): void {
    const nowMs = this.dependencies.clock.now()
    const late = [...mailbox].filter((pending) => isLate(pending, nowMs))
    leaveUndecided(late, 'late', this.dependencies)
  }

  private replace(old: Incarnation, token: ShardToken, start: ShardStart): void {
    if (old.phase === 'ended') return
    old.phase = 'ended'
    this.courier.close(old)
    this.inbox.close(old)
    const next = createIncarnation(token, start)
    if (old.lastIdMs >= next.lastIdMs) {
      next.lastIdMs = old.lastIdMs
      next.lastIdCounter = old.lastIdCounter
    }
    this.begin(next, start)
    const waiting = [...old.mailbox]
    old.mailbox.clear()
    for (const pending of waiting) {
      // Messages are carried again, and times looked for again: here they would come out of turn.
      if (pending.origin.kind !== 'request') {
        settle(pending)
        continue
      }
      letGo(pending)
      pending.earlier = undefined
      pending.incarnation = next
      next.mailbox.add(pending)
      this.lookUps.add(pending)
    }
  }
}

/** Backs off. */
function longer(waitMs: number): number {
  return Math.min(waitMs * 2, LONGEST_RETRY_MS)
}
