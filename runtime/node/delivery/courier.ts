/**
 * Delivers committed messages of this node's shards to the owners of their targets, until those have committed them.
 *   V1. The courier carries only committed rows, also to shards of this node: no shard decides on uncommitted state.
 *   V2. At most `WINDOW` messages per (source, target) are in flight; the others wait in the outbox.
 *   V3. The owner of the source resends unacknowledged messages, with back-off.
 *   V4. An acknowledgement beyond the last number sent means that a store was rewound, or that the shard has another
 *       owner. The store tells which; if it was rewound, the channel stops.
 *   V5. Messages are built only for a target with a known owner. A channel without one is checked at growing intervals,
 *       and at once when a shard gets an owner.
 *   V6. A channel is parked if the target cannot handle its next message, or the transport rejects that message. The
 *       channel carries that message alone, every `PARKED_RETRY_MS` and when a shard gets an owner, until the target
 *       has consumed it.
 */
import { appendTo } from '../../common/append-to.ts'
import type { Timer } from '../../ports/clock.ts'
import type { AcknowledgedChannel, LedgerStore, OutboxMessage, ShardStart } from '../../ports/ledger-store.ts'
import { NOT_DELIVERED } from '../../ports/transport.ts'
import { type DeliveredMessage, type Delivery, type DeliveryAnswer, deliverySubject } from '../../protocol/messages.ts'
import type { Route } from '../../routing/routes.ts'
import { decodeList, DELIVERY_ANSWERS, encodeFrame, UNSUPPORTED_VERSION } from '../../protocol/wire.ts'
import { reasonOf } from '../../common/reason.ts'
import { PARKED_RETRY_MS } from '../recovery/containment.ts'
import { halves, split } from './delivery-parts.ts'
import type { DeliverySpan } from '../shard/command-span.ts'
import type { Incarnation } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'

export interface CourierDependencies extends Pick<
  NodeContext,
  'session' | 'transport' | 'wire' | 'clock' | 'log' | 'rare' | 'spans'
> {
  readonly store: Pick<LedgerStore, 'acknowledge'>
  readonly routes: {
    readonly find: (shardId: number) => Pick<Route, 'session'> | undefined
    readonly refresh: () => Promise<void>
    readonly onMove: (run: () => void) => void
  }
  /** Stored counters of a served shard's messages to a target; undefined when another node serves it. */
  readonly sentTo: (incarnation: Incarnation, target: number) => Promise<number | undefined>
  /** Handles deliveries to shards of this node. */
  readonly deliverHere: (deliveries: readonly Delivery[], answer: (answers: readonly DeliveryAnswer[]) => void) => void
}

/** V2. */
export const WINDOW = 256
const FIRST_RESEND_MS = 250
const LAST_RESEND_MS = 5_000
/** Part of the resend delay: a refused message is not lost, so it is resent sooner. */
const TURNED_AWAY_SHARE = 0.2
const TICK_MS = 50
/** Interval of saving acknowledgements in the store: another owner may resend messages acknowledged since. */
export const SAVE_MS = 60_000
/** Time in which replies to one message are accepted. */
const ANSWERS_MS = 10_000
/** The share of the transport's bound that one message to a node may use. */
const MESSAGE_SHARE = 0.5

/** Committed, unacknowledged messages, and those of them that are not in flight. */
export interface CourierMeasures {
  readonly unacknowledged: number
  readonly unsent: number
}

/** `span`: of its delivery; absent: its trace is not recorded. */
export interface LeavingMessage extends OutboxMessage {
  readonly span?: DeliverySpan
}

interface Outgoing {
  readonly incarnation: Incarnation
  readonly channels: Map<number, Channel>
}

class Channel {
  readonly incarnation: Incarnation
  readonly target: number
  /** Committed and not acknowledged, in order. */
  readonly waiting: LeavingMessage[] = []
  acknowledged: number
  /** The last number that is in flight. */
  carried: number
  resendMs = FIRST_RESEND_MS
  dueMs = 0
  stopped = false
  /** V6. */
  parked = false
  /** The number of the last message that the transport rejected; 0: none. */
  unsent = 0

  constructor(incarnation: Incarnation, target: number, acknowledged: number) {
    this.incarnation = incarnation
    this.target = target
    this.acknowledged = acknowledged
    this.carried = acknowledged
  }
}

