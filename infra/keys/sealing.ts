/**
 * Sealed secrets: AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D).
 *   E1. Bytes that were changed, moved to another context or sealed under another key do not open.
 *   E2. The context (purpose, row ID) is authenticated but not stored: `openSealed` needs it.
 * With random nonces a key may seal 2^32 times. These keys seal rows that are written once.
 *
 * Layout: version (1 byte) | nonce (12) | tag (16) | ciphertext.
 */
import { type CipherKey, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/** The purpose and the row of the sealed bytes. */
export type SealingContext = readonly [purpose: string, ...identity: readonly string[]]

/** Another key, another context, or damaged bytes. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

/** `key`: 32 bytes. */
export function seal(key: CipherKey, context: SealingContext, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associatedData(context))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext])
}

/** Throws SealBroken (E1). */
export function openSealed(key: CipherKey, context: SealingContext, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < HEADER_BYTES || bytes[0] !== VERSION) throw new SealBroken('These are not sealed bytes.')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(associatedData(context))
  decipher.setAuthTag(bytes.subarray(1 + NONCE_BYTES, HEADER_BYTES))
  try {
    const opened = decipher.update(bytes.subarray(HEADER_BYTES))
    // Returns nothing, but verifies the tag.
    decipher.final()
    return opened
  } catch (cause) {
    throw new SealBroken('The sealed bytes do not open under this key and context.', { cause })
  }
}

/** JSON separates the parts unambiguously: ['a', 'bc'] is not ['ab', 'c']. */
function associatedData(context: SealingContext): Buffer {
  return Buffer.from(JSON.stringify([VERSION, ...context]), 'utf8')
}
