/** The signed payload, taken from the body as sent and never from a schema's output (D6). */
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'

/** The longest encoding of a P-256 signature has 96 characters; what is far longer is not carried through the ledger. */
const MAX_SIGNATURE_LENGTH = 1024
/** A signature that verifies under no key. It replaces one that is too long, so that the account is still looked up first (D7). */
const UNVERIFIABLE = '-'

export function signedPayload(body: JsonObject, without: readonly string[]): string {
  return canonicalJson(Object.fromEntries(Object.entries(body).filter(([field]) => !without.includes(field))))
}

/** A signature, or a proof, as it is sent on. */
export function carriedSignature(signature: string): string {
  return signature.length > MAX_SIGNATURE_LENGTH ? UNVERIFIABLE : signature
}

/** How a repeat tells that it is one (D7). */
export function repeatHeaders(answer: {
  readonly replayed: boolean
  readonly mismatch: boolean
}): Record<string, string> {
  if (!answer.replayed) return {}
  return answer.mismatch
    ? { 'idempotency-replayed': 'true', 'idempotency-payload-mismatch': 'true' }
    : { 'idempotency-replayed': 'true' }
}