export class Courier {
  private readonly dependencies: CourierDependencies
  /** By source shard. */
  private readonly outgoing = new Map<number, Outgoing>()
  /** Channels with something to carry. */
  private readonly ready = new Set<Channel>()
  /** Channels to deliver again at their `dueMs`; those with nothing in flight are paused until then (V5, V6). */
  private readonly underWay = new Set<Channel>()
  private readonly unsavedAcknowledgements = new Map<string, AcknowledgedChannel>()
  private flushing = false
  /** Whether a shard has got an owner since the last flush. */
  private moved = false
  private timer: Timer | undefined
  /** Due time of the timer. */
  private tickMs = 0
  private savedMs: number
  private stopped = false

  constructor(dependencies: CourierDependencies) {
    this.dependencies = dependencies
    this.savedMs = dependencies.clock.monotonic()
    dependencies.routes.onMove(() => {
      this.moved = true
      this.flushSoon()
    })
  }

  stop(): void {
    this.stopped = true
    this.timer?.cancel()
  }

  /** Committed, unacknowledged messages of the shard to that target. */
  backlog({ token }: Incarnation, target: number): number {
    return this.outgoing.get(token.shardId)?.channels.get(target)?.waiting.length ?? 0
  }

  measures(): CourierMeasures {
    let [unacknowledged, unsent] = [0, 0]
    for (const { channels } of this.outgoing.values()) {
      for (const { waiting, carried, acknowledged } of channels.values()) {
        unacknowledged += waiting.length
        unsent += waiting.length - (carried - acknowledged)
      }
    }
    return { unacknowledged, unsent }
  }

  /**
   * Continues where the shard's last owner ended. Counters and messages were read one after the other, and
   * acknowledgements may have been saved in between: the first remaining message and the acknowledged number follow
   * from both.
   */
  open(incarnation: Incarnation, { channels, outbox }: ShardStart): void {
    const first = new Map<number, number>()
    for (const { target, number } of outbox) if (!first.has(target)) first.set(target, number)
    const acknowledged = new Map<number, number>()
    for (const channel of channels) {
      const { target, sent } = channel
      acknowledged.set(target, Math.max(channel.acknowledged, (first.get(target) ?? sent + 1) - 1))
      this.channelOf(incarnation, target, acknowledged.get(target) ?? 0)
    }
    this.take(
      incarnation,
      outbox.filter(({ target, number }) => number > (acknowledged.get(target) ?? 0)),
    )
  }

  /** Committed rows, in order. */
  take(incarnation: Incarnation, messages: readonly LeavingMessage[]): void {
    // An ended incarnation's later commits are in the outbox that its successor reads.
    if (incarnation.phase === 'ended' || messages.length === 0) return
    for (const message of messages) {
      const channel = this.channelOf(incarnation, message.target, message.number - 1)
      channel.waiting.push(message)
      if (!this.isPaused(channel)) this.ready.add(channel)
    }
    this.flushSoon()
  }

  /** The shard is now another node's, or served in another incarnation. */
  close(incarnation: Incarnation): void {
    const { shardId } = incarnation.token
    const outgoing = this.outgoing.get(shardId)
    if (outgoing?.incarnation !== incarnation) return
    for (const channel of outgoing.channels.values()) {
      this.ready.delete(channel)
      this.underWay.delete(channel)
    }
    this.outgoing.delete(shardId)
  }

  private channelOf(incarnation: Incarnation, target: number, acknowledged: number): Channel {
    const { shardId } = incarnation.token
    let outgoing = this.outgoing.get(shardId)
    if (outgoing?.incarnation !== incarnation) {
      outgoing = { incarnation, channels: new Map() }
      this.outgoing.set(shardId, outgoing)
    }
    const { channels } = outgoing
    const known = channels.get(target)
    if (known !== undefined) return known
    const channel = new Channel(incarnation, target, acknowledged)
    channels.set(target, channel)
    return channel
  }

  private flushSoon(): void {
    if (this.stopped || this.flushing || (this.ready.size === 0 && !this.moved)) return
    this.flushing = true
    this.dependencies.clock.after(0, () => {
      this.flushing = false
      this.flush()
    })
  }

  private flush(): void {
    const { routes, session, clock, transport, rare, deliverHere } = this.dependencies
    const nowMs = clock.monotonic()
    const bySession = new Map<string, Delivery[]>()
    if (this.moved) this.wake()
    for (const channel of this.ready) {
      this.ready.delete(channel)
      const route = routes.find(channel.target)
      if (route === undefined) {
        this.pause(channel, channel.resendMs * TURNED_AWAY_SHARE)
        continue
      }
      const delivery = this.load(channel)
      if (delivery === undefined) continue
      channel.carried = delivery.messages.at(-1)?.number ?? channel.carried
      // A later message must not delay the resending of an earlier one.
      if (!this.underWay.has(channel)) channel.dueMs = nowMs + channel.resendMs
      this.underWay.add(channel)
      appendTo(bySession, route.session, delivery)
    }
    for (const [owner, deliveries] of bySession) {
      if (owner === session) {
        deliverHere(deliveries, (answers) => this.onAcknowledgements(answers))
        continue
      }
      const maxBytes = rare.takes('carried_one_by_one') ? 0 : transport.maxMessageBytes() * MESSAGE_SHARE
      for (const message of split(deliveries, maxBytes)) this.request(owner, message)
    }
    this.tickSoon()
  }

