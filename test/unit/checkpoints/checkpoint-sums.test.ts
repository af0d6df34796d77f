/** Tests T1 to T3 of checkpoint-sums.ts. */
import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ChainSums } from '../../../infra/checkpoints/checkpoint-sums.ts'

const KEYS = { chains: randomBytes(32), sums: randomBytes(32) }
const SHARDS = 4

type Entry = readonly [shardId: number, entry: string]

function chain(accountRef: string, length: number, shardId = 1): readonly Entry[] {
  const hashOf = (sequence: number): string => createHash('sha256').update(`${accountRef} ${sequence}`).digest('hex')
  return Array.from({ length }, (_, sequence) => [shardId, `${accountRef} ${sequence} ${hashOf(sequence)}`] as const)
}

function digestOf(entries: readonly Entry[], keys = KEYS): string {
  const sums = ChainSums.empty(keys, SHARDS)
  for (const entry of entries) sums.add(...entry)
  return sums.digest()
}

describe('the digest', () => {
  const alice = chain('alice', 5)
  const both = [...alice, ...chain('bob', 3)]

  test('T1: does not depend on the order of entries, nor on interruptions', () => {
    expect(digestOf([...both].reverse())).toBe(digestOf(both))
    const first = ChainSums.empty(KEYS, SHARDS)
    for (const entry of both.slice(0, 4)) first.add(...entry)
    const second = ChainSums.open(KEYS, SHARDS, 7, first.seal(KEYS, 7))
    for (const entry of both.slice(4)) second.add(...entry)
    expect(second.digest()).toBe(digestOf(both))
  })

  test('T1, T3: changes with a missing entry, another entry, another account and another shard', () => {
    const others = [
      alice.slice(0, 4),
      alice.filter((_, index) => index !== 2),
      [...alice.slice(0, 4), [1, 'alice 4 another'] as const],
      [...alice.slice(0, 4), [1, 'alice 4 another'] as const, [1, 'alice 5 and on'] as const],
      chain('alicf', 5),
      chain('alice', 5, 2),
      [],
      both,
    ]
    expect(new Set([alice, ...others].map((entries) => digestOf(entries))).size).toBe(others.length + 1)
  })

  test('T2: differs under another key', () => {
    expect(digestOf(both, { ...KEYS, chains: randomBytes(32) })).not.toBe(digestOf(both))
  })
})

test('T2: sealed sums open only for their checkpoint, keys and number of shards', () => {
  const sums = ChainSums.empty(KEYS, SHARDS)
  for (const entry of chain('alice', 2)) sums.add(...entry)
  const sealed = sums.seal(KEYS, 7)
  expect(ChainSums.open(KEYS, SHARDS, 7, sealed).differingShards(sums)).toEqual([])
  expect(ChainSums.open(KEYS, SHARDS, 7, sealed).differingShards(ChainSums.empty(KEYS, SHARDS))).toEqual([1])
  expect(() => ChainSums.open(KEYS, SHARDS, 8, sealed)).toThrow('do not open')
  expect(() => ChainSums.open({ ...KEYS, sums: randomBytes(32) }, SHARDS, 7, sealed)).toThrow('do not open')
  expect(() => ChainSums.open(KEYS, SHARDS + 1, 7, sealed)).toThrow('another number of shards')
})

test('an entry in a shard that the ledger does not have is refused', () => {
  const sums = ChainSums.empty(KEYS, SHARDS)
  for (const shardId of [SHARDS, -1]) expect(() => sums.add(shardId, 'alice 0 x')).toThrow('does not have')
})
