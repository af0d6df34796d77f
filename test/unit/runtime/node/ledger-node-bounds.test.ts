/** Default limits of a node: actors in memory, for any number of shards, and waiting requests. */
import { expect, test } from 'vitest'
import { actorsPerShardOf, NODE_DEFAULTS } from '../../../../runtime/node/ledger-node.ts'
import { sessionSubject } from '../../../../runtime/protocol/messages.ts'
import { itemsBody, verdictsIn } from '../../../support/bodies.ts'
import { item, kinds, register } from '../../../support/shard-hosting.ts'
import { startNode } from './node-fixture.ts'

test('a node that owns every shard keeps as many actors, however many shards there are', () => {
  expect(actorsPerShardOf(256)).toBe(NODE_DEFAULTS.maxResidents)
  const all = [1, 16, 256, 1_024].map((shards) => shards * actorsPerShardOf(shards))
  expect(new Set(all)).toEqual(new Set([256 * NODE_DEFAULTS.maxResidents]))
  expect(actorsPerShardOf(60_000)).toBe(1)
})

test('with default settings, requests beyond the limit of one actor are overloaded at once', async () => {
  const { maxActorMailbox } = NODE_DEFAULTS
  expect(maxActorMailbox).toBeLessThan(10_000)
  const { clock, ledger } = await startNode()
  ledger.control.commit = () => new Promise(() => undefined)
  const replies: string[] = []
  const requests = Array.from({ length: maxActorMailbox + 3 }, () => item(0, 'a', register))
  ledger.handlers.get(sessionSubject('s'))?.(itemsBody(requests), (reply) => replies.push(reply))
  await clock.pass(100)
  expect(kinds(replies.flatMap(verdictsIn))).toEqual(['overloaded', 'overloaded', 'overloaded'])
})
