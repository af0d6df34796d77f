/**
 * Compact JWE (RFC 7516) with ECDH-ES and A256GCM (RFC 7518) to P-256 keys.
 *   J1. Every text has its own ephemeral key, so that no key encrypts twice.
 *   J2. A failure reveals neither a reason nor a part of the text. Foreign input never throws.
 *   J3. It does not authenticate the sender: everyone has the public key.
 * Uses node:crypto: JWE libraries export the ephemeral key, which in Node.js 20 can deadlock with a garbage collection, and
 * are ten times slower.
 */
import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createPublicKey,
  diffieHellman,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import * as v from 'valibot'
import type { PublicKey } from './public-key.ts'

/** Finds the private key of a thumbprint (RFC 7638). */
export type PrivateKeyOf = (keyId: string) => KeyObject | undefined

const CURVE = 'prime256v1'
const CIPHER = 'aes-256-gcm'
const ENCRYPTION = 'A256GCM'
const KEY_BITS = 256
const IV_BYTES = 12
const TAG_BYTES = 16
const COORDINATE_BYTES = 32

export function encryptJwe({ keyId, publicKey }: PublicKey, text: string): string {
  const ephemeral = createECDH(CURVE)
  const point = ephemeral.generateKeys()
  const secret = ephemeral.computeSecret(publicKey, 'base64url')
  const protectedHeader = encode({ alg: 'ECDH-ES', enc: ENCRYPTION, epk: jwkOfPoint(point), kid: keyId })
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, contentKey(secret), iv).setAAD(Buffer.from(protectedHeader, 'ascii'))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  // The second part, the encrypted key, is empty with ECDH-ES.
  return [protectedHeader, '', ...[iv, encrypted, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join(
    '.',
  )
}

/** undefined: the text does not open (J2). */
export function decryptJwe(privateKeyOf: PrivateKeyOf, jwe: string): string | undefined {
  const [protectedHeader = '', encryptedKey, ivText = '', text = '', tagText = '', ...more] = jwe.split('.')
  if (encryptedKey !== '' || more.length > 0) return undefined
  const [header, iv, encrypted, tag] = [protectedHeader, ivText, text, tagText].map(decode)
  if (header === undefined || encrypted === undefined || iv?.length !== IV_BYTES || tag?.length !== TAG_BYTES) {
    return undefined
  }
  try {
    const { kid, epk } = v.parse(headerSchema, JSON.parse(header.toString('utf8')))
    const privateKey = privateKeyOf(kid)
    if (privateKey === undefined) return undefined
    const publicKey = createPublicKey({ key: epk, format: 'jwk' })
    const decipher = createDecipheriv(CIPHER, contentKey(diffieHellman({ privateKey, publicKey })), iv)
    decipher.setAAD(Buffer.from(protectedHeader, 'ascii')).setAuthTag(tag)
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8')
  } catch {
    // Malformed header, invalid point or failed authentication (J2).
    return undefined
  }
}

/** Concat KDF of RFC 7518, 4.6.2 (NIST SP 800-56A), without party names: one round gives 256 bits. */
function contentKey(secret: Buffer): Buffer {
  const algorithm = Buffer.from(ENCRYPTION, 'ascii')
  const parts = [word(1), secret, word(algorithm.length), algorithm, word(0), word(0), word(KEY_BITS)]
  return hash('sha256', Buffer.concat(parts), 'buffer')
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

interface EphemeralJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** `point`: uncompressed. */
function jwkOfPoint(point: Buffer): EphemeralJwk {
  const x = point.subarray(1, 1 + COORDINATE_BYTES).toString('base64url')
  return { kty: 'EC', crv: 'P-256', x, y: point.subarray(1 + COORDINATE_BYTES).toString('base64url') }
}

/** Accepts only headers of this module: no compression, party names or other members. */
const headerSchema = v.strictObject({
  alg: v.literal('ECDH-ES'),
  enc: v.literal(ENCRYPTION),
  kid: v.string(),
  epk: v.strictObject({ kty: v.literal('EC'), crv: v.literal('P-256'), x: v.string(), y: v.string() }),
})

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url')
}

/** Strict base64url without padding (RFC 7515): the decoder of Node.js skips unknown characters. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
