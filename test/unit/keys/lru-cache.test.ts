/** Goal: the cache is bounded, and what is used stays. */
import { expect, test } from 'vitest'
import { createLruCache } from '../../../infra/keys/lru-cache.ts'

test('a value is made once while it is kept; beyond the bound the one unused longest goes', () => {
  const made: string[] = []
  const cache = createLruCache<string, string>(2)
  const get = (key: string): string | undefined =>
    cache.get(key, () => {
      made.push(key)
      return key.toUpperCase()
    })
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(get)).toEqual(['A', 'B', 'A', 'C', 'A', 'B'])
  expect(made).toEqual(['a', 'b', 'c', 'b'])
  expect(cache.size()).toBe(2)
})

test('what cannot be made is not kept', () => {
  const cache = createLruCache<string, string>(2)
  expect(cache.get('a', () => undefined)).toBeUndefined()
  expect(cache.size()).toBe(0)
  expect(cache.get('a', () => 'A')).toBe('A')
})
