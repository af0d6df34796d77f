/** Signatures of the service, checked with nothing but its published keys. */
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { Members } from '../../support/client-keys.ts'

/** `signature`: base64 of DER, as the interface has it; over the SHA-256 of the text. */
export function isSignedBy(key: Members, text: string, signature: string): boolean {
  const { kty, crv, x, y } = key
  const publicKey = createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' })
  const bytes = Buffer.from(signature, 'base64')
  return verify('sha256', Buffer.from(text, 'utf8'), { key: publicKey, dsaEncoding: 'der' }, bytes)
}
