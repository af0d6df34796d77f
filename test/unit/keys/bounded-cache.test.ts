/** Goal: the cache is bounded, and what is used stays. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBoundedCache } from '../../../infra/keys/bounded-cache.ts'

test('a value is made once while it is kept; beyond the bound what was not used lately goes', () => {
  const made: string[] = []
  const cache = createBoundedCache<string, string>(4)
  const get = (key: string): string | undefined =>
    cache.get(key, () => {
      made.push(key)
      return key.toUpperCase()
    })
  expect(['a', 'b', 'a', 'c', 'a', 'd', 'a', 'e', 'a', 'b'].map(get)).toEqual('ABACADAEAB'.split(''))
  expect(made).toEqual(['a', 'b', 'c', 'd', 'e', 'b'])
})

test('it never holds more than its bound, and always what was used within the last half of it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 300 }), (keys) => {
      const cache = createBoundedCache<number, number>(6)
      keys.forEach((key, index) => {
        let made = false
        cache.get(key, () => {
          made = true
          return key
        })
        expect(cache.size()).toBeLessThanOrEqual(6)
        const since = keys.slice(0, index).lastIndexOf(key)
        const others = new Set(keys.slice(since + 1, index))
        expect(made && since >= 0 && others.size < 3).toBe(false)
      })
    }),
  )
})

test('what cannot be made is not kept', () => {
  const cache = createBoundedCache<string, string>(2)
  expect(cache.get('a', () => undefined)).toBeUndefined()
  expect(cache.size()).toBe(0)
  expect(cache.get('a', () => 'A')).toBe('A')
})
