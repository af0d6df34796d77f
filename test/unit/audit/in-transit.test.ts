/** Tests I4: a message in transit is counted only if this release reads it; any other is a finding. */
import { expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import type { Envelope } from '../../../actors/message.ts'
import { readUndelivered } from '../../../infra/audit/value-outside-accounts.ts'
import { PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { shardKeyName } from '../../../infra/vault/key-name.ts'
import { WRITES_NEXT } from '../../support/nats/next-wire.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'

const vault = sealingVault([shardKeyName(1)])
const envelope: Envelope = {
  to: accountAddress('a'),
  message: { type: 'conclude_supply', txnId: 't', failure: null },
  carries: [{ tokenId: 'T', quantity: '1' }],
}

test('messages of this version are read; others, and those without a version, are findings that name their row', async () => {
  const messages = [
    { version: 1, ...envelope },
    envelope,
    WRITES_NEXT.writeEnvelope(envelope),
    { version: 1, ...envelope, message: { type: 'unheard_of' } },
  ]
  const rows = messages.map((message, index) => ({
    shard_id: 1,
    target_shard: 2,
    number: String(index + 1),
    message: Buffer.from(vault.seal(shardKeyName(1), PLACES.message(1, 2, index + 1), JSON.stringify(message)), 'hex'),
  }))
  const read: unknown[] = []
  await readUndelivered(
    {
      vault,
      fetchKeys: () => Promise.resolve(),
      inBatches: (_text, _parameters, take) => take(rows as never),
    },
    (place, opened) => void read.push(opened.isOpen ? opened.value.carries : [place, opened.problem]),
  )
  const problem = (number: number) =>
    expect.stringContaining(`outbox 1 2 ${number}: this release does not read its version or type`)
  expect(read).toEqual([
    envelope.carries,
    ['message 2 from shard 1 to shard 2', problem(2)],
    ['message 3 from shard 1 to shard 2', problem(3)],
    ['message 4 from shard 1 to shard 2', problem(4)],
  ])
})
