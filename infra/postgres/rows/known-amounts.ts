/**
 * Amounts of transactions that were opened for a search by amount. An amount never changes, and the next search reads
 * mostly the same rows: opening 5,000 of them takes most of its time.
 *   K1. Limited in number, and dropped before data keys are (key-cache.ts).
 *   K2. They say nothing about a row that the database does not show, nor about an erased account: the search checks both.
 */
import { type BoundedCache, createBoundedCache } from '../../../runtime/common/bounded-cache.ts'

export interface KnownAmount {
  /** The reference of the account. */
  readonly ref: string
  /** A decimal string. */
  readonly amount: string
}

export type KnownAmounts = Omit<BoundedCache<string, KnownAmount>, 'size'>

/** Some 200 bytes each. */
const MOST = 40_000
const LIFETIME_MS = 5 * 60_000

export function createKnownAmounts(): KnownAmounts {
  let known = createBoundedCache<string, KnownAmount>(MOST)
  setInterval(() => (known = createBoundedCache(MOST)), LIFETIME_MS).unref()
  return { get: (txnId) => known.get(txnId), set: (txnId, amount) => known.set(txnId, amount) }
}
