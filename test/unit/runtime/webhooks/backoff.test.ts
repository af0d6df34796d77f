/** Delays between attempts: growth, jitter, and the end after five days. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { delayAfter, GIVE_UP_AFTER_MS, MAX_DELAY_MS, nextAttemptAt } from '../../../../runtime/webhooks/backoff.ts'

const least = { integer: () => 0 }
const most = { integer: (below: number) => below - 1 }

test('a delay doubles from 20 ms to a day, and at most half of it is random', () => {
  const delays = Array.from({ length: 25 }, (_, index) => [delayAfter(index + 1, least), delayAfter(index + 1, most)])
  for (const [index, [shortest, longest]] of delays.entries()) {
    const full = Math.min(20 * 2 ** index, MAX_DELAY_MS)
    expect([shortest, longest]).toEqual([full / 2, full])
  }
  expect(delayAfter(100_000, most)).toBe(MAX_DELAY_MS)
})

test('attempts lie within five days of the first failed one, and the last is made at the end of them', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 60 }), (draws) => {
      let nowMs = 0
      let failures = 0
      while (nowMs < GIVE_UP_AFTER_MS) {
        const draw = draws[failures % draws.length] ?? 0
        failures += 1
        const random = { integer: (below: number) => Math.floor(draw * below) }
        const next = nextAttemptAt({ failures, failingSinceMs: 0, nowMs }, random)
        expect(next).toBeGreaterThan(nowMs)
        expect(next - nowMs).toBeLessThanOrEqual(MAX_DELAY_MS)
        nowMs = next
      }
      expect(nowMs).toBe(GIVE_UP_AFTER_MS)
    }),
    { numRuns: 50 },
  )
})
