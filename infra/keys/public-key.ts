/**
 * Reads public keys of clients: a P-256 JWK, a PEM SPKI, or base64 (either alphabet) of a DER SPKI or of a SEC1 point,
 * compressed or not. All forms of a key give the same compressed point and thumbprint.
 *   K1. Only points on P-256 are accepted. Infinity, other curves, hybrid points and explicit parameters are refused.
 *   K2. A JWK with a private part is refused, so that clients do not learn to send private keys.
 */
import { createHash, createPublicKey, ECDH, KeyObject, webcrypto } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { decodeBase64 } from './base64.ts'

/** The same shape as an account's key. */
export interface PublicKey {
  /** RFC 7638 thumbprint, base64url. */
  readonly keyId: string
  /** Compressed SEC1 point (33 bytes), base64url. */
  readonly publicKey: string
}

export interface PublicJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  /** 32 bytes each, base64url. */
  readonly x: string
  readonly y: string
}

/** No form of a P-256 key is longer. */
const LONGEST_TEXT = 512
const PEM = /^-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/

/** DER of an SPKI with id-ecPublicKey on the named curve prime256v1 (RFC 5480), up to the point. */
const SPKI_UNCOMPRESSED = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex')
const SPKI_COMPRESSED = Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex')
const ES256 = { name: 'ECDSA', namedCurve: 'P-256' }
const COMPRESSED_BYTES = 33
const UNCOMPRESSED_BYTES = 65
const COORDINATE_BYTES = 32

/** Returns undefined for any other input. Never throws. */
export function readPublicKey(input: unknown): PublicKey | undefined {
  const encoded = typeof input === 'string' ? pointOfText(input.trim()) : pointOfJwk(input)
  return encoded === undefined ? undefined : publicKeyOf(encoded)
}

/** `publicKey`: a compressed point of `readPublicKey`. */
export function jwkOf(publicKey: string): PublicJwk {
  return jwkOfPoint(Buffer.from(publicKey, 'base64url'))
}

/** `key`: a P-256 key; a private one gives its public part. */
export function publicJwkOf(key: KeyObject): PublicJwk {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  // The export as a JWK can deadlock with a garbage collection in Node.js 20.
  return jwkOfPoint(publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI_UNCOMPRESSED.length))
}

/** `encoded`: SEC1, 33 or 65 bytes. */
function jwkOfPoint(encoded: Uint8Array): PublicJwk {
  const point = ECDH.convertKey(encoded, 'prime256v1', undefined, undefined, 'uncompressed') as Buffer
  const coordinate = (start: number): string => point.subarray(start, start + COORDINATE_BYTES).toString('base64url')
  return { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(1 + COORDINATE_BYTES) }
}

/** For verification. Rejects unless `publicKey` is a compressed point in base64url. */
export async function keyObjectOf(publicKey: string): Promise<KeyObject> {
  const point = decodeBase64(publicKey)
  if (point?.length !== COMPRESSED_BYTES) throw new TypeError('not a compressed point')
  // Faster than the import of a JWK, whose point OpenSSL validates by a multiplication, or of DER.
  return KeyObject.from(await webcrypto.subtle.importKey('raw', point, ES256, true, ['verify']))
}

/** RFC 7638: the required members in lexical order, without white space. */
export function thumbprintOf(jwk: PublicJwk): string {
  const canonical = JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y })
  return createHash('sha256').update(canonical, 'utf8').digest('base64url')
}

/** `encoded`: SEC1, 33 or 65 bytes. noble checks the range of the coordinates and the curve's equation. */
function publicKeyOf(encoded: Uint8Array): PublicKey | undefined {
  try {
    const point = p256.Point.fromBytes(encoded)
    point.assertValidity()
    const jwk = jwkOfPoint(point.toBytes(false))
    return { keyId: thumbprintOf(jwk), publicKey: Buffer.from(point.toBytes(true)).toString('base64url') }
  } catch {
    return undefined
  }
}

function pointOfText(text: string): Buffer | undefined {
  if (text.length > LONGEST_TEXT) return undefined
  const pem = PEM.exec(text)?.[1]?.replaceAll(/\s/g, '')
  if (pem !== undefined) return pointOfSpki(decodeBase64(pem))
  const bytes = decodeBase64(text)
  if (bytes === undefined) return undefined
  return bytes.length === COMPRESSED_BYTES || bytes.length === UNCOMPRESSED_BYTES ? bytes : pointOfSpki(bytes)
}

function pointOfSpki(der: Buffer | undefined): Buffer | undefined {
  if (der === undefined) return undefined
  for (const prefix of [SPKI_UNCOMPRESSED, SPKI_COMPRESSED]) {
    const pointBytes = prefix === SPKI_COMPRESSED ? COMPRESSED_BYTES : UNCOMPRESSED_BYTES
    if (der.length === prefix.length + pointBytes && der.subarray(0, prefix.length).equals(prefix)) {
      return der.subarray(prefix.length)
    }
  }
  return undefined
}

function pointOfJwk(input: unknown): Buffer | undefined {
  if (typeof input !== 'object' || input === null || 'd' in input) return undefined
  if (!('kty' in input && 'crv' in input && 'x' in input && 'y' in input)) return undefined
  if (input.kty !== 'EC' || input.crv !== 'P-256') return undefined
  const x = coordinateOf(input.x)
  const y = coordinateOf(input.y)
  return x === undefined || y === undefined ? undefined : Buffer.concat([Buffer.of(4), x, y])
}

/** RFC 7518, 6.2.1.2: 32 bytes, including leading zeros. */
function coordinateOf(value: unknown): Buffer | undefined {
  if (typeof value !== 'string') return undefined
  const bytes = decodeBase64(value)
  return bytes?.length === COORDINATE_BYTES ? bytes : undefined
}
