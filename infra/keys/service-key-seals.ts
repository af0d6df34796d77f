/**
 * Protects the service's signing keys in the database.
 *   K1. A private key (PKCS #8, DER) is sealed under the wrapping key of its purpose, for its own row.
 *   K2. A public key has a tag under a wrapping key. It proves to a part without the private key that the ledger created
 *       the key.
 */
import { SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from '../../runtime/ports/service-keys.ts'
import { createMasterSeal, type MasterSeal, type OpenedSecret } from './master-seal.ts'
import type { SealingContext } from './sealing.ts'
import type { KeyRing, ServiceKeyUse } from './wrapping-keys.ts'

export interface ServicePublicKey {
  readonly purpose: ServiceKeyPurpose
  readonly keyId: string
  /** The point's coordinates, base64url. */
  readonly x: string
  readonly y: string
}

export interface ServiceKeySeals {
  /** Purposes whose private keys this process can seal and open. */
  readonly held: readonly ServiceKeyPurpose[]
  /** Whether this process can compute and check tags. */
  readonly tags: boolean
  /** Whether this process can create keys of every purpose. */
  readonly createsKeys: boolean
  /** Throws WrappingKeyMissing. */
  readonly seal: (key: ServicePublicKey, pkcs8: Uint8Array) => Buffer
  /** Throws MasterKeyMissing, WrappingKeyMissing. */
  readonly open: (key: ServicePublicKey, sealed: Uint8Array) => OpenedSecret
  /** Throws WrappingKeyMissing. */
  readonly tag: (key: ServicePublicKey) => Buffer
  /** The master key of the tag, as in `OpenedSecret`. Throws MasterKeyMissing, WrappingKeyMissing. */
  readonly check: (key: ServicePublicKey, tag: Uint8Array) => number
}

export function createServiceKeySeals(ring: KeyRing): ServiceKeySeals {
  const { keys } = ring.current
  const held = SERVICE_KEY_PURPOSES.filter((purpose) => keys[useOf(purpose)] !== undefined)
  const tags = keys['public-keys'] !== undefined
  const sealOf = (purpose: ServiceKeyPurpose): MasterSeal => createMasterSeal(ring, useOf(purpose))
  return {
    held,
    tags,
    createsKeys: tags && held.length === SERVICE_KEY_PURPOSES.length,
    seal: (key, pkcs8) => sealOf(key.purpose).seal(privateContext(key), pkcs8),
    open: (key, sealed) => sealOf(key.purpose).open(privateContext(key), sealed),
    tag: (key) => createMasterSeal(ring, 'public-keys').seal(publicContext(key), new Uint8Array()),
    check: (key, tag) => createMasterSeal(ring, 'public-keys').open(publicContext(key), tag).under,
  }
}

function useOf(purpose: ServiceKeyPurpose): ServiceKeyUse {
  return `${purpose}-keys`
}

function privateContext({ purpose, keyId }: ServicePublicKey): SealingContext {
  return ['service-key', purpose, keyId]
}

/** A tag seals an empty text: the context alone is authenticated. */
function publicContext({ purpose, keyId, x, y }: ServicePublicKey): SealingContext {
  return ['public-key', purpose, keyId, x, y]
}
