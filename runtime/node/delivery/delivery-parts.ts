/** Splits deliveries to one node into messages within the transport's limit. */
import type { DeliveredMessage, Delivery } from '../../protocol/messages.ts'
import { ENVELOPE_BYTES, envelopeBytes } from '../shard/weights.ts'

/** Uses few messages; a channel that does not fit into one continues in the next, in order. */
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

/** Both halves of the messages; a single message stays whole. */
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
