/**
 * Signatures of the service's own keys.
 *   G1. A signature is valid only if its key has the expected purpose, is not revoked, and was in use at the time of the text.
 *   G2. It verifies only in its original encoding: DER in base64.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { isoTimestamp, parseTimestamp } from '../../actors/timestamp.ts'
import type { PublishedKey, ServiceKeys } from '../../runtime/ports/service-keys.ts'

/** `mismatch`: the key did not sign the text. */
export type SignatureProblem = 'unknown_key' | 'other_purpose' | 'revoked' | 'not_in_use' | 'mismatch'

export interface SignedClaim {
  readonly keyId: unknown
  /** Milliseconds since 1970; NaN: unknown. */
  readonly atMs: number
  readonly text: string
  readonly signature: unknown
}

/** Undefined for a valid signature. `slackMs`: time before and after its use in which a key may sign. */
export function signatureProblem(
  { keyId, atMs, text, signature }: SignedClaim,
  purpose: string,
  keys: readonly PublishedKey<string>[],
  slackMs = 0,
): SignatureProblem | undefined {
  const key = keys.find((published) => published.keyId === keyId)
  if (key === undefined) return 'unknown_key'
  if (key.purpose !== purpose) return 'other_purpose'
  if (key.revokedAtMs !== null) return 'revoked'
  const { activeFromMs, retiredAtMs } = key
  // An unknown time fails both comparisons.
  const isInUse = atMs >= activeFromMs - slackMs && (retiredAtMs === null || atMs <= retiredAtMs + slackMs)
  if (!isInUse) return 'not_in_use'
  return typeof signature === 'string' && verifiesText(key, text, signature) ? undefined : 'mismatch'
}

/** Milliseconds since 1970; NaN for any value that is not a timestamp. */
export function timeMsIn(value: unknown): number {
  return (typeof value === 'string' ? parseTimestamp(value) : undefined) ?? Number.NaN
}

/** False also for a malformed key or signature. */
export function verifiesText(key: KeyObject | Pick<PublishedKey, 'x' | 'y'>, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64')
  // The decoder skips unknown characters: compare the re-encoded bytes.
  if (bytes.toString('base64') !== signature) return false
  try {
    return verify('sha256', Buffer.from(text, 'utf8'), { key: publicKeyOf(key), dsaEncoding: 'der' }, bytes)
  } catch {
    return false
  }
}

function publicKeyOf(key: KeyObject | Pick<PublishedKey, 'x' | 'y'>): KeyObject {
  if (!('x' in key)) return key
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: key.x, y: key.y }, format: 'jwk' })
}

export interface SignedContent<Content> {
  readonly content: Content
  /** Canonical JSON of the content, which the signature covers. */
  readonly text: string
  /** DER in base64. */
  readonly signature: string
}

/** `build` gets the key's ID and the time. Throws when no assertion key can sign. */
export async function signAssertion<Content extends JsonObject>(
  keys: ServiceKeys,
  nowMs: number,
  build: (keyId: string, at: string) => Content,
): Promise<SignedContent<Content>> {
  const keyId = keys.current('assertion')
  const key = keys.published().find((published) => published.keyId === keyId)
  // The key may have come into use since the clock was read (G1).
  const content = build(keyId, isoTimestamp(Math.max(nowMs, key?.activeFromMs ?? nowMs)))
  const text = canonicalJson(content)
  const [signature] = await keys.sign(keyId, [text])
  if (signature === undefined) throw new Error('the assertion key did not sign')
  return { content, text, signature }
}
