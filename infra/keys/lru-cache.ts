/** Keeps at most so many values; the one unused longest goes first. A Map keeps the order of insertion, and each use inserts anew. */
export interface LruCache<K, V> {
  /** The value of a key, made if it is not kept. What is `undefined` is not kept. */
  readonly get: (key: K, make: () => V | undefined) => V | undefined
  readonly size: () => number
}

export function createLruCache<K, V>(limit: number): LruCache<K, V> {
  const kept = new Map<K, V>()
  return {
    size: () => kept.size,
    get: (key, make) => {
      const known = kept.get(key)
      const value = known ?? make()
      if (value === undefined) return undefined
      kept.delete(key)
      kept.set(key, value)
      if (kept.size > limit) {
        const [oldest] = kept.keys()
        if (oldest !== undefined) kept.delete(oldest)
      }
      return value
    },
  }
}
