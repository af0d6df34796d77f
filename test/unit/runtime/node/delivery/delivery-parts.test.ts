/** Deliveries in few messages, none of them too large for the transport. */
import { expect, test } from 'vitest'
import type { Delivery } from '../../../../../runtime/protocol/messages.ts'
import { split } from '../../../../../runtime/node/delivery/delivery-parts.ts'
import { ENVELOPE_BYTES, envelopeBytes } from '../../../../../runtime/node/shard/weights.ts'
import { messages, SOURCE, TARGET } from './courier-fixture.ts'

const SENT = messages(1, 3, TARGET, 5_000)
const DELIVERY: Delivery = {
  source: SOURCE,
  target: TARGET,
  epoch: 1,
  attempt: 0,
  began: 1,
  acknowledged: 0,
  messages: SENT,
}
const SIZE = ENVELOPE_BYTES + SENT.reduce((sum, { envelope }) => sum + envelopeBytes(envelope), 0)

function numbersIn(parts: readonly (readonly Delivery[])[]): readonly (readonly number[])[] {
  return parts.map((part) => part.flatMap((delivery) => delivery.messages.map(({ number }) => number)))
}

test('a channel that just fits is one message; one byte less makes it two, in order', () => {
  expect(numbersIn(split([DELIVERY], SIZE))).toEqual([[1, 2, 3]])
  expect(numbersIn(split([DELIVERY], SIZE - 1))).toEqual([[1, 2], [3]])
})
