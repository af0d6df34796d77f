/**
 * Data keys in memory: at most so many, and none longer than so long after it was read or made.
 *   C1. What is about to be used is not displaced by what comes beside it: a look that was told that a key is here finds it
 *       when it opens its rows.
 *   C2. What is forgotten is gone from memory, once the collector has run: nothing else here refers to it.
 */
import type { KeyName } from './key-name.ts'
import type { DataKey } from './sealed-text.ts'

export interface KeyCache {
  readonly get: (name: KeyName) => DataKey | undefined
  /** Whether the key is in memory and stays until a use that begins now has ended (C1). */
  readonly holds: (name: KeyName) => boolean
  readonly put: (name: KeyName, key: DataKey) => void
  readonly remove: (name: KeyName) => void
  /** Forgets what has been kept long enough. */
  readonly sweep: () => void
}

const KEPT_KEYS = 100_000
const KEPT_MS = 10 * 60_000
/** Longer than any statement may take: what was fetched for it must still be there when its rows are opened. */
const LONGEST_USE_MS = 30_000

/** For each that comes: where all are in use, more are kept for a while. */
const LOOKED_AT = 8

interface Kept {
  readonly key: DataKey
  readonly untilMs: number
  /** Since when it may be in use. */
  usedMs: number
}

/** `now`: monotonic milliseconds. */
export function createKeyCache(now: () => number = () => performance.now()): KeyCache {
  const kept = new Map<KeyName, Kept>()

  /**
   * Goes around, and on from where it was: from the beginning it would have to pass all that were deleted there.
   * None is held for longer than a sweep: one that stands still keeps each table that the map has outgrown since, with
   * all that was in it (C2).
   */
  let hand: MapIterator<[KeyName, Kept]> | undefined

  /** What is in use is passed by. */
  function displace(): void {
    const nowMs = now()
    for (let looked = 0; kept.size > KEPT_KEYS && looked < LOOKED_AT; looked += 1) {
      hand ??= kept.entries()
      const next = hand.next()
      if (next.done === true) {
        hand = undefined
        continue
      }
      const [name, { untilMs, usedMs }] = next.value
      if (untilMs <= nowMs || nowMs - usedMs >= LONGEST_USE_MS) kept.delete(name)
    }
  }

  return {
    get: (name) => {
      const found = kept.get(name)
      return found === undefined || found.untilMs <= now() ? undefined : found.key
    },
    holds: (name) => {
      const found = kept.get(name)
      const nowMs = now()
      if (found === undefined || found.untilMs <= nowMs + LONGEST_USE_MS) return false
      found.usedMs = nowMs
      return true
    },
    remove: (name) => void kept.delete(name),
    put: (name, key) => {
      kept.delete(name)
      kept.set(name, { key, untilMs: now() + KEPT_MS, usedMs: now() })
      if (kept.size > KEPT_KEYS) displace()
    },
    sweep: () => {
      const nowMs = now()
      for (const [name, { untilMs }] of kept) if (untilMs <= nowMs) kept.delete(name)
      hand = undefined
    },
  }
}
