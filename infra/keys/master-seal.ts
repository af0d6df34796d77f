/**
 * What the master key protects, for one use: sealed under the current master key, opened under any that was given.
 *   S1. What is sealed does not say under which master key it is: it opens under one of them or under none.
 *   S2. Whoever holds this can seal and open for its use, and has no master key.
 */
import { deriveKey, masterKeyIdOf, type MasterKeys, type MasterKeyUse } from './master-key.ts'
import { openSealed, seal, SealBroken, type SealingContext } from './sealing.ts'

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

export function createMasterSeal(masterKeys: MasterKeys, use: MasterKeyUse): MasterSeal {
  const sealingKey = deriveKey(masterKeys.current, use)
  const keys = [sealingKey, ...masterKeys.previous.map((master) => deriveKey(master, use))]
  return {
    seal: (context, secret) => seal(sealingKey, context, secret),
    open: (context, sealed) => {
      for (const [under, key] of keys.entries()) {
        const secret = openedUnder(key, context, sealed)
        if (secret !== undefined) return { secret, under }
      }
      throw new MasterKeyMissing(`none of the master keys that are given here (${namesOf(masterKeys)}) opens it`)
    },
  }
}

/** Their IDs, the current one's first. */
export function namesOf({ current, previous }: MasterKeys): string {
  return [...new Set([current, ...previous].map(masterKeyIdOf))].join(', ')
}

function openedUnder(key: Buffer, context: SealingContext, sealed: Uint8Array): Buffer | undefined {
  try {
    return openSealed(key, context, sealed)
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}
