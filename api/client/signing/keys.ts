/** Keys of accounts: ECDSA on P-256. The private part need not leave WebCrypto. */
import { base64, base64url, type Bytes, fromBase64, sha256, utf8 } from './bytes.ts'
import type { PublicJwk } from '../generated/api-types.ts'

/** A private `CryptoKey` of WebCrypto. */
export type PrivateKey = Parameters<typeof crypto.subtle.sign>[1]

export interface AccountKey {
  readonly privateKey: PrivateKey
  /** For `public_key` of a registration. */
  readonly publicKey: PublicJwk
  /** RFC 7638 thumbprint: `key_id` of the account. */
  readonly keyId: string
}

/** A private key as a JWK (RFC 7517). */
export interface PrivateJwk extends PublicJwk {
  readonly d: string
}

export interface KeyOptions {
  /** False: the private key signs and cannot be read. True by default. */
  readonly extractable?: boolean
}

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' }
const PEM = /^-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----$/
const LINE_LENGTH = 64

export async function generateKey({ extractable = true }: KeyOptions = {}): Promise<AccountKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ES256, extractable, ['sign', 'verify'])
  return accountKey(privateKey, await crypto.subtle.exportKey('jwk', publicKey))
}

/** `key`: PEM (PKCS #8), as `ledger keygen` writes it, or a JWK. Throws a TypeError for any other key. */
export async function importKey(
  key: string | PrivateJwk,
  { extractable = true }: KeyOptions = {},
): Promise<AccountKey> {
  try {
    const imported =
      typeof key === 'string'
        ? await crypto.subtle.importKey('pkcs8', derOf(key), ES256, true, ['sign'])
        : await crypto.subtle.importKey('jwk', jwkOf(key), ES256, true, ['sign'])
    const jwk = await crypto.subtle.exportKey('jwk', imported)
    const privateKey = extractable ? imported : await crypto.subtle.importKey('jwk', jwk, ES256, false, ['sign'])
    return await accountKey(privateKey, jwk)
  } catch (cause) {
    throw new TypeError('This is not a P-256 private key: a PKCS #8 PEM or a JWK.', { cause })
  }
}

/** Rejects for a key that is not extractable. */
export async function exportPem({ privateKey }: Pick<AccountKey, 'privateKey'>): Promise<string> {
  const text = base64(new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey)))
  const lines = text.match(new RegExp(`.{1,${LINE_LENGTH}}`, 'g')) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

/** Rejects for a key that is not extractable. */
export async function exportJwk({ privateKey }: Pick<AccountKey, 'privateKey'>): Promise<PrivateJwk> {
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', privateKey)
  return { kty: 'EC', crv: 'P-256', x, y, d }
}

/** RFC 7638: the `key_id` of an account with this key. */
export async function thumbprint({ x, y }: Pick<PublicJwk, 'x' | 'y'>): Promise<string> {
  return base64url(await sha256(utf8(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))))
}

/** The 64 bytes r||s, in base64url. */
export async function signText({ privateKey }: Pick<AccountKey, 'privateKey'>, text: string): Promise<string> {
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, utf8(text))
  return base64url(new Uint8Array(signature))
}

async function accountKey(
  privateKey: PrivateKey,
  { x = '', y = '' }: { readonly x?: string; readonly y?: string },
): Promise<AccountKey> {
  return { privateKey, publicKey: { kty: 'EC', crv: 'P-256', x, y }, keyId: await thumbprint({ x, y }) }
}

function jwkOf({ x, y, d }: PrivateJwk): PrivateJwk {
  return { kty: 'EC', crv: 'P-256', x, y, d }
}

function derOf(pem: string): Bytes {
  const der = fromBase64(PEM.exec(pem.trim())?.[1]?.replaceAll(/\s/g, '') ?? '')
  if (der === undefined) throw new TypeError('no PEM of a private key')
  return der
}
