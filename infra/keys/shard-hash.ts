/**
 * Which shard an account lives on: HMAC-SHA-256 of its ID under a secret fixed when the ledger is created, so that
 * nobody can aim accounts at one shard. Changing this moves every account: it never changes.
 */
import { createHmac } from 'node:crypto'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'

/** The first 48 bits: they fit a double exactly, and their remainder is uneven by at most 2^16 in 2^48. */
const PREFIX_BYTES = 6

/** Shards of accounts that are kept: an HMAC costs 10 µs, and an edge needs one for each request. */
const CACHED_ACCOUNTS = 50_000

export function createShardHash(secret: Buffer, shardCount: number): (accountId: string) => number {
  const shards = createBoundedCache<string, number>(CACHED_ACCOUNTS)
  const hash = (accountId: string): number =>
    createHmac('sha256', secret).update(accountId, 'utf8').digest().readUIntBE(0, PREFIX_BYTES) % shardCount
  return (accountId) => {
    const known = shards.get(accountId)
    if (known !== undefined) return known
    const shardId = hash(accountId)
    shards.set(accountId, shardId)
    return shardId
  }
}
