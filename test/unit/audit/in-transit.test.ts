/** Goal: I4: a message in transit is counted only if this release reads it; any other is a finding. */
import { expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import type { Envelope } from '../../../actors/message.ts'
import { readUndelivered } from '../../../infra/audit/in-transit.ts'
import { WRITES_NEXT } from '../../support/next-wire.ts'
import { PLAIN_VAULT } from '../../support/row-vaults.ts'

const envelope: Envelope = {
  to: accountAddress('a'),
  message: { type: 'conclude_supply', txnId: 't', failure: null },
  carries: [{ tokenId: 'T', quantity: '1' }],
}

test('messages of this version and without a version are read; others are findings that name their row', async () => {
  const messages = [
    envelope,
    { version: 1, ...envelope },
    WRITES_NEXT.writeEnvelope(envelope),
    { ...envelope, message: { type: 'unheard_of' } },
  ]
  const rows = messages.map((message, index) => ({
    shard_id: 1,
    target_shard: 2,
    number: String(index + 1),
    message: Buffer.from(JSON.stringify(message)),
  }))
  const read: unknown[] = []
  await readUndelivered(
    {
      vault: PLAIN_VAULT,
      fetchKeys: () => Promise.resolve(),
      inBatches: (_text, _parameters, take) => take(rows as never),
    },
    (place, opened) => void read.push(opened.isOpen ? opened.value.carries : [place, opened.problem]),
  )
  const problem = (number: number) =>
    expect.stringContaining(`outbox 1 2 ${number}: this release does not read its version or type`)
  expect(read).toEqual([
    envelope.carries,
    envelope.carries,
    ['message 3 from shard 1 to shard 2', problem(3)],
    ['message 4 from shard 1 to shard 2', problem(4)],
  ])
})
