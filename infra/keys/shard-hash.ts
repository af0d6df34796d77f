/**
 * Which shard an account lives on: HMAC-SHA-256 of its ID under a secret fixed when the ledger is created, so that
 * nobody can aim accounts at one shard. Changing this moves every account: it never changes.
 */
import { createHmac } from 'node:crypto'

/** The first 48 bits: they fit a double exactly, and their remainder is uneven by at most 2^16 in 2^48. */
const PREFIX_BYTES = 6

export function createShardHash(secret: Buffer, shardCount: number): (accountId: string) => number {
  return (accountId) =>
    createHmac('sha256', secret).update(accountId, 'utf8').digest().readUIntBE(0, PREFIX_BYTES) % shardCount
}