  /** Sends no more of the channel for `durationMs`, unless messages are in flight. */
  private pause(channel: Channel, durationMs: number): void {
    if (this.underWay.has(channel)) return
    channel.dueMs = this.dependencies.clock.monotonic() + durationMs
    this.underWay.add(channel)
  }

  private isPaused(channel: Channel): boolean {
    return this.underWay.has(channel) && channel.carried === channel.acknowledged
  }

  /** V5: the targets of paused channels may have owners now. */
  private wake(): void {
    this.moved = false
    for (const channel of this.underWay) {
      if (!this.isPaused(channel)) continue
      channel.resendMs = FIRST_RESEND_MS
      this.underWay.delete(channel)
      this.ready.add(channel)
    }
  }

  /** V2: the next messages to send; undefined if none. */
  private load(channel: Channel): Delivery | undefined {
    const { incarnation, target, waiting, acknowledged, carried, stopped, parked } = channel
    const window = this.dependencies.rare.takes('window_of_one') || parked ? 1 : WINDOW
    if (stopped || incarnation.phase === 'ended') return undefined
    const messages = waiting.slice(carried - acknowledged, window).map(deliveredOf)
    if (messages.length === 0) return undefined
    const { shardId: source, epoch, attempt } = incarnation.token
    const began = incarnation.began.get(target) ?? 0
    return { source, target, epoch, attempt, began, acknowledged, messages }
  }

  /** Splits a message that the transport rejects as too large. */
  private request(session: string, message: readonly Delivery[]): void {
    const { transport, wire } = this.dependencies
    // Replies are accepted for long: keep the channels for that, not the messages.
    const channels = message.map(({ source, target }) => ({ source, target }))
    try {
      transport.request(deliverySubject(session), encodeFrame(wire.writes, message), ANSWERS_MS, (reply) => {
        if (reply === NOT_DELIVERED) this.sendLater(channels)
        else if (reply === UNSUPPORTED_VERSION) this.parkAll(channels)
        else this.onAcknowledgements(decodeList(reply, DELIVERY_ANSWERS, wire)?.members ?? [])
      })
    } catch (error) {
      const parts = halves(message)
      if (parts.length > 1) for (const part of parts) this.request(session, part)
      else for (const delivery of message) this.parkUnsent(delivery, error)
    }
  }

  /** V6: the transport rejects this single message. */
  private parkUnsent({ source, target, messages: [first] }: Delivery, error: unknown): void {
    const channel = this.find(source, target)
    if (channel === undefined || first === undefined) return
    const { number } = first
    if (channel.unsent !== number) {
      const fault = { shard: source, target, message: number, cause: reasonOf(error) }
      this.dependencies.log.error('message_not_sent', fault)
    }
    channel.unsent = number
    this.park(channel, channel.acknowledged)
  }

  /** The shard has moved: looks up its owner and sends again, after a growing delay. */
  private sendLater(deliveries: readonly Pick<Delivery, 'source' | 'target'>[]): void {
    void this.dependencies.routes.refresh()
    const nowMs = this.dependencies.clock.monotonic()
    for (const { source, target } of deliveries) {
      const channel = this.find(source, target)
      if (channel !== undefined) channel.dueMs = Math.min(channel.dueMs, nowMs + channel.resendMs * TURNED_AWAY_SHARE)
    }
  }

  private find(source: number, target: number): Channel | undefined {
    return this.outgoing.get(source)?.channels.get(target)
  }

  private onAcknowledgements(answers: readonly DeliveryAnswer[]): void {
    for (const answer of answers) {
      const channel = this.find(answer.source, answer.target)
      if (channel === undefined) continue
      if (answer.kind === 'moved') this.sendLater([answer])
      else if (answer.kind === 'stopped') this.halt(channel, answer.mark)
      else if (answer.kind === 'parked') this.park(channel, answer.mark)
      else this.acknowledge(channel, answer.mark)
    }
    this.flushSoon()
    this.tickSoon()
  }

