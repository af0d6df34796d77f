/** How deliveries to one node are put into messages that the transport takes. */
import type { DeliveredMessage, Delivery } from '../../protocol/messages.ts'
import { ENVELOPE_BYTES, envelopeBytes } from '../shard/weights.ts'

/** As few messages as fit; what of a channel does not fit into one goes on in the next, in order. */
export function split(deliveries: readonly Delivery[], maxBytes: number): readonly (readonly Delivery[])[] {
  const messages: Delivery[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const delivery of deliveries) {
    let part: DeliveredMessage[] | undefined
    for (const message of delivery.messages) {
      const size = envelopeBytes(message.envelope)
      if (part === undefined || bytes + size > maxBytes) {
        if (bytes + ENVELOPE_BYTES + size > maxBytes) {
          messages.push([])
          bytes = 0
        }
        part = []
        messages.at(-1)?.push({ ...delivery, messages: part })
        bytes += ENVELOPE_BYTES
      }
      part.push(message)
      bytes += size
    }
  }
  return messages
}

/** The first and the second half of what it holds; the whole where that is one. */
export function halves(deliveries: readonly Delivery[]): readonly (readonly Delivery[])[] {
  const count = deliveries.reduce((sum, { messages }) => sum + messages.length, 0)
  if (count < 2) return [deliveries]
  const first: Delivery[] = []
  const second: Delivery[] = []
  let left = Math.floor(count / 2)
  for (const delivery of deliveries) {
    const { messages } = delivery
    if (left > 0) first.push({ ...delivery, messages: messages.slice(0, left) })
    if (left < messages.length) second.push({ ...delivery, messages: messages.slice(Math.max(0, left)) })
    left -= messages.length
  }
  return [first, second]
}
