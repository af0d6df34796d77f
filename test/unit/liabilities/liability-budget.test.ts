/** Tests B1 and B2 of liability-budget.ts. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasRoom, KEPT_MS, type StoredRun } from '../../../infra/liabilities/liability-budget.ts'

const CAPACITY = 1_000_000
const START_MS = 1_790_000_000_000

/** Requests runs at these times. Returns the largest number of bytes that were kept, and the accepted runs. */
function askedAt(moments: readonly number[], sizeOf: (index: number) => number) {
  let kept: StoredRun[] = []
  let most = 0
  const letIn = moments.map((asOfMs, index) => {
    kept = kept.filter((run) => run.asOfMs > asOfMs - KEPT_MS)
    if (!hasRoom(kept, asOfMs, CAPACITY)) return false
    kept.push({ asOfMs, sizeBytes: sizeOf(index) })
    most = Math.max(
      most,
      kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    )
    return true
  })
  return { letIn, most }
}

test('B1: no loop leaves more than twice the capacity and one run', () => {
  const gaps = fc.array(fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: KEPT_MS / 4 })), {
    minLength: 200,
    maxLength: 400,
  })
  const sizes = fc.array(fc.integer({ min: 1, max: CAPACITY / 4 }), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(gaps, sizes, (steps, sizesOf) => {
      let now = START_MS
      const moments = steps.map((step) => (now += step))
      const { most } = askedAt(moments, (index) => sizesOf[index % sizesOf.length] ?? 1)
      expect(most).toBeLessThanOrEqual(2 * CAPACITY + CAPACITY / 4)
    }),
  )
})

test('B2: ten runs of a tenth of the capacity come one after the other, then some; a day never has more than twenty', () => {
  const minutes = Array.from({ length: 48 * 60 }, (_, minute) => START_MS + minute * 60_000)
  const { letIn, most } = askedAt(minutes, () => CAPACITY / 10)
  expect(letIn.slice(0, 10)).not.toContain(false)
  expect(letIn.slice(12, 60)).not.toContain(true)
  const perDay = letIn.slice(24 * 60).filter(Boolean).length
  expect(perDay).toBeGreaterThanOrEqual(10)
  expect(perDay).toBeLessThanOrEqual(21)
  expect(most).toBeLessThanOrEqual(2.1 * CAPACITY)
})

test('B2: a run every three hours, each of a tenth of the capacity, is always accepted', () => {
  const moments = Array.from({ length: 100 }, (_, index) => START_MS + index * 3 * 3_600_000)
  expect(askedAt(moments, () => CAPACITY / 10).letIn).not.toContain(false)
})

test('B2: the budget refills within a day: half of it after half a day', () => {
  const burst = (atMs: number): readonly number[] => Array.from({ length: 8 }, (_, index) => atMs + index)
  const { letIn } = askedAt([...burst(START_MS), ...burst(START_MS + KEPT_MS / 2)], () => CAPACITY / 4)
  const [first, second] = [letIn.slice(0, 8), letIn.slice(8)].map((some) => some.filter(Boolean).length)
  expect([first, second]).toEqual([5, 2])
})

test('a run larger than the capacity is accepted if no run is kept, but not twice', () => {
  expect(hasRoom([], START_MS, CAPACITY)).toBe(true)
  const huge = [{ asOfMs: START_MS, sizeBytes: 10 * CAPACITY }]
  expect(hasRoom(huge, START_MS + KEPT_MS - 1, CAPACITY)).toBe(false)
})
