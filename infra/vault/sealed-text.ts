/**
 * Sealed texts: AES-256-GCM (NIST SP 800-38D) under a key of their own each, derived from a data key and 192 random bits
 * by the one-step key derivation of NIST SP 800-56C with SHA-256.
 *   T1. Nonces cannot repeat: of 192 random bits no two are equal in the life of a ledger, however much one data key
 *       seals and however many processes do it. (96 random bits under one key would last for 2^32 texts.)
 *   T2. The place (table, row, version; the address of a message) is authenticated and not stored: what was moved to
 *       another place does not open.
 *
 * Layout: version (1 byte) | nonce (24) | ciphertext | tag (16). The version is no first character of any JSON text.
 */
import { createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto'
import type { Place } from './place.ts'

/** 32 secret bytes. */
export type DataKey = Buffer

export const DATA_KEY_BYTES = 32
export const SEALED_VERSION = 1

const NONCE_BYTES = 24
const GCM_NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + NONCE_BYTES
/** What sealing adds to the bytes of a text. */
export const SEALING_BYTES = HEADER_BYTES + TAG_BYTES
const VERSION = Buffer.of(SEALED_VERSION)

/** The bytes do not open: another key, another place, or damage. Says no more than that. */
export class SealedTextBroken extends Error {
  override readonly name = 'SealedTextBroken'
}

/** Returns hexadecimal digits, as they go into a statement. */
export function sealText(key: DataKey, place: Place, text: string): string {
  return sealTextBytes(key, place, text).toString('hex')
}

export function sealTextBytes(key: DataKey, place: Place, text: string): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', keyOf(key, nonce), nonce.subarray(GCM_NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  cipher.setAAD(Buffer.from(place, 'utf8'))
  const ciphertext = cipher.update(text, 'utf8')
  // A stream cipher keeps nothing back: this makes the tag.
  cipher.final()
  return Buffer.concat([VERSION, nonce, ciphertext, cipher.getAuthTag()])
}

/** Throws SealedTextBroken. */
export function openText(key: DataKey, place: Place, bytes: Uint8Array): string {
  const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (sealed.length < SEALING_BYTES || sealed[0] !== SEALED_VERSION) {
    throw new SealedTextBroken('These are no sealed bytes.')
  }
  const nonce = sealed.subarray(1, HEADER_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', keyOf(key, nonce), nonce.subarray(GCM_NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(place, 'utf8'))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    const text = decipher.update(sealed.subarray(HEADER_BYTES, sealed.length - TAG_BYTES), undefined, 'utf8')
    return text + decipher.final('utf8')
  } catch (cause) {
    throw new SealedTextBroken('The sealed bytes do not open under this key and place.', { cause })
  }
}

/** SP 800-56C rev. 2, section 4: H(counter || Z || FixedInfo), here of one block. */
const PURPOSE = Buffer.from('ledger/text/1', 'utf8')
const NONCE_AT = 4 + DATA_KEY_BYTES + PURPOSE.length
const derivation = Buffer.alloc(NONCE_AT + NONCE_BYTES)
derivation.writeUInt32BE(1)
PURPOSE.copy(derivation, 4 + DATA_KEY_BYTES)

function keyOf(key: DataKey, nonce: Buffer): Buffer {
  key.copy(derivation, 4)
  nonce.copy(derivation, NONCE_AT)
  return hash('sha256', derivation, 'buffer')
}

/** Random bytes are fetched for many texts at once: a call costs as much as sealing a short text. */
const pool = Buffer.alloc(NONCE_BYTES * 256)
let used = pool.length

function nextNonce(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += NONCE_BYTES
  return pool.subarray(used - NONCE_BYTES, used)
}