  private acknowledge(channel: Channel, mark: number): void {
    const { incarnation, target } = channel
    const { shardId } = incarnation.token
    if (mark > (incarnation.sent.get(target) ?? 0)) {
      void this.verifyAcknowledgement(channel, mark)
      return
    }
    if (mark <= channel.acknowledged) return
    const taken = channel.waiting.splice(0, mark - channel.acknowledged)
    this.dependencies.spans?.delivered(taken.flatMap(({ span }) => span ?? []))
    channel.acknowledged = mark
    channel.carried = Math.max(channel.carried, mark)
    channel.parked = false
    channel.resendMs = FIRST_RESEND_MS
    channel.dueMs = this.dependencies.clock.monotonic() + channel.resendMs
    this.unsavedAcknowledgements.set(`${shardId} ${target}`, { shardId, target, acknowledged: mark })
    if (channel.carried === mark) this.underWay.delete(channel)
    if (channel.waiting.length > channel.carried - mark) this.ready.add(channel)
  }

  /** V6. The target has consumed all messages before the parked one. */
  private park(channel: Channel, mark: number): void {
    this.acknowledge(channel, mark)
    channel.parked = true
    channel.carried = channel.acknowledged
    this.ready.delete(channel)
    this.underWay.delete(channel)
    this.pause(channel, PARKED_RETRY_MS)
  }

  private parkAll(channels: readonly Pick<Delivery, 'source' | 'target'>[]): void {
    for (const { source, target } of channels) {
      const channel = this.find(source, target)
      if (channel !== undefined) this.park(channel, channel.acknowledged)
    }
    this.tickSoon()
  }

  /** V4. */
  private async verifyAcknowledgement(channel: Channel, mark: number): Promise<void> {
    const { incarnation, target } = channel
    const sent = await this.dependencies.sentTo(incarnation, target).catch(() => undefined)
    if (sent !== undefined && sent < mark) this.halt(channel, mark)
  }

  private halt(channel: Channel, mark: number): void {
    if (channel.stopped) return
    channel.stopped = true
    this.ready.delete(channel)
    this.underWay.delete(channel)
    const { incarnation, target } = channel
    this.dependencies.log.error('channel_stopped', {
      shard: incarnation.token.shardId,
      target,
      sent: incarnation.sent.get(target) ?? 0,
      acknowledged: channel.acknowledged,
      mark,
    })
  }

  /** Schedules a tick only if a channel needs one, and no sooner than needed. */
  private tickSoon(): void {
    const { clock } = this.dependencies
    const carrying = this.ready.size > 0 || this.underWay.size > 0
    if (this.stopped || (!carrying && this.unsavedAcknowledgements.size === 0)) return
    const nowMs = clock.monotonic()
    const atMs = nowMs + (carrying ? TICK_MS : Math.max(TICK_MS, this.savedMs + SAVE_MS - nowMs))
    if (this.timer !== undefined && this.tickMs <= atMs) return
    this.timer?.cancel()
    this.tickMs = atMs
    this.timer = clock.after(atMs - nowMs, () => {
      this.timer = undefined
      this.tick()
    })
  }

  private tick(): void {
    if (this.stopped) return
    const nowMs = this.dependencies.clock.monotonic()
    for (const channel of this.underWay) {
      if (channel.dueMs > nowMs && !this.dependencies.rare.takes('carried_again')) continue
      // Resends all unacknowledged messages: the target recognizes duplicates by number.
      channel.carried = channel.acknowledged
      channel.resendMs = Math.min(channel.resendMs * 2, LAST_RESEND_MS)
      this.underWay.delete(channel)
      this.ready.add(channel)
    }
    this.flushSoon()
    if (nowMs - this.savedMs >= SAVE_MS) this.saveAcknowledgements(nowMs)
    this.tickSoon()
  }

  private saveAcknowledgements(nowMs: number): void {
    this.savedMs = nowMs
    if (this.unsavedAcknowledgements.size === 0) return
    const channels = [...this.unsavedAcknowledgements.values()]
    this.unsavedAcknowledgements.clear()
    this.dependencies.store.acknowledge(channels).catch(() => {
      // Acknowledgements only grow: keep a later one.
      for (const channel of channels) {
        const key = `${channel.shardId} ${channel.target}`
        if (!this.unsavedAcknowledgements.has(key)) this.unsavedAcknowledgements.set(key, channel)
      }
      this.tickSoon()
    })
  }
}

function deliveredOf({ number, envelope, span }: LeavingMessage): DeliveredMessage {
  if (span === undefined) return { number, envelope }
  return { number, envelope, trace: { traceId: span.traceId, spanId: span.spanId } }
}
