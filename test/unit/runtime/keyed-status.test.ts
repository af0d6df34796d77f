/** Goal: a change of status under a header key takes effect once, for any outcome of its commit (D7). */
import { expect, test } from 'vitest'
import type { Operation } from '../../../runtime/messages.ts'
import { answersOf, hosting, register } from '../../support/shard-hosting.ts'

const change = (status: 'frozen' | 'active', registrationKey: string | null): Operation => ({
  kind: 'change_status',
  status,
  incoming: null,
  reason: 'r',
  registrationKey,
})

test('D7: under a key, a request that changes nothing has no effect when replayed after other changes', async () => {
  const { clock, batches, verdicts, item, send } = hosting([0])
  const orders = [change('active', 'k'), change('frozen', null), change('active', 'k'), change('frozen', null)]
  send(item(0, 'a', register))
  await clock.pass(10)
  for (const order of orders) {
    send(item(0, 'a', order))
    await clock.pass(50)
  }
  expect(answersOf(verdicts).slice(1)).toMatchObject([
    { account: { status: 'active', sequence: 0 } },
    { account: { status: 'frozen', sequence: 1 } },
    { account: { status: 'active', sequence: 0 } },
    { account: { status: 'frozen', sequence: 1 } },
  ])
  const entries = batches.flatMap(({ shards }) => shards.flatMap((shard) => shard.entries))
  expect(entries.map(({ sequence }) => sequence)).toEqual([0, 1])
})
