/**
 * Wraps data keys for storage. Each is bound to its name, so that the keys of accounts cannot be swapped. A wrapped key has
 * the ID of its master key, because there are two during a rotation.
 */
import { type KeyObject, randomBytes } from 'node:crypto'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import { openSealed, seal, type SealingContext } from '../keys/sealing.ts'
import { type KeyRing, wrappingKey } from '../keys/wrapping-keys.ts'
import type { KeyName } from './key-name.ts'
import { DATA_KEY_BYTES, type DataKey } from './sealed-text.ts'

export interface WrappedKey {
  readonly masterKeyId: string
  readonly wrapped: Buffer
}

export interface KeyWrapping {
  /** ID of the master key that `wrap` uses. */
  readonly masterKeyId: string
  /** Whether this process can unwrap keys of that master key. */
  readonly knows: (masterKeyId: string) => boolean
  readonly wrap: (name: KeyName, key: DataKey) => WrappedKey
  /** Throws MasterKeyMissing, and SealBroken if the bytes were changed or belong to another name. */
  readonly unwrap: (name: KeyName, wrapped: WrappedKey) => DataKey
}

export function createKeyWrapping({ current, previous }: KeyRing): KeyWrapping {
  const keys = new Map<string, KeyObject>()
  for (const held of [current, ...previous]) keys.set(held.masterKeyId, wrappingKey(held, 'data-keys'))
  const { masterKeyId } = current
  const keyOf = (id: string): KeyObject => {
    const key = keys.get(id)
    if (key === undefined)
      throw new MasterKeyMissing(`a key is wrapped under master key ${id}, which this process does not have`)
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
