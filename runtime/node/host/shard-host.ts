/**
 * The shards of one node, their mailboxes and memory, and the one place that catches a broken invariant.
 *   H3. After an unknown outcome nothing is stepped until the store has fenced this node's own earlier commits (B1).
 *   H4. A broken invariant ends only its shard here; this node does not serve it again. The fault counts only if this
 *       node still owns the shard.
 * H1, H2 and H5 are in admission.ts, for mailboxes; shard-recovery.ts queries the store in doubt.
 */
import { actorKey } from '../../../actors/address.ts'
import { delay } from '../../ports/clock.ts'
import type { DueActor, ShardRecord, ShardStart, ShardToken } from '../../ports/ledger-store.ts'
import { decodeList, DELIVERIES, encodeFrame } from '../../protocol/wire.ts'
import { type Admission, createAdmission, type MailboxLimits } from '../delivery/admission.ts'
import { applyDrafts } from '../commit/applied.ts'
import { GroupCommit, type CommitLimits } from '../commit/group-commit.ts'
import { type CommitHealth, createCommitHealth } from '../commit/commit-health.ts'
import {
  CANNOT_BE_PROCESSED,
  createContainment,
  type Fault,
  isOfTheCommand,
  mayHaveTakenEffect,
} from '../recovery/containment.ts'
import { Courier, type CourierDependencies, type CourierMeasures } from '../delivery/courier.ts'
import { createShardRecovery, type ShardRecovery } from '../recovery/shard-recovery.ts'
import type { ShardDraft, StepSettings } from '../shard/draft.ts'
import { createOrderLimit } from '../shard/order-limit.ts'
import { createFacts } from '../shard/facts.ts'
import { requestFields, requestsFields, leaveUndecided } from '../shard/request-log.ts'
import { Inbox } from '../delivery/inbox.ts'
import { Incarnation, nextStamp } from '../shard/incarnation.ts'
import { createLookUps, type LookUps } from '../lookup/look-ups.ts'
import type { NodeContext } from '../shard/node-context.ts'
import { Pending, isLate, letGo, sendVerdicts, settle } from '../shard/pending-command.ts'
import { Timers } from '../delivery/timers.ts'

export interface ShardHostDependencies extends NodeContext {
  readonly routes: CourierDependencies['routes']
  readonly settings: StepSettings & CommitLimits & MailboxLimits
  /** Called before each commit with its drafts. */
  readonly onDrafted?: (drafts: readonly ShardDraft[]) => void
  readonly onCommitted?: (commands: number, shards: number, durationMs: number) => void
}

/** Commands without a verdict, of which some wait for a look-up or a conclusion; messages; actors; shards. */
export interface HostMeasures extends CourierMeasures {
  readonly mailboxes: number
  readonly lookUps: number
  readonly parked: number
  readonly residents: number
  readonly owned: number
  readonly quarantined: number
  readonly commitsFail: boolean
}

const DRAIN_POLL_MS = 5

/** `pending`: the command that caused the fault, if known. */
type BreakOff = (incarnation: Incarnation, fault: Fault, pending?: Pending) => void

export class ShardHost {
  private readonly dependencies: ShardHostDependencies
  private readonly incarnations = new Map<number, Incarnation>()
  private readonly groupCommit: GroupCommit
  private readonly lookUp: LookUps
  private readonly courier: Courier
  private readonly inbox: Inbox
  private readonly timers: Timers
  private readonly admit: Admission
  private readonly recovery: ShardRecovery
  private readonly broken = new Set<number>()
  /** Whether the store accepts commits. */
  readonly commits: CommitHealth

  private readonly find = (shardId: number): Incarnation | undefined => this.incarnations.get(shardId)
  private readonly confirmed: ShardRecovery['confirmed'] = (incarnation, run) =>
    this.recovery.confirmed(incarnation, run)
  private readonly breakOff: BreakOff = (incarnation, fault, pending) =>
    void this.recovery.broken(incarnation, () => this.quarantine(incarnation, fault, pending))
  private readonly enter = (pending: Pending): void => {
    const { incarnation } = pending
    incarnation.mailbox.add(pending)
    // The incarnation that replaces a suspended one looks up its commands.
    if (incarnation.phase !== 'suspended') this.lookUp(pending)
  }

