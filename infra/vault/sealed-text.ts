/**
 * Seals texts by AES-256-GCM (NIST SP 800-38D). Each text has its own key, derived from a data key and 192 random bits by the
 * one-step key derivation of NIST SP 800-56C with SHA-256.
 *   T1. 192-bit random nonces do not repeat in the life of a ledger, for any number of texts and processes. (96-bit nonces
 *       under one key would suffice for 2^32 texts.)
 *   T2. The place (table, row, version; or the address of a message) is authenticated but not stored: a text that was moved
 *       does not open.
 *
 * Layout: version (1 byte) | nonce (24) | ciphertext | tag (16). No JSON text begins with the version byte.
 */
import { type CipherGCMOptions, createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto'
import { padded, paddedBytes } from './padding.ts'
import type { Place } from './place.ts'

/** 32 secret bytes. */
export type DataKey = Buffer

/** base64, as a type that is distinct from hexadecimal digits. */
export type Base64Text = string & { readonly base64Text: never }

export const DATA_KEY_BYTES = 32
const SEALED_VERSION = 1

const NONCE_BYTES = 24
const GCM_NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + NONCE_BYTES
/** Bytes that sealing adds to a text. */
export const SEALING_BYTES = HEADER_BYTES + TAG_BYTES
const VERSION = Buffer.of(SEALED_VERSION)
const GCM: CipherGCMOptions = { authTagLength: TAG_BYTES }

const SPACE = 0x20
/** Longer than most texts of rows. */
const WORKSPACE_BYTES = 65_536
const workspace = { text: Buffer.alloc(WORKSPACE_BYTES), sealed: Buffer.alloc(WORKSPACE_BYTES + SEALING_BYTES) }
workspace.sealed[0] = SEALED_VERSION

/** Another key, another place, or damaged bytes. */
export class SealedTextBroken extends Error {
  override readonly name = 'SealedTextBroken'
}

/** Pads and seals a text. Reuses buffers: sealing is most of a node's work. */
export function sealPadded(key: DataKey, place: Place, text: string, digits: 'hex' | 'base64'): string {
  // A UTF-16 code unit takes at most 3 bytes of UTF-8.
  if (3 * text.length > workspace.text.length) return sealTextBytes(key, place, padded(text)).toString(digits)
  const { text: plain, sealed } = workspace
  const bytes = plain.write(text, 'utf8')
  const length = paddedBytes(bytes)
  plain.fill(SPACE, bytes, length)
  nextNonce().copy(sealed, 1)
  sealed.copy(gcmNonce, 0, HEADER_BYTES - GCM_NONCE_BYTES, HEADER_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(key, sealed, 1), gcmNonce, GCM)
  cipher.setAAD(Buffer.from(place, 'utf8'))
  cipher.update(plain.subarray(0, length)).copy(sealed, HEADER_BYTES)
  cipher.final()
  cipher.getAuthTag().copy(sealed, HEADER_BYTES + length)
  return sealed.toString(digits, 0, HEADER_BYTES + length + TAG_BYTES)
}

export function sealTextBytes(key: DataKey, place: Place, text: string): Buffer {
  return sealBytes(key, place, Buffer.from(text, 'utf8'))
}

export function sealBytes(key: DataKey, place: Place, bytes: Uint8Array): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', keyOf(key, nonce, 0), nonce.subarray(GCM_NONCE_BYTES), GCM)
  cipher.setAAD(Buffer.from(place, 'utf8'))
  const ciphertext = cipher.update(bytes)
  // Returns nothing, but computes the tag.
  cipher.final()
  return Buffer.concat([VERSION, nonce, ciphertext, cipher.getAuthTag()])
}

/** Copying a few bytes costs less than a view of the sealed bytes. */
const gcmNonce = Buffer.alloc(GCM_NONCE_BYTES)
const openedTag = Buffer.alloc(TAG_BYTES)

/** Throws SealedTextBroken. */
export function openText(key: DataKey, place: Place, bytes: Uint8Array): string {
  return openSealed(key, place, bytes).toString('utf8')
}

/** Throws SealedTextBroken. */
export function openSealed(key: DataKey, place: Place, bytes: Uint8Array): Buffer {
  const sealed = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (sealed.length < SEALING_BYTES || sealed[0] !== SEALED_VERSION) {
    throw new SealedTextBroken('These are not sealed bytes.')
  }
  const textEnd = sealed.length - TAG_BYTES
  sealed.copy(gcmNonce, 0, HEADER_BYTES - GCM_NONCE_BYTES, HEADER_BYTES)
  sealed.copy(openedTag, 0, textEnd)
  const decipher = createDecipheriv('aes-256-gcm', keyOf(key, sealed, 1), gcmNonce, GCM)
  decipher.setAAD(Buffer.from(place, 'utf8'))
  decipher.setAuthTag(openedTag)
  try {
    const text = decipher.update(sealed.subarray(HEADER_BYTES, textEnd))
    // Returns nothing, but verifies the tag.
    decipher.final()
    return text
  } catch (cause) {
    throw new SealedTextBroken('The sealed bytes do not open under this key and place.', { cause })
  }
}

/** SP 800-56C rev. 2, section 4: H(counter || Z || FixedInfo), with one block. */
const PURPOSE = Buffer.from('ledger/text/1', 'utf8')
const NONCE_AT = 4 + DATA_KEY_BYTES + PURPOSE.length
const derivation = Buffer.alloc(NONCE_AT + NONCE_BYTES)
derivation.writeUInt32BE(1)
PURPOSE.copy(derivation, 4 + DATA_KEY_BYTES)

/** The next call of `keyOf` overwrites it. */
const textKey = Buffer.alloc(DATA_KEY_BYTES)

/** Avoids a buffer for each hash, which would cost more than the hash. */
function keyOf(key: DataKey, nonce: Buffer, at: number): Buffer {
  key.copy(derivation, 4)
  nonce.copy(derivation, NONCE_AT, at, at + NONCE_BYTES)
  textKey.write(hash('sha256', derivation, 'binary'), 'latin1')
  return textKey
}

/** Random bytes are generated for many texts at once: a call costs as much as sealing a short text. */
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
