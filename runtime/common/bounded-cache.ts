/**
 * Keeps a limited number of values, in two generations: a used value moves to the younger one; when that is full, the
 * older one is dropped. A use of a young value changes nothing, because a Map that deletes and re-inserts a key on each
 * use grows a chain of deleted entries, and a hot key becomes slower with each use.
 */
export interface BoundedCache<K, V> {
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
  readonly size: () => number
}

/** Keeps at least the `limit / 2` most recently used keys. */
export function createBoundedCache<K, V>(limit: number): BoundedCache<K, V> {
  const half = Math.max(1, Math.floor(limit / 2))
  let young = new Map<K, V>()
  let old = new Map<K, V>()

  function set(key: K, value: V): void {
    if (young.size >= half && !young.has(key)) {
      old = young
      young = new Map()
    } else {
      old.delete(key)
    }
    young.set(key, value)
  }

  return {
    size: () => young.size + old.size,
    set,
    get: (key) => {
      const recent = young.get(key)
      if (recent !== undefined) return recent
      const value = old.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
  }
}
