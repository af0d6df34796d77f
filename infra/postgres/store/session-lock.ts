/** The advisory lock that a session holds on its connection for commits, as PostgreSQL names it. */
import { createHash } from 'node:crypto'

/** 64 bits of a hash, signed: two sessions share a lock about never, and then one of them does not start. */
export function sessionLockKey(session: string): bigint {
  return createHash('sha256').update(`ledger session ${session}`).digest().readBigInt64BE(0)
}

/** How `pg_locks` shows a lock with a key of 64 bits: its halves, unsigned. */
export function lockHalves(key: bigint): { readonly classId: number; readonly objectId: number } {
  const bits = BigInt.asUintN(64, key)
  return { classId: Number(bits >> 32n), objectId: Number(bits & 0xffffffffn) }
}
