/** Goal: an account's shard never changes, is spread evenly, and nobody without the secret can tell it. */
import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createShardHash } from '../../../infra/keys/shard-hash.ts'

test('the shard is the first 48 bits of the keyed hash, modulo the count', () => {
  const secret = randomBytes(32)
  const digest = createHmac('sha256', secret).update('user:1@bank').digest('hex')
  expect(createShardHash(secret, 256)('user:1@bank')).toBe(Number(BigInt(`0x${digest.slice(0, 12)}`) % 256n))
  expect(createShardHash(secret, 7)('user:1@bank')).toBe(Number(BigInt(`0x${digest.slice(0, 12)}`) % 7n))
})

test('a pinned account stays where it was in earlier releases', () => {
  expect(createShardHash(Buffer.alloc(32), 256)('alice')).toBe(84)
})

test('accounts are spread evenly over the shards', () => {
  const shardOf = createShardHash(Buffer.alloc(32, 7), 16)
  const counts = Array.from({ length: 16 }, () => 0)
  for (let index = 0; index < 16_000; index += 1) {
    const shard = shardOf(`account-${index}`)
    counts[shard] = (counts[shard] ?? 0) + 1
  }
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(160)
})

test('another secret moves most accounts', () => {
  const [first, second] = [createShardHash(Buffer.alloc(32, 1), 256), createShardHash(Buffer.alloc(32, 2), 256)]
  const moved = Array.from({ length: 1_000 }, (_, index) => `a${index}`).filter((id) => first(id) !== second(id))
  expect(moved.length).toBeGreaterThan(970)
})
