/** O6: owners repeat the hints that a lease store lost. */
import { expect, test } from 'vitest'
import { RENEW_MS, startNode } from '../node-fixture.ts'

test('a node whose key is not as it wrote it says anew where its shards are', async () => {
  const { clock, world, hints } = await startNode()
  await clock.pass(5 * RENEW_MS)
  expect(hints.map(({ shardId }) => shardId)).toEqual([0, 1, 2])
  const first = [...hints]
  world.renew = 'conflict'
  await clock.pass(RENEW_MS)
  expect(hints.slice(3)).toEqual(first)
  world.renew = 'good'
  await clock.pass(5 * RENEW_MS)
  expect(hints).toHaveLength(6)
})

test('it reports nothing for a shard that has another owner by now', async () => {
  const { clock, world, hints, ledger } = await startNode()
  ledger.give(1, 'another')
  await clock.pass(3_000)
  world.renew = 'conflict'
  await clock.pass(RENEW_MS)
  expect(hints.slice(3).map(({ shardId }) => shardId)).toEqual([0, 2])
})
