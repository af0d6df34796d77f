/**
 * A cache of data keys, bounded in number and in the time since a key was fetched or created.
 *   C1. A key that a look-up is about to use is not evicted: after `holds` returned true, the look-up finds the key when it
 *       opens its rows.
 *   C2. Nothing else here refers to a removed key, so that the garbage collector frees it.
 */
import type { KeyName } from './key-name.ts'
import type { DataKey } from './sealed-text.ts'

export interface KeyCache {
  readonly get: (name: KeyName) => DataKey | undefined
  /** Whether the key stays in the cache during a use that begins now (C1). */
  readonly holds: (name: KeyName) => boolean
  readonly put: (name: KeyName, key: DataKey) => void
  readonly remove: (name: KeyName) => void
  /** Removes expired keys. */
  readonly sweep: () => void
}

const MAX_KEYS = 100_000
const MAX_AGE_MS = 10 * 60_000
/** More than the timeout of a statement: its keys must be in the cache when its rows are opened. */
const LONGEST_USE_MS = 30_000

/** Eviction candidates for each new key. If all are in use, the cache exceeds its bound for a while. */
const CANDIDATES = 8

interface CachedKey {
  readonly key: DataKey
  readonly untilMs: number
  /** Start of the latest use. */
  usedMs: number
}

/** `now`: monotonic milliseconds. */
export function createKeyCache(now: () => number = () => performance.now()): KeyCache {
  const keys = new Map<KeyName, CachedKey>()

  /**
   * Walks the map in circles, because a walk from the start would pass all deleted places. Reset by each sweep: an idle
   * iterator keeps outgrown tables of the map alive, with their keys (C2).
   */
  let hand: MapIterator<[KeyName, CachedKey]> | undefined

  function evictUnused(): void {
    const nowMs = now()
    for (let looked = 0; keys.size > MAX_KEYS && looked < CANDIDATES; looked += 1) {
      hand ??= keys.entries()
      const next = hand.next()
      if (next.done === true) {
        hand = undefined
        continue
      }
      const [name, { untilMs, usedMs }] = next.value
      if (untilMs <= nowMs || nowMs - usedMs >= LONGEST_USE_MS) keys.delete(name)
    }
  }

  return {
    get: (name) => {
      const found = keys.get(name)
      return found === undefined || found.untilMs <= now() ? undefined : found.key
    },
    holds: (name) => {
      const found = keys.get(name)
      const nowMs = now()
      if (found === undefined || found.untilMs <= nowMs + LONGEST_USE_MS) return false
      found.usedMs = nowMs
      return true
    },
    remove: (name) => void keys.delete(name),
    put: (name, key) => {
      keys.delete(name)
      keys.set(name, { key, untilMs: now() + MAX_AGE_MS, usedMs: now() })
      if (keys.size > MAX_KEYS) evictUnused()
    },
    sweep: () => {
      const nowMs = now()
      for (const [name, { untilMs }] of keys) if (untilMs <= nowMs) keys.delete(name)
      hand = undefined
    },
  }
}