  constructor(dependencies: ShardHostDependencies) {
    const { settings, step, wire, inboxOrder: inbox, homeOf } = dependencies
    this.dependencies = dependencies
    const { accountRate } = settings
    const orders = accountRate && createOrderLimit(accountRate, dependencies.clock)
    const facts = createFacts(dependencies.rare)
    const contain = createContainment({
      ...dependencies,
      confirmed: this.confirmed,
      parkChannel: (incarnation, source, number, fault) => this.inbox.park(incarnation, source, number, fault),
      quarantine: this.breakOff,
    })
    this.commits = createCommitHealth(dependencies.clock)
    this.groupCommit = new GroupCommit({
      ...dependencies,
      health: this.commits,
      surroundings: { settings, step, wire, facts, inbox, homeOf, orders },
      incarnations: () => this.incarnations.values(),
      onSkipped: (skipped) => void this.recovery.skipped(skipped),
      onUnknown: (unknown) => {
        for (const incarnation of unknown) void this.recovery.unknown(incarnation)
      },
      contain,
      onBroken: this.breakOff,
      onApplied: (applied) => {
        const { courier, inbox: taken, breakOff: onBroken } = this
        applyDrafts(applied, { ...dependencies, courier, inbox: taken, onBroken })
      },
    })
    this.lookUp = createLookUps({
      ...dependencies,
      facts,
      contain,
      onUnreadable: this.breakOff,
      onReady: () => this.groupCommit.kick(),
    })
    this.courier = new Courier({
      ...dependencies,
      sentTo: (incarnation, target) => this.sentTo(incarnation, target),
      deliverHere: (deliveries, answer) => this.inbox.receive(deliveries, answer),
    })
    this.inbox = new Inbox({
      ...dependencies,
      find: this.find,
      confirmed: this.confirmed,
      enter: this.enter,
      markOf: (incarnation, source) => this.markOf(incarnation, source),
    })
    this.admit = createAdmission({
      ...dependencies,
      find: this.find,
      backlogTo: (incarnation, target) => this.courier.backlog(incarnation, target),
      enter: this.enter,
    })
    this.recovery = createShardRecovery({
      ...dependencies,
      onFenced: (incarnation, found) => this.fenced(incarnation, found),
      onCleared: () => this.groupCommit.kick(),
      onRaised: (incarnation, token, start) => this.replace(incarnation, token, start),
      onDelayed: (incarnation) => this.giveUpLate(incarnation),
      onStuck: (incarnation, fault) => this.quarantine(incarnation, fault),
    })
    this.timers = new Timers({
      ...dependencies,
      // A shard with unstepped timers is left out: the query would return the same timers again.
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

  /** Shards that this node serves, with their tokens. */
  serving(): ReadonlyMap<number, ShardToken> {
    return new Map([...this.incarnations].map(([shardId, { token }]) => [shardId, token]))
  }

  /** Shards that broke an invariant here. */
  refused(): readonly number[] {
    return [...this.broken]
  }

  backlog(): number {
    let sum = 0
    for (const { mailbox } of this.incarnations.values()) sum += mailbox.size
    return sum
  }

  measures(): HostMeasures {
    const counted = { mailboxes: 0, lookUps: 0, parked: 0, residents: 0 }
    for (const { mailbox, lookingUp, parked, residents } of this.incarnations.values()) {
      counted.mailboxes += mailbox.size
      counted.lookUps += lookingUp
      counted.residents += residents.size
      for (const waiting of parked.values()) counted.parked += waiting.size
    }
    const shards = { owned: this.incarnations.size, quarantined: this.broken.size, commitsFail: this.commits.fails() }
    return { ...counted, ...this.courier.measures(), ...shards }
  }

  serve(token: ShardToken, start: ShardStart): void {
    this.drop(token.shardId)
    this.begin(new Incarnation(token, start), start)
  }

  private begin(incarnation: Incarnation, start: ShardStart): void {
    this.incarnations.set(incarnation.token.shardId, incarnation)
    this.courier.open(incarnation, start)
  }

  /** Gives a shard up at once, because another node has it. Waiting requests end as undecided. */
  drop(shardId: number): void {
    const incarnation = this.incarnations.get(shardId)
    if (incarnation !== undefined) this.end(incarnation)
  }

  /**
   * Admits no new commands and finishes those in the mailbox. Returns the token to release; undefined if the shard was
   * lost meanwhile, or did not become empty within `timeoutMs`.
   */
  async drain(shardId: number, timeoutMs: number): Promise<ShardToken | undefined> {
    const { clock, rare } = this.dependencies
    const untilMs = clock.monotonic() + (rare.takes('drain_given_up') ? 0 : timeoutMs)
    for (;;) {
      const incarnation = this.incarnations.get(shardId)
      if (incarnation === undefined) return undefined
      if (incarnation.phase === 'serving') incarnation.phase = 'draining'
      // The edges of requests that wait for a conclusion retry at the next owner.
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

  receive(message: string, reply: (message: string) => void): void {
    this.admit(message, reply, this.backlog())
  }

  receiveDeliveries(message: string, reply: (message: string) => void): void {
    const { wire, unsupported } = this.dependencies
    const list = decodeList(message, DELIVERIES, wire)
    if (list === undefined) return unsupported.answer('deliveries', message, reply)
    const { version, members, malformed } = list
    if (malformed.length > 0) unsupported.note('deliveries', version)
    this.inbox.receive(members, (answers) => reply(encodeFrame(version, answers)))
  }

  /** Steps a due timer once. */
  private enterDue({ shardId, address, dueAtMs }: DueActor): void {
    const { clock, random } = this.dependencies
    const incarnation = this.incarnations.get(shardId)
    const key = actorKey(address)
    if (incarnation?.phase !== 'serving' || incarnation.dueWaiting.has(key)) return
    if ((incarnation.parkedTimers.get(key)?.untilMs ?? 0) > clock.monotonic()) return
    incarnation.dueWaiting.add(key)
    const command = { type: 'due', dueAtMs, ...nextStamp(incarnation, clock.now(), random) } as const
    this.enter(new Pending({ kind: 'due' }, address, command, incarnation))
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

  /** The stored shard, if this incarnation still serves it; else undefined. */
  private async startOf({ token }: Incarnation): Promise<ShardStart | undefined> {
    const { store } = this.dependencies
    const start = await store.openShard(token.shardId)
    const record = (await store.shards()).find(({ shardId }) => shardId === token.shardId)
    return record?.epoch === token.epoch && record.attempt === token.attempt ? start : undefined
  }

  /** The last number sent to the target; undefined if another node has the shard. */
  private async sentTo(incarnation: Incarnation, target: number): Promise<number | undefined> {
    const start = await this.startOf(incarnation)
    return start && (start.channels.find((channel) => channel.target === target)?.sent ?? 0)
  }

  /** The last number consumed of the source; undefined if another node has the shard. */
  private async markOf(incarnation: Incarnation, source: number): Promise<number | undefined> {
    const start = await this.startOf(incarnation)
    return start && (start.marks.find((mark) => mark.source === source)?.mark ?? 0)
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
      log.warn('mailbox_given_up', { shard: incarnation.token.shardId, ...requestsFields(left) })
    leaveUndecided(left, 'shard_ended', this.dependencies)
  }

  /** Another node has the shard. */
  private fenced(incarnation: Incarnation, found: ShardRecord | undefined): void {
    const { log, metrics } = this.dependencies
    if (incarnation.phase === 'ended') return
    const { shardId, epoch } = incarnation.token
    log.warn('shard_fenced', { shard: shardId, epoch, found: found?.epoch })
    metrics?.moves('fenced', 1)
    this.end(incarnation)
  }

  /** Since the fault, the store has confirmed that this node owns the shard, so the command may be refused (I10). */
  private quarantine(incarnation: Incarnation, { stage, cause }: Fault, pending?: Pending): void {
    const { log, metrics } = this.dependencies
    const { shardId } = incarnation.token
    const named = pending === undefined ? {} : requestFields(pending)
    log.error('shard_quarantined', { ...named, shard: shardId, stage, cause })
    metrics?.moves('quarantined', 1)
    this.broken.add(shardId)
    const isRefused = pending !== undefined && isOfTheCommand(stage) && !mayHaveTakenEffect(pending)
    if (isRefused && incarnation.mailbox.has(pending)) {
      sendVerdicts([[pending, { kind: 'answered', answer: CANNOT_BE_PROCESSED }]])
      settle(pending)
    }
    this.end(incarnation)
  }

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
    const next = new Incarnation(token, start)
    if (old.lastIdMs >= next.lastIdMs) {
      next.lastIdMs = old.lastIdMs
      next.lastIdCounter = old.lastIdCounter
    }
    this.begin(next, start)
    const waiting = [...old.mailbox]
    old.mailbox.clear()
    for (const pending of waiting) {
      // Sources resend messages, and timers are queried again: added here, they would be out of order.
      if (pending.origin.kind !== 'request') {
        settle(pending)
        continue
      }
      letGo(pending)
      pending.earlier = undefined
      pending.incarnation = next
      next.mailbox.add(pending)
      this.lookUp(pending)
    }
  }
}
