/**
 * Keys and signatures as a client that knows only the interface makes them. Shares no code with the ledger, its
 * canonical JSON included, so that a mistake on one side does not hide one on the other.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export type Value = string | number | boolean | null | readonly Value[] | { readonly [member: string]: Value }
export type Members = { readonly [member: string]: Value }

export interface AccountKeys {
  readonly privateKey: KeyObject
  readonly jwk: Members
}

export function newAccountKeys(): AccountKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, jwk: { kty: 'EC', crv: 'P-256', ...coordinatesOf(publicKey) } }
}

/** Of a key on P-256. Not exported as a JWK: in Node.js 20 that can deadlock with a garbage collection, once in some thousand keys. */
export function coordinatesOf(publicKey: KeyObject): { readonly x: string; readonly y: string } {
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-64)
  const coordinate = (start: number): string => point.subarray(start, start + 32).toString('base64url')
  return { x: coordinate(0), y: coordinate(32) }
}

/** RFC 8785: members in the order of their UTF-16 units, no space outside strings. */
export function canonical(value: Value): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(canonical).join(',')}]`
  const members = Object.entries(value as Members).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

/** 64 bytes, r||s. */
export function signatureBytes(fields: Members, privateKey: KeyObject): Buffer {
  return sign('sha256', Buffer.from(canonical(fields)), { key: privateKey, dsaEncoding: 'ieee-p1363' })
}

/** The fields with `signature` added. */
export function signed(fields: Members, privateKey: KeyObject): Members {
  return { ...fields, signature: signatureBytes(fields, privateKey).toString('base64url') }
}

/** The ledger's `submission_hash`: the digest that is signed. */
export function submissionHash(fields: Members): string {
  return `sha256:${createHash('sha256').update(canonical(fields)).digest('hex')}`
}
