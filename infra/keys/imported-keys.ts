/**
 * A cache of imported public keys: the import takes longer than the check of a signature.
 *   I1. A used key stays in the cache. If the cache is full, other keys are imported for each check. An imported key has some
 *       forty allocations outside of the heap: evicting hundreds of cached keys a second would stop the process for up to a
 *       second of garbage collection. Keys that were never cached are cheap to free.
 */
import type { KeyObject } from 'node:crypto'
import { keyObjectOf } from './public-key.ts'

export interface ImportedKeys {
  readonly cached: (publicKey: string) => KeyObject | undefined
  /** Undefined if the text is not a key. Never rejects. */
  readonly read: (publicKey: string) => Promise<KeyObject | undefined>
}

interface CachedKey {
  readonly key: KeyObject
  usedMs: number
}

/** A key that was not used for this time may be evicted. */
const IDLE_MS = 10 * 60_000
/** Eviction candidates for each import while the cache is full. */
const CANDIDATES = 8

/** Caches at most `limit` keys. `now`: monotonic milliseconds. */
export function createImportedKeys(limit: number, now: () => number = () => performance.now()): ImportedKeys {
  const keys = new Map<string, CachedKey>()
  /** Walks the map in circles. Unset until the cache is full: an idle iterator would keep outgrown tables alive. */
  let hand: MapIterator<[string, CachedKey]> | undefined

  function makesRoom(): boolean {
    for (let looked = 0; keys.size >= limit && looked < CANDIDATES; looked += 1) {
      hand ??= keys.entries()
      const next = hand.next()
      if (next.done === true) {
        hand = undefined
        continue
      }
      const [publicKey, { usedMs }] = next.value
      if (now() - usedMs >= IDLE_MS) keys.delete(publicKey)
    }
    return keys.size < limit
  }

  return {
    cached: (publicKey) => {
      const found = keys.get(publicKey)
      if (found === undefined) return undefined
      found.usedMs = now()
      return found.key
    },
    read: async (publicKey) => {
      try {
        const key = await keyObjectOf(publicKey)
        if (makesRoom()) keys.set(publicKey, { key, usedMs: now() })
        return key
      } catch {
        return undefined
      }
    },
  }
}
