/**
 * Keeps at most so many values, in two generations: what is used moves into the younger one, and when that is full the
 * older one goes. A use of what is young changes nothing: a Map that deletes and inserts the same key again on each use
 * grows a chain of the deleted, and a hot key gets slower with each use.
 */
export interface BoundedCache<K, V> {
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
  readonly size: () => number
}

/** Keeps at least the `limit / 2` keys that were used last. */
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
