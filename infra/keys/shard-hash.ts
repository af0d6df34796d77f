/**
 * Assigns accounts to shards by HMAC-SHA-256 of the ID under a secret of the ledger, so that no client can aim accounts at one
 * shard. A change would move every account: it must never change.
 */
import { createHmac } from 'node:crypto'
import { createBoundedCache } from '../../runtime/common/bounded-cache.ts'

/** 48 bits fit a double exactly, and the remainder is biased by at most 2^-32. */
const PREFIX_BYTES = 6

/** An HMAC costs 10 µs, and an edge needs one for each request. */
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
