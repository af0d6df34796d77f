/**
 * Wrapping keys seal the secrets in the database. Each purpose has its own key, derived from the master key. A process holds
 * only those of its part.
 *   W1. No wrapping key reveals another one or the master key (HKDF-SHA-256, RFC 5869).
 *   W2. Each is a KeyObject: it reveals nothing in logs or JSON, and can be sent to a thread.
 */
import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { ServiceKeyPurpose } from '../../runtime/ports/service-keys.ts'

export const WRAPPING_KEY_BYTES = 32

/**
 * Keys for reading rows. The rotation of the master key starts with shard-secret and ends with the others. So every part
 * fails to start while it lacks one of the two master keys.
 */
const READING_USES = ['data-keys', 'index-secret', 'shard-secret'] as const

export type ServiceKeyUse = `${ServiceKeyPurpose}-keys`

/** A released name is never reused, nor is one of root-secret.ts. */
export const WRAPPING_USES = [
  ...READING_USES,
  'root-secret',
  'message-secret',
  'token-keys',
  'receipt-keys',
  'assertion-keys',
  'attestation-keys',
  'import-keys',
  // Tags of public keys (service-key-seals.ts).
  'public-keys',
] as const
export type WrappingUse = (typeof WRAPPING_USES)[number]

export const PARTS = ['node', 'edge', 'auditor'] as const
export type Part = (typeof PARTS)[number]

export const USES_OF_PART: Readonly<Record<Part, readonly WrappingUse[]>> = {
  node: [...READING_USES, 'message-secret', 'receipt-keys'],
  edge: [
    ...READING_USES,
    'message-secret',
    'root-secret',
    'token-keys',
    'assertion-keys',
    'attestation-keys',
    'import-keys',
    'public-keys',
  ],
  auditor: READING_USES,
}

/** The keys of one master key that a process holds. */
export interface WrappingKeys {
  /** ID of the master key: 16 hexadecimal digits that reveal nothing about it. */
  readonly masterKeyId: string
  readonly keys: Readonly<Partial<Record<WrappingUse, KeyObject>>>
}

/** `current` seals. All keys of the ring open. */
export interface KeyRing {
  readonly current: WrappingKeys
  readonly previous: readonly WrappingKeys[]
}

/** The part of this process has no key for the use. */
export class WrappingKeyMissing extends Error {
  override readonly name = 'WrappingKeyMissing'
}

export function wrappingKeysOf(master: KeyObject): WrappingKeys {
  const keys: Partial<Record<WrappingUse, KeyObject>> = {}
  for (const use of WRAPPING_USES) keys[use] = createSecretKey(derive(master, use))
  return { masterKeyId: idOfMasterKey(derive(master, 'master-key-id')), keys }
}

function derive(master: KeyObject, use: WrappingUse | 'master-key-id'): Buffer {
  return Buffer.from(hkdfSync('sha256', master, '', labelOf(use), WRAPPING_KEY_BYTES))
}

/** Of a derivation: a released label never changes. */
export function labelOf(use: WrappingUse | 'master-key-id'): string {
  return `ledger/${use}/1`
}

/** `derived`: for the use master-key-id. */
export function idOfMasterKey(derived: Buffer): string {
  return createHash('sha256').update(derived).digest('hex').slice(0, 16)
}

/** Throws WrappingKeyMissing. */
export function wrappingKey({ keys }: WrappingKeys, use: WrappingUse): KeyObject {
  const key = keys[use]
  if (key === undefined) throw new WrappingKeyMissing(`this process has no key for ${use}`)
  return key
}

/** Exactly the keys that the part needs. */
export function ringOfPart(ring: KeyRing, part: Part): KeyRing {
  return narrowed(ring, USES_OF_PART[part])
}

/** The keys for reading rows. */
export function readingRing(ring: KeyRing): KeyRing {
  return narrowed(ring, READING_USES)
}

function narrowed({ current, previous }: KeyRing, uses: readonly WrappingUse[]): KeyRing {
  const narrow = (held: WrappingKeys): WrappingKeys => ({
    masterKeyId: held.masterKeyId,
    keys: Object.fromEntries(uses.map((use) => [use, wrappingKey(held, use)])),
  })
  return { current: narrow(current), previous: previous.map(narrow) }
}
