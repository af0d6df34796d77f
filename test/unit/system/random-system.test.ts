/** Random digits have the requested length and never repeat. */
import { expect, test } from 'vitest'
import { createSystemRandom } from '../../../infra/system/random-system.ts'

test('digits have twice the length of their bytes and do not repeat, also beyond one draw of the pool', () => {
  const random = createSystemRandom()
  const drawn = Array.from({ length: 2_000 }, () => random.hex(16))
  expect(new Set(drawn).size).toBe(drawn.length)
  for (const digits of drawn) expect(digits).toMatch(/^[0-9a-f]{32}$/)
  expect(random.hex(10_000)).toMatch(/^[0-9a-f]{20000}$/)
})

test('an integer is below its bound, even beyond the range of Node’s generator', () => {
  const random = createSystemRandom()
  for (const below of [1, 7, 2 ** 48, 2 ** 53]) {
    const drawn = random.integer(below)
    expect(drawn >= 0 && drawn < below && Number.isInteger(drawn)).toBe(true)
  }
  const large = Array.from({ length: 3_000 }, () => [random.integer(2 ** 48), random.hex(6)]).flat()
  expect(new Set(large.map((one) => (typeof one === 'number' ? one.toString(16).padStart(12, '0') : one))).size).toBe(
    6_000,
  )
})
