/**
 * Messages between shards as the rows tell of them: each is taken in once, in order, and only after it was committed
 * (I3). What takes effect on an account without its client must be in what its shard has just taken in.
 */
import type { ActorKind } from '../../actors/address.ts'
import type { Envelope, Message } from '../../actors/message.ts'
import type { ShardBatch, WrittenEnvelope } from '../../runtime/ports/ledger-store.ts'
import { plainEnvelope } from '../support/next-wire.ts'

export type Demand = (holds: boolean, violation: string) => void

/** What actors heard in one commit, by ID. */
export class Heard {
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
  /** Committed and not taken in, by source and target, by number. */
  private readonly underWay = new Map<string, Map<number, Envelope>>()
  private readonly marks = new Map<string, number>()

  constructor(demand: Demand) {
    this.demand = demand
  }

  /** Before `sent` of the same commit: what it sends nobody can have taken in. */
  takenIn({ token, marks }: ShardBatch): Heard {
    const heard = new Heard()
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

  /** How many are committed and not taken in. */
  waiting(): number {
    let sum = 0
    for (const rows of this.underWay.values()) sum += rows.size
    return sum
  }
}

function wayOf(source: number, target: number): string {
  return `shard ${source} to ${target}`
}

/** Whether the message is what the ledger's own transaction says that it follows from. */
export function causes(message: Message, cause: string): boolean {
  switch (message.type) {
    case 'receive_transfer':
      return cause === `transfer ${message.txnId}`
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
