/** Goal: what a node keeps in memory by default does not depend on how many shards its ledger was made with. */
import { expect, test } from 'vitest'
import { actorsPerShardOf, NODE_DEFAULTS } from '../../../runtime/node/ledger-node.ts'

test('a node that owns every shard keeps as many actors, however many shards there are', () => {
  expect(actorsPerShardOf(256)).toBe(NODE_DEFAULTS.maxResidents)
  const all = [1, 16, 256, 1_024].map((shards) => shards * actorsPerShardOf(shards))
  expect(new Set(all)).toEqual(new Set([256 * NODE_DEFAULTS.maxResidents]))
  expect(actorsPerShardOf(60_000)).toBe(1)
})
