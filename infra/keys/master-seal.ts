/**
 * Seals and opens secrets of one use: seals under the wrapping key of the current master key, opens under that of any known
 * master key.
 *   S1. Sealed bytes do not name their master key: `open` tries all.
 *   S2. The object can seal and open for its use only.
 */
import type { KeyObject } from 'node:crypto'
import { openSealed, seal, SealBroken, type SealingContext } from './sealing.ts'
import { type KeyRing, wrappingKey, type WrappingUse } from './wrapping-keys.ts'

export interface MasterSeal {
  readonly seal: (context: SealingContext, secret: Uint8Array) => Buffer
  /** Throws MasterKeyMissing if no master key opens the bytes. */
  readonly open: (context: SealingContext, sealed: Uint8Array) => OpenedSecret
}

export interface OpenedSecret {
  readonly secret: Buffer
  /** Index of the master key that opened it: 0 is the current one, 1 the first previous one. */
  readonly under: number
}

/** A secret is sealed under a missing master key, or was damaged. */
export class MasterKeyMissing extends Error {
  override readonly name = 'MasterKeyMissing'
}

/** Throws WrappingKeyMissing. */
export function createMasterSeal(ring: KeyRing, use: WrappingUse): MasterSeal {
  const sealingKey = wrappingKey(ring.current, use)
  const keys = [sealingKey, ...ring.previous.map((keys) => wrappingKey(keys, use))]
  return {
    seal: (context, secret) => seal(sealingKey, context, secret),
    open: (context, sealed) => {
      for (const [under, key] of keys.entries()) {
        const secret = openedUnder(key, context, sealed)
        if (secret !== undefined) return { secret, under }
      }
      throw new MasterKeyMissing(`none of the master keys of this process (${idsOf(ring)}) opens this secret`)
    },
  }
}

function idsOf({ current, previous }: KeyRing): string {
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
