import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { decodeBase64 } from './base64.ts'

/** The coordinates of a P-256 key, base64url. */
export interface KeyPoint {
  readonly x: string
  readonly y: string
}

/** `signature`: DER in base64 (RFC 4648). False also for a malformed key or signature. */
export function verifiesText(key: KeyObject | KeyPoint, text: string, signature: string): boolean {
  const bytes = decodeBase64(signature)
  if (bytes === undefined) return false
  try {
    return verify('sha256', Buffer.from(text, 'utf8'), { key: publicKeyOf(key), dsaEncoding: 'der' }, bytes)
  } catch {
    return false
  }
}

function publicKeyOf(key: KeyObject | KeyPoint): KeyObject {
  if (!('x' in key)) return key
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: key.x, y: key.y }, format: 'jwk' })
}
