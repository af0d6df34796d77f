/**
 * Data keys at rest: wrapped under the master key, each bound to its name, so that no account can be given another's.
 * A wrapped key says which master key wrapped it: while the master key is rotated there are two.
 */
import { randomBytes } from 'node:crypto'
import { deriveKey, masterKeyIdOf, type MasterKeys } from '../keys/master-key.ts'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import { openSealed, seal, type SealingContext } from '../keys/sealing.ts'
import type { KeyName } from './key-name.ts'
import { DATA_KEY_BYTES, type DataKey } from './sealed-text.ts'

export interface WrappedKey {
  readonly masterKeyId: string
  readonly wrapped: Buffer
}

export interface KeyWrapping {
  /** Of the master key that wraps. */
  readonly masterKeyId: string
  /** Whether what that master key wrapped can be unwrapped here. */
  readonly knows: (masterKeyId: string) => boolean
  readonly wrap: (name: KeyName, key: DataKey) => WrappedKey
  /** Throws MasterKeyMissing, and SealBroken when the bytes were changed or belong to another name. */
  readonly unwrap: (name: KeyName, wrapped: WrappedKey) => DataKey
}

export function createKeyWrapping({ current, previous }: MasterKeys): KeyWrapping {
  const keys = new Map<string, Buffer>()
  for (const master of [current, ...previous]) keys.set(masterKeyIdOf(master), deriveKey(master, 'data-keys'))
  const masterKeyId = masterKeyIdOf(current)
  const keyOf = (id: string): Buffer => {
    const key = keys.get(id)
    if (key === undefined)
      throw new MasterKeyMissing(`a key is wrapped under master key ${id}, which is not given here`)
    return key
  }
  return {
    masterKeyId,
    knows: (id) => keys.has(id),
    wrap: (name, key) => ({ masterKeyId, wrapped: seal(keyOf(masterKeyId), contextOf(name), key) }),
    unwrap: (name, { masterKeyId: id, wrapped }) => openSealed(keyOf(id), contextOf(name), wrapped),
  }
}

export function newDataKey(): DataKey {
  return randomBytes(DATA_KEY_BYTES)
}

function contextOf(name: KeyName): SealingContext {
  return ['data-key', name]
}
