/** K1 to K3, for any sequence of requests. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Rate } from '../../../../actors/rate.ts'
import { createTokenBuckets } from '../../../../runtime/common/token-buckets.ts'

const rates = fc.record({
  perSecond: fc.integer({ min: 1, max: 2_000 }).map((thousandths) => thousandths / 10),
  burst: fc.integer({ min: 1, max: 50 }),
})
const requests = fc.array(fc.record({ afterMs: fc.nat({ max: 2_000 }), wanted: fc.integer({ min: 1, max: 60 }) }), {
  maxLength: 40,
})

interface Taken {
  readonly atMs: number
  readonly wanted: number
  readonly taken: number
}

function takeAll(rate: Rate, list: readonly { readonly afterMs: number; readonly wanted: number }[]): Taken[] {
  const buckets = createTokenBuckets(10)
  let atMs = 0
  return list.map(({ afterMs, wanted }) => {
    atMs += afterMs
    return { atMs, wanted, taken: buckets.take('a', rate, wanted, atMs) }
  })
}

test('K1: in any time a key takes at most its burst and what returned meanwhile', () => {
  fc.assert(
    fc.property(rates, requests, (rate, list) => {
      const all = takeAll(rate, list)
      for (const [first, { atMs: fromMs }] of all.entries()) {
        let sum = 0
        for (const { atMs, taken } of all.slice(first)) {
          sum += taken
          expect(sum).toBeLessThanOrEqual(rate.burst + (rate.perSecond * (atMs - fromMs)) / 1000 + 1e-5)
        }
      }
    }),
  )
})

test('K2: a token is refused only if the bucket, as a simple count, holds less than one', () => {
  fc.assert(
    fc.property(rates, requests, (rate, list) => {
      let tokens = rate.burst
      let lastMs = 0
      for (const { atMs, wanted, taken } of takeAll(rate, list)) {
        tokens = Math.min(rate.burst, tokens + (rate.perSecond * (atMs - lastMs)) / 1000) - taken
        lastMs = atMs
        expect(taken < wanted ? tokens : 0).toBeLessThan(1 + 1e-5)
      }
    }),
  )
})

test('what was used elsewhere is taken off, also beyond the burst, and returns at the rate', () => {
  const buckets = createTokenBuckets(10)
  const rate = { perSecond: 10, burst: 20 }
  expect(buckets.take('a', rate, 5, 0)).toBe(5)
  buckets.charge('a', rate, 20, 0)
  expect(buckets.level('a', rate, 0)).toMatchObject({ tokens: 0, nextMs: expect.closeTo(600, 0) })
  expect(buckets.take('a', rate, 1, 599)).toBe(0)
  expect(buckets.take('a', rate, 1, 601)).toBe(1)
  buckets.charge('a', rate, 1e9, 601)
  expect(buckets.level('a', rate, 601).fullMs).toBeLessThanOrEqual(16 * 2_000)
})

test('what was used elsewhere in some seconds is missed in full, also of a small burst', () => {
  const buckets = createTokenBuckets(10)
  const rate = { perSecond: 1_000, burst: 1 }
  buckets.charge('a', rate, 200, 0)
  expect(buckets.level('a', rate, 0).nextMs).toBeCloseTo(200, 3)
})

test('what was used elsewhere under another rate leaves a bucket its own', () => {
  const buckets = createTokenBuckets(10)
  const rate = { perSecond: 1, burst: 3 }
  expect(buckets.take('a', rate, 3, 0)).toBe(3)
  buckets.charge('a', { perSecond: 2, burst: 3 }, 1, 0)
  expect(buckets.take('a', rate, 1, 0)).toBe(0)
})

test('a changed rate begins with a full bucket; keys do not share one', () => {
  const buckets = createTokenBuckets(10)
  expect(buckets.take('a', { perSecond: 1, burst: 3 }, 9, 0)).toBe(3)
  expect(buckets.take('b', { perSecond: 1, burst: 3 }, 9, 0)).toBe(3)
  expect(buckets.take('a', { perSecond: 1, burst: 2 }, 9, 0)).toBe(2)
})

test('K3: the number of buckets is bounded, and one in use stays', () => {
  const buckets = createTokenBuckets(100)
  const rate = { perSecond: 0.001, burst: 1 }
  expect(buckets.take('used', rate, 1, 0)).toBe(1)
  for (let round = 0; round < 250; round += 1) {
    for (let other = 0; other < 40; other += 1) buckets.take(`other ${round} ${other}`, rate, 1, 0)
    expect(buckets.take('used', rate, 1, 0)).toBe(0)
  }
  expect(buckets.size()).toBeLessThanOrEqual(100)
})
