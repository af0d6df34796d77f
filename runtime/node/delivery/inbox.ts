/**
 * Receives messages from other shards: in order, each number once.
 *   R1. A message enters the mailbox if it follows the last one that entered; earlier ones are duplicates, and after a
 *       gap the source resends.
 *   R2. A message is acknowledged, with all before it, when the batch that consumed it is committed.
 *   R3. Requests cannot fill the space for messages: at most a window of each source is in flight.
 *   R4. A source's acknowledgement beyond the mark here, or a start below what it had sent before, means that a store
 *       was rewound, or that the shard has another owner. The store tells which; if it was rewound, the channel stops.
 *   R5. A message that cannot be handled parks its channel: the target consumes neither that message nor a later one of
 *       that source, and its mark stays, so that no message is lost. The source resends that message to the current
 *       owner of the target, which tries it once per delivery. Other channels and requests continue.
 */
import type { AnyCommand } from '../../../actors/step-actor.ts'
import type { Envelope } from '../../../actors/message.ts'
import { appendTo } from '../../common/append-to.ts'
import type { SpanName } from '../../ports/trail.ts'
import type { Delivery, DeliveryAnswer } from '../../protocol/messages.ts'
import { unreadCause } from '../../protocol/wire.ts'
import type { ShardDraft } from '../shard/draft.ts'
import { type Fault, faultOf } from '../recovery/containment.ts'
import type { ShardRecovery } from '../recovery/shard-recovery.ts'
import { type Incarnation, nextStamp } from '../shard/incarnation.ts'
import type { NodeContext } from '../shard/node-context.ts'
import { type Origin, Pending, settle } from '../shard/pending-command.ts'

export type DeliveryReply = (answers: readonly DeliveryAnswer[]) => void

export interface InboxDependencies extends Pick<
  NodeContext,
  'clock' | 'random' | 'log' | 'rare' | 'wire' | 'inboxOrder' | 'spans'
> {
  readonly find: (shardId: number) => Incarnation | undefined
  readonly enter: (pending: Pending) => void
  readonly confirmed: ShardRecovery['confirmed']
  /** Stored high-water mark of a served shard for a source; undefined when another node serves it. */
  readonly markOf: (incarnation: Incarnation, source: number) => Promise<number | undefined>
}

/** State of one source of messages. */
interface Contact {
  /** Receiver of acknowledgements: the sender of the last delivery. */
  reply: DeliveryReply
  /** The latest known incarnation of the source. */
  epoch: number
  attempt: number
  /** The last number that entered here, in this incarnation of the target. */
  taken: number
  /** The channel is stopped (R4). */
  stopped: boolean
}

export class Inbox {
  private readonly dependencies: InboxDependencies
  /** By target and source. */
  private readonly contacts = new Map<Incarnation, Map<number, Contact>>()

  constructor(dependencies: InboxDependencies) {
    this.dependencies = dependencies
  }

  receive(deliveries: readonly Delivery[], reply: DeliveryReply): void {
    const answers: DeliveryAnswer[] = []
    for (const delivery of deliveries) {
      const answer = this.takeIn(delivery, reply)
      if (answer !== undefined) answers.push(answer)
    }
    if (answers.length > 0) reply(answers)
  }

  /** R2. */
  committed(parts: readonly Pick<ShardDraft, 'incarnation' | 'marks'>[]): void {
    const byReply = new Map<DeliveryReply, DeliveryAnswer[]>()
    for (const { incarnation, marks } of parts) {
      const contacts = this.contacts.get(incarnation)
      const target = incarnation.token.shardId
      for (const [source, mark] of marks) {
        incarnation.marks.set(source, mark)
        this.resume(incarnation, source, mark)
        const reply = contacts?.get(source)?.reply
        if (reply === undefined) continue
        appendTo(byReply, reply, { source, target, kind: 'taken', mark })
      }
    }
    if (byReply.size === 0) return
    if (this.dependencies.rare.takes('delivery_not_acknowledged')) return
    for (const [reply, list] of byReply) reply(list)
  }

  close(incarnation: Incarnation): void {
    this.contacts.delete(incarnation)
  }

  /** R5. `number`: of the message that cannot be handled; all before it are handled or in flight. */
  park(
    incarnation: Incarnation,
    source: number,
    number: number,
    { stage, cause }: Pick<Fault, 'stage' | 'cause'>,
  ): void {
    const { parkedChannels, mailbox, entered, marks } = incarnation
    const target = incarnation.token.shardId
    for (const pending of mailbox) {
      const { origin } = pending
      if (origin.kind === 'message' && origin.source === source && origin.number >= number) settle(pending)
    }
    entered.set(source, number - 1)
    // A retry that fails again is the same fault.
    if (parkedChannels.get(source) !== number) {
      parkedChannels.set(source, number)
      void this.dependencies.confirmed(incarnation, () => {
        if (parkedChannels.get(source) !== number) return
        this.dependencies.log.error('channel_parked', { shard: target, source, message: number, stage, cause })
      })
    }
    const mark = marks.get(source) ?? 0
    this.contacts
      .get(incarnation)
      ?.get(source)
      ?.reply([{ source, target, kind: 'parked', mark }])
  }

