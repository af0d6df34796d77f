/** Balances at a time and statements over 100,000 random orders agree with books that were kept in BigInt. */
import { expect, test } from 'vitest'
import { keepBooks } from './bookkeeping.ts'
import { expectBalancesAt, expectStatement } from './checks.ts'

const ORDERS = 100_000

test(`the books of ${ORDERS} random orders are those of the ledger`, { timeout: 7_200_000 }, async () => {
  const kept = await keepBooks({ total: ORDERS, perBookmark: 400, seed: 32 })
  try {
    const [first] = kept.bookmarks
    const last = kept.bookmarks.at(-1)
    if (first === undefined || last === undefined) throw new Error('there are bookmarks')
    for (const bookmark of kept.bookmarks) await expectBalancesAt(kept, bookmark)
    for (const accountId of kept.accountIds) {
      expect(await expectStatement(kept, [first, last], accountId, 1000)).toBeGreaterThan(0)
    }
  } finally {
    await kept.close()
  }
})
