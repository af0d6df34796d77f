/** Bodies of messages at NATS as tests read and write them: of this version and of the next (next-wire.ts). */
import type { Delivery, DeliveryAnswer, Item, ItemVerdict } from '../../runtime/protocol/messages.ts'
import {
  decodeFrame,
  decodeList,
  DELIVERIES,
  DELIVERY_ANSWERS,
  encodeFrame,
  ITEMS,
  type ListForm,
  VERDICTS,
  WIRE,
} from '../../runtime/protocol/wire.ts'
import { NEXT_VERSION } from './nats/next-wire.ts'

const ANY_VERSION = { reads: [...WIRE.reads, NEXT_VERSION] }

/** The members of a body; none if it is not a list. Several witnesses read one body: what was read last is kept. */
function reading<Member, Name>(form: ListForm<Member, Name>): (body: string) => readonly Member[] {
  let last: { readonly body: string; readonly members: readonly Member[] } | undefined
  return (body) => {
    if (last?.body !== body) last = { body, members: decodeList(body, form, ANY_VERSION)?.members ?? [] }
    return last.members
  }
}

export const itemsIn = reading(ITEMS)
export const verdictsIn = reading(VERDICTS)
export const deliveriesIn = reading(DELIVERIES)
export const deliveryAnswersIn = reading(DELIVERY_ANSWERS)

/** The content of a body that is not a list; undefined for an unread version. */
export function bodyIn(body: string): unknown {
  return decodeFrame(body, ANY_VERSION)?.body
}

function writing<Member>(): (members: readonly Member[], version?: number) => string {
  return (members, version = WIRE.writes) => encodeFrame(version, members)
}

export const itemsBody = writing<Item>()
export const verdictsBody = writing<ItemVerdict>()
export const deliveriesBody = writing<Delivery>()
export const deliveryAnswersBody = writing<DeliveryAnswer>()

/** A delivery to shard 0, of which nothing is known to be taken in. */
export function deliveryFrom(
  source: number,
  messages: Delivery['messages'],
  changes: Partial<Delivery> = {},
): Delivery {
  return { source, target: 0, epoch: 1, attempt: 0, began: 0, acknowledged: 0, messages, ...changes }
}
