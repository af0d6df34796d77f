/** An account's shard never changes, and depends on the secret. */
import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createShardHash } from '../../../infra/keys/shard-hash.ts'

test('the shard is the first 48 bits of the keyed hash, modulo the count', () => {
  const secret = randomBytes(32)
  const digest = createHmac('sha256', secret).update('user:1@bank').digest('hex')
  expect(createShardHash(secret, 256)('user:1@bank')).toBe(Number(BigInt(`0x${digest.slice(0, 12)}`) % 256n))
  expect(createShardHash(secret, 7)('user:1@bank')).toBe(Number(BigInt(`0x${digest.slice(0, 12)}`) % 7n))
})

test('accounts stay on the shards of earlier releases', () => {
  expect(createShardHash(Buffer.alloc(32), 256)('alice')).toBe(84)
})
