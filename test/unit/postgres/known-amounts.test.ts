/** K1: decrypted amounts are cached for five minutes, in bounded memory. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createKnownAmounts } from '../../../infra/postgres/rows/known-amounts.ts'

const ONE = { ref: 'ann', amount: '1.5' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('an amount is cached for at most five minutes, used or not', () => {
  const amounts = createKnownAmounts()
  amounts.set('txn_1', ONE)
  vi.advanceTimersByTime(299_999)
  expect(amounts.get('txn_1')).toEqual(ONE)
  vi.advanceTimersByTime(1)
  expect(amounts.get('txn_1')).toBeUndefined()
})

test('beyond 40,000 amounts the oldest are evicted, and at least 20,000 stay', () => {
  const amounts = createKnownAmounts()
  for (let number = 0; number < 50_000; number += 1) amounts.set(`txn_${number}`, ONE)
  const kept = Array.from({ length: 50_000 }, (_, number) => 49_999 - number).findIndex(
    (number) => amounts.get(`txn_${number}`) === undefined,
  )
  expect(kept).toBeGreaterThanOrEqual(20_000)
  expect(kept).toBeLessThanOrEqual(40_000)
})
