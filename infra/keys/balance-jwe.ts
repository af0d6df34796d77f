/**
 * What of an export only its receiver may read: compact JWE (RFC 7516) with ECDH-ES and A256GCM (RFC 7518) to its P-256 key.
 *   J1. Every text has an ephemeral key of its own, so that no key encrypts twice.
 *   J2. A balance opens only as what it was encrypted as: of this account and this token, and nothing else.
 *   J3. What does not open gives nothing but that it does not: no reason, no part of it. Nothing here throws for what others
 *       sent.
 * Written on node:crypto: libraries get at the coordinates of the ephemeral key by exporting it, which in Node.js 20 can
 * deadlock with a garbage collection, and take ten times as long.
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
import { formatQuantity, isDecimalString, parseQuantity } from '../../actors/money.ts'
import { balanceText } from '../../api/schemas/export-record.ts'
import type { PublicKey } from './public-key.ts'

/** Whose holding of what. */
export interface BalanceOf {
  readonly accountId: string
  readonly tokenId: string
}

/** The private key of a thumbprint (RFC 7638); undefined when there is none. */
export type PrivateKeyOf = (keyId: string) => KeyObject | undefined

const CURVE = 'prime256v1'
const CIPHER = 'aes-256-gcm'
const ENCRYPTION = 'A256GCM'
const KEY_BITS = 256
const IV_BYTES = 12
const TAG_BYTES = 16
const COORDINATE_BYTES = 32
/** None that is written here has half of it. */
const LONGEST_JWE = 2_048

/** `balance`: in minimal form and not zero. */
export function encryptBalance(recipient: PublicKey, { accountId, tokenId }: BalanceOf, balance: string): string {
  return encryptText(recipient, balanceText(accountId, tokenId, balance))
}

/** A quantity in minimal form that is not zero. undefined: it does not open (J3), or is of something else (J2). */
export function decryptBalance(
  privateKeyOf: PrivateKeyOf,
  { accountId, tokenId }: BalanceOf,
  jwe: string,
): string | undefined {
  const text = decryptText(privateKeyOf, jwe)
  const balance = text === undefined ? undefined : balanceIn(text)
  if (balance === undefined || balance === '0' || !isMinimal(balance)) return undefined
  return balanceText(accountId, tokenId, balance) === text ? balance : undefined
}

const KEY_SALT = /^[0-9a-f]{32}$/

/** `salt`: 32 hexadecimal digits. */
export function encryptKeySalt(recipient: PublicKey, salt: string): string {
  return encryptText(recipient, salt)
}

/** 32 hexadecimal digits; undefined when it does not open, or is none. */
export function decryptKeySalt(privateKeyOf: PrivateKeyOf, jwe: string): string | undefined {
  const text = decryptText(privateKeyOf, jwe)
  return text !== undefined && KEY_SALT.test(text) ? text : undefined
}

function encryptText({ keyId, publicKey }: PublicKey, text: string): string {
  const ephemeral = createECDH(CURVE)
  const point = ephemeral.generateKeys()
  const secret = ephemeral.computeSecret(publicKey, 'base64url')
  const protectedHeader = encode({ alg: 'ECDH-ES', enc: ENCRYPTION, epk: jwkOfPoint(point), kid: keyId })
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, contentKey(secret), iv).setAAD(Buffer.from(protectedHeader, 'ascii'))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  // The second part is empty: the key is agreed upon, not sent.
  return [protectedHeader, '', ...[iv, encrypted, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join(
    '.',
  )
}

function decryptText(privateKeyOf: PrivateKeyOf, jwe: string): string | undefined {
  if (jwe.length > LONGEST_JWE) return undefined
  const [protectedHeader = '', encryptedKey, ivText = '', text = '', tagText = '', ...more] = jwe.split('.')
  if (encryptedKey !== '' || more.length > 0) return undefined
  const [header, iv, encrypted, tag] = [protectedHeader, ivText, text, tagText].map(decode)
  if (header === undefined || encrypted === undefined || iv?.length !== IV_BYTES || tag?.length !== TAG_BYTES) {
    return undefined
  }
  try {
    const { kid, epk } = readHeader(header)
    const privateKey = privateKeyOf(kid)
    if (privateKey === undefined) return undefined
    const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: epk.x, y: epk.y }, format: 'jwk' })
    const decipher = createDecipheriv(CIPHER, contentKey(diffieHellman({ privateKey, publicKey })), iv)
    decipher.setAAD(Buffer.from(protectedHeader, 'ascii')).setAuthTag(tag)
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8')
  } catch {
    // No JSON, no header of ours, no point of the curve, or not what was encrypted (J3).
    return undefined
  }
}

/** Concat KDF (NIST SP 800-56A) as RFC 7518, 4.6.2 has it, without names of the parties: one round gives 256 bits. */
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

interface Header {
  readonly kid: string
  readonly epk: EphemeralJwk
}

class ForeignHeader extends Error {
  override readonly name = 'ForeignHeader'
}

/** Only what is written here: no compression, no names of parties, nothing that another reader would take otherwise. */
function readHeader(header: Buffer): Header {
  const { alg, enc, kid, epk, ...others } = objectOf(JSON.parse(header.toString('utf8')))
  const { kty, crv, x, y, ...strangers } = objectOf(epk)
  const ours =
    alg === 'ECDH-ES' &&
    enc === ENCRYPTION &&
    kty === 'EC' &&
    crv === 'P-256' &&
    Object.keys({ ...others, ...strangers }).length === 0
  if (!ours || typeof kid !== 'string' || typeof x !== 'string' || typeof y !== 'string') {
    throw new ForeignHeader('This is no header of an encrypted balance.')
  }
  return { kid, epk: { kty, crv, x, y } }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new ForeignHeader('This is no object.')
  return { ...value }
}

function balanceIn(text: string): string | undefined {
  try {
    const { balance } = objectOf(JSON.parse(text))
    return typeof balance === 'string' ? balance : undefined
  } catch {
    return undefined
  }
}

function isMinimal(balance: string): boolean {
  return isDecimalString(balance) && formatQuantity(parseQuantity(balance)) === balance
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url')
}

/** base64url without padding, as RFC 7515 wants it: Node.js skips what it does not know. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
