/**
 * Checks the rows of messages between shards: each is accepted once, in order, and only after its commit (I3). A change
 * of an account without a client's request must follow from a message that its shard has just accepted.
 */
import type { ActorKind } from '../../../actors/address.ts'
import type { Envelope, Message } from '../../../actors/message.ts'
import type { ShardBatch, WrittenEnvelope } from '../../../runtime/ports/ledger-store.ts'
import { plainEnvelope } from '../../support/nats/next-wire.ts'

export type Demand = (holds: boolean, violation: string) => void

/** The messages that actors received in one commit, by ID. */
export class ReceivedMessages {
  private readonly byActor = new Map<string, Message[]>()

  add({ to, message }: Envelope): void {
    const at = `${to.kind} ${to.id}`
    const list = this.byActor.get(at)
    if (list === undefined) this.byActor.set(at, [message])
    else list.push(message)
  }

  of(kind: ActorKind, id: string): readonly Message[] {
    return this.byActor.get(`${kind} ${id}`) ?? []
  }
}

export class MessageChecker {
  private readonly demand: Demand
  /** Committed and not yet accepted, by source and target, by number. */
  private readonly underWay = new Map<string, Map<number, Envelope>>()
  private readonly marks = new Map<string, number>()

  constructor(demand: Demand) {
    this.demand = demand
  }

  /** Call before `sent` of the same commit: no shard can have accepted the messages that it sends. */
  takenIn({ token, marks }: ShardBatch): ReceivedMessages {
    const heard = new ReceivedMessages()
    for (const { source, mark } of marks) {
      const way = wayOf(source, token.shardId)
      const before = this.marks.get(way) ?? 0
      this.demand(mark > before, `I3: from ${way} ${mark} was taken in after ${before}`)
      for (let number = before + 1; number <= mark; number += 1) {
        const envelope = this.underWay.get(way)?.get(number)
        if (envelope === undefined) this.demand(false, `I3: from ${way} ${number} was taken in before it was committed`)
        else heard.add(envelope)
        this.underWay.get(way)?.delete(number)
      }
      this.marks.set(way, mark)
    }
    return heard
  }

  sent({ token, outbox }: ShardBatch): void {
    for (const { target, number, envelope } of outbox) {
      const way = wayOf(token.shardId, target)
      const mark = this.marks.get(way) ?? 0
      this.demand(number > mark, `I3: ${way} sends ${number} again, which was taken in: the message is lost`)
      const rows = this.underWay.get(way) ?? new Map<number, Envelope>()
      this.underWay.set(way, rows)
      this.demand(!rows.has(number), `I3: ${way} sends two messages as ${number}`)
      rows.set(number, plainEnvelope(JSON.parse(JSON.stringify(envelope)) as WrittenEnvelope))
    }
  }

  /** The number of committed messages that are not yet accepted. */
  waiting(): number {
    let sum = 0
    for (const rows of this.underWay.values()) sum += rows.size
    return sum
  }
}

function wayOf(source: number, target: number): string {
  return `shard ${source} to ${target}`
}

/** Whether the message matches the cause that the ledger's own transaction names. */
export function causes(message: Message, cause: string): boolean {
  switch (message.type) {
    case 'receive_transfer':
      return cause === `transfer ${message.txnId}`
    case 'pay_capture':
      return cause === `capture ${message.txnId}`
    case 'receive_nft':
      return cause === `nft ${message.txnId}`
    case 'credit_issue':
      return cause === `issue ${message.tokenId}`
    case 'credit_leg':
      return cause === `leg ${message.groupId} ${message.leg} ${message.counterTxnId}`
    case 'revert_leg':
      return cause.startsWith(`revert ${message.groupId} ${message.leg} ${message.role} txn_`)
    case 'nft_released':
      return message.leg !== null && cause.startsWith(`revert ${message.leg.groupId} ${message.leg.leg} own txn_`)
    case 'compensate':
      return cause.startsWith(`compensate ${message.compensates} `)
    default:
      return false
  }
}