  private resume({ parkedChannels, token }: Incarnation, source: number, mark: number): void {
    const number = parkedChannels.get(source)
    if (number === undefined || number > mark) return
    parkedChannels.delete(source)
    this.dependencies.log.info('channel_resumed', { shard: token.shardId, source, message: number })
  }

  /** R4. */
  private async verifyDelivery(
    incarnation: Incarnation,
    source: number,
    contact: Contact,
    contradicts: (mark: number) => boolean,
  ): Promise<void> {
    const { markOf, log } = this.dependencies
    const mark = await markOf(incarnation, source).catch(() => undefined)
    if (mark === undefined || !contradicts(mark) || incarnation.phase === 'ended') return
    contact.stopped = true
    log.error('channel_stopped', { shard: incarnation.token.shardId, source, mark })
  }

  private takeIn(delivery: Delivery, reply: DeliveryReply): DeliveryAnswer | undefined {
    const { source, target, epoch, attempt, began, acknowledged, messages } = delivery
    const { find, rare } = this.dependencies
    const incarnation = find(target)
    const takes = incarnation !== undefined && incarnation.phase !== 'draining' && !rare.takes('delivery_turned_away')
    if (!takes) return { source, target, kind: 'moved', mark: 0 }
    // A suspended incarnation consumes nothing: the source resends everything to the one that replaces it.
    if (incarnation.phase === 'suspended') return undefined
    const mark = incarnation.marks.get(source) ?? 0
    const contact = this.contactOf(incarnation, delivery, reply)
    const isNew = epoch > contact.epoch || (epoch === contact.epoch && attempt > contact.attempt)
    if (contact.stopped) return { source, target, kind: 'stopped', mark }
    // A message that entered here earlier was sent before this incarnation of the source began, so its `began` must
    // include it. Computed now: messages that enter during the query to the store were sent since.
    const overtaken = isNew && contact.taken > began
    const contradicts = (known: number): boolean => acknowledged > known || overtaken
    if (contradicts(mark)) {
      void this.verifyDelivery(incarnation, source, contact, contradicts)
      return { source, target, kind: 'moved', mark }
    }
    contact.reply = reply
    if (isNew) Object.assign(contact, { epoch, attempt })
    const { inboxOrder: order, wire } = this.dependencies
    let entered = incarnation.entered.get(source) ?? 0
    for (const { number, envelope, trace } of messages) {
      if (!order.isNext(entered, number)) continue
      try {
        const read = wire.readEnvelope(envelope)
        if (read === undefined) {
          this.park(incarnation, source, number, { stage: 'delivery', cause: unreadCause(envelope) })
          return undefined
        }
        entered = number
        contact.taken = number
        incarnation.entered.set(source, number)
        this.enter(incarnation, { kind: 'message', source, number }, read, trace)
      } catch (error) {
        this.park(incarnation, source, number, faultOf('delivery', error))
        return undefined
      }
    }
    // Messages that are committed here and not yet acknowledged.
    return mark > acknowledged ? { source, target, kind: 'taken', mark } : undefined
  }

  private contactOf(incarnation: Incarnation, { source, epoch, attempt }: Delivery, reply: DeliveryReply): Contact {
    const contacts = this.contacts.get(incarnation) ?? new Map<number, Contact>()
    this.contacts.set(incarnation, contacts)
    const contact = contacts.get(source) ?? { reply, epoch, attempt, taken: 0, stopped: false }
    contacts.set(source, contact)
    return contact
  }

  private enter(
    incarnation: Incarnation,
    origin: Origin,
    { to, message }: Envelope,
    delivery: SpanName | undefined,
  ): void {
    const { clock, random, spans } = this.dependencies
    const stamp = nextStamp(incarnation, clock.now(), random)
    const { shardId } = incarnation.token
    // An object literal that begins with a spread would take ten microseconds (V8).
    const command: AnyCommand = Object.assign(
      {},
      message,
      stamp,
      to.kind === 'account' ? { accountId: to.id, shardId } : undefined,
    )
    this.dependencies.enter(new Pending(origin, to, command, incarnation, spans?.ofMessage(delivery)))
  }
}
