/**
 * Seals and opens secrets of one use: seals under the wrapping key of the current master key, opens under that of any known
 * master key.
 *   S1. What is sealed does not say under which master key it is: it opens under one of them or under none.
 *   S2. A holder of this object can seal and open for its use, and has no other wrapping key.
 */
import type { KeyObject } from 'node:crypto'
import { openSealed, seal, SealBroken, type SealingContext } from './sealing.ts'
import { type KeyRing, wrappingKey, type WrappingUse } from './wrapping-keys.ts'

export interface MasterSeal {
  readonly seal: (context: SealingContext, secret: Uint8Array) => Buffer
  /** Throws MasterKeyMissing when it opens under none of the master keys. */
  readonly open: (context: SealingContext, sealed: Uint8Array) => OpenedSecret
}

export interface OpenedSecret {
  readonly secret: Buffer
  /** Which master key opened it: 0 is the current one, 1 the first of those before. */
  readonly under: number
}

/** Something is sealed under a master key that is not at hand, or was damaged. */
export class MasterKeyMissing extends Error {
  override readonly name = 'MasterKeyMissing'
}

/** Throws WrappingKeyMissing. */
export function createMasterSeal(ring: KeyRing, use: WrappingUse): MasterSeal {
  const sealingKey = wrappingKey(ring.current, use)
  const keys = [sealingKey, ...ring.previous.map((held) => wrappingKey(held, use))]
  return {
    seal: (context, secret) => seal(sealingKey, context, secret),
    open: (context, sealed) => {
      for (const [under, key] of keys.entries()) {
        const secret = openedUnder(key, context, sealed)
        if (secret !== undefined) return { secret, under }
      }
      throw new MasterKeyMissing(`none of the master keys of this process (${namesOf(ring)}) opens it`)
    },
  }
}

/** Their IDs, the current one's first. */
function namesOf({ current, previous }: KeyRing): string {
  return [...new Set([current, ...previous].map(({ masterKeyId }) => masterKeyId))].join(', ')
}

function openedUnder(key: KeyObject, context: SealingContext, sealed: Uint8Array): Buffer | undefined {
  try {
    return openSealed(key, context, sealed)
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}
