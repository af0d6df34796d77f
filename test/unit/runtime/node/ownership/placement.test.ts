/** All nodes compute the same placement of shards. It is balanced, and a change of nodes moves few shards. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { placeShards } from '../../../../../runtime/node/ownership/placement.ts'

const SHARDS = Array.from({ length: 256 }, (_, shardId) => shardId)
const node = (nodeId: string, refused: number[] = [], avoided: number[] = []) => ({
  nodeId,
  refusedShards: new Set(refused),
  avoidedShards: new Set(avoided),
})
const nodes = (count: number) => Array.from({ length: count }, (_, index) => node(`node-${index}`))

describe('placement', () => {
  test('every shard has one owner, and none more than 1.1 times the mean', () => {
    for (const count of [1, 2, 3, 5, 10, 25]) {
      const placed = placeShards(SHARDS, nodes(count))
      expect(placed.size).toBe(256)
      const loads = new Map<string, number>()
      for (const owner of placed.values()) loads.set(owner, (loads.get(owner) ?? 0) + 1)
      expect(Math.max(...loads.values())).toBeLessThanOrEqual(Math.ceil((1.1 * 256) / count))
    }
  })

  test('the order of the list does not matter', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(nodes(5), { minLength: 5 }), (shuffled) => {
        expect(placeShards(SHARDS, shuffled)).toEqual(placeShards(SHARDS, nodes(5)))
      }),
    )
  })

  test('a node that leaves moves its own shards and few others', () => {
    const before = placeShards(SHARDS, nodes(4))
    const after = placeShards(SHARDS, nodes(3))
    const stayed = SHARDS.filter((shardId) => before.get(shardId) !== 'node-3')
    const moved = stayed.filter((shardId) => before.get(shardId) !== after.get(shardId))
    expect(moved.length).toBeLessThan(stayed.length / 4)
  })

  test('a shard that a node cannot serve goes to another; one that no node can serve has no owner', () => {
    const owner = placeShards([7], nodes(2)).get(7) ?? ''
    const refusing = nodes(2).map(({ nodeId }) => node(nodeId, nodeId === owner ? [7] : []))
    expect(placeShards([7], refusing).get(7)).not.toBe(owner)
    expect(placeShards([7], [node('a', [7]), node('b', [7])]).has(7)).toBe(false)
    expect(placeShards([7], []).size).toBe(0)
  })

  test('a shard leaves a node that should not have it, and stays where no other can serve it', () => {
    const owner = placeShards([7], nodes(3)).get(7) ?? ''
    const avoiding = nodes(3).map(({ nodeId }) => node(nodeId, [], nodeId === owner ? [7] : []))
    const next = placeShards([7], avoiding).get(7)
    expect(next).not.toBe(owner)
    expect(next).toBeDefined()
    expect(placeShards([7], [node('a', [], [7]), node('b', [7])]).get(7)).toBe('a')
    expect(placeShards([7], [node('a', [], [7])]).get(7)).toBe('a')
  })
})
