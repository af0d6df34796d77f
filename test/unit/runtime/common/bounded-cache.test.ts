/** The cache is bounded and keeps the entries that are used. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBoundedCache } from '../../../../runtime/common/bounded-cache.ts'

test('it never holds more than its bound, and always what was used within the last half of it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 300 }), (keys) => {
      const cache = createBoundedCache<number, number>(6)
      keys.forEach((key, index) => {
        const kept = cache.get(key)
        if (kept === undefined) cache.set(key, key)
        const since = keys.slice(0, index).lastIndexOf(key)
        const others = new Set(keys.slice(since + 1, index))
        expect(kept === undefined && since >= 0 && others.size < 3).toBe(false)
        expect(kept ?? key).toBe(key)
        expect(cache.size()).toBeLessThanOrEqual(6)
      })
    }),
  )
})

test('what is not used goes, and what is set again is the new value', () => {
  const cache = createBoundedCache<string, number>(4)
  for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) cache.set(key, index)
  expect(cache.get('a')).toBeUndefined()
  expect(cache.get('e')).toBe(4)
  cache.set('e', 9)
  expect(cache.get('e')).toBe(9)
})
