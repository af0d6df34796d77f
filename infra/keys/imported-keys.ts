/**
 * Public keys as OpenSSL holds them: reading one takes longer than checking a signature with it.
 *   I1. What is kept stays for as long as it is used: where all is full, other keys are read each time and not kept. A key
 *       is some forty pieces of memory outside of the heap, which the collector frees. Where old keys made room for new
 *       ones by the hundred a second, it stopped everything for up to a second to free them, and to allocate was slow
 *       after it; what is dropped at once costs it nothing.
 */
import type { KeyObject } from 'node:crypto'
import { keyObjectOf } from './public-key.ts'

export interface ImportedKeys {
  readonly known: (publicKey: string) => KeyObject | undefined
  /** undefined: it is no key. Never rejects. */
  readonly read: (publicKey: string) => Promise<KeyObject | undefined>
}

interface Kept {
  readonly key: KeyObject
  usedMs: number
}

/** What was not used for so long makes room. */
const IDLE_MS = 10 * 60_000
/** For each that is read where all is full. */
const LOOKED_AT = 8

/** At most `limit` are kept. `now`: monotonic milliseconds. */
export function createImportedKeys(limit: number, now: () => number = () => performance.now()): ImportedKeys {
  const kept = new Map<string, Kept>()
  /** Goes around, and on from where it was; not before all is full, for it would keep what the map outgrows. */
  let hand: MapIterator<[string, Kept]> | undefined

  function hasRoom(): boolean {
    for (let looked = 0; kept.size >= limit && looked < LOOKED_AT; looked += 1) {
      hand ??= kept.entries()
      const next = hand.next()
      if (next.done === true) {
        hand = undefined
        continue
      }
      const [publicKey, { usedMs }] = next.value
      if (now() - usedMs >= IDLE_MS) kept.delete(publicKey)
    }
    return kept.size < limit
  }

  return {
    known: (publicKey) => {
      const found = kept.get(publicKey)
      if (found === undefined) return undefined
      found.usedMs = now()
      return found.key
    },
    read: async (publicKey) => {
      try {
        const key = await keyObjectOf(publicKey)
        if (hasRoom()) kept.set(publicKey, { key, usedMs: now() })
        return key
      } catch {
        return undefined
      }
    },
  }
}
