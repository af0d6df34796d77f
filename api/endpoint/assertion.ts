/**
 * Signs assertions about the ledger, and verifies assertions (D12).
 *   A1. The signature is over the canonical JSON of the result, which names its type, ledger, requester, time and key: none
 *       of them can be exchanged.
 *   A2. A signature counts only if its key is one for assertions, is not revoked, and was in use at `generated_at`.
 *   A3. An invalid assertion gives a verdict with a reason, never an error.
 */
import { createPublicKey, verify } from 'node:crypto'
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { isoTimestamp, parseTimestamp } from '../../actors/timestamp.ts'
import type { PublishedKey } from '../../runtime/ports/service-keys.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import {
  ASSERTION_TYPES,
  type AssertionResult,
  type AssertionType,
  type GivenAssertion,
  RESULT_SCHEMAS,
} from '../schemas/assertion.ts'

/** As the interface shows it. */
export interface SignedAssertion {
  readonly assertion_type: AssertionType
  readonly requester: string
  readonly result: JsonObject
  /** DER in base64. */
  readonly signature: string
}

export interface AssertionSigner {
  /** `members`: of the result, without those that all results have. Throws when there is no key to sign with. */
  readonly sign: (type: AssertionType, requester: string, members: JsonObject) => Promise<SignedAssertion>
}

type SignerDependencies = Pick<EdgeDependencies, 'serviceKeys' | 'clock' | 'settings'>

export function createAssertionSigner({ serviceKeys, clock, settings }: SignerDependencies): AssertionSigner {
  return {
    sign: async (type, requester, members) => {
      const nowMs = clock.now()
      const keyId = serviceKeys.current('assertion')
      const key = serviceKeys.published().find((published) => published.keyId === keyId)
      const result = {
        ...members,
        assertion_type: type,
        requester,
        ledger_id: settings.ledgerId,
        key_id: keyId,
        // The key may have come into use since the clock was read (A2).
        generated_at: isoTimestamp(Math.max(nowMs, key?.activeFromMs ?? nowMs)),
      }
      const [signature] = await serviceKeys.sign(keyId, [canonicalJson(result)])
      if (signature === undefined) throw new Error('the assertion key did not sign')
      return { assertion_type: type, requester, result, signature }
    },
  }
}

/** A DER signature of P-256 has at most 72 bytes. */
const LONGEST_SIGNATURE = 96

/** A published key, as in the JWKS. */
export type AssertionKey = Omit<PublishedKey, 'purpose'> & { readonly purpose: string }

/** Why the assertion is not valid; undefined when it is. `keys`: of the ledger `ledgerId`. */
export function problemOfAssertion(
  given: GivenAssertion,
  keys: readonly AssertionKey[],
  ledgerId: string,
): string | undefined {
  const type = ASSERTION_TYPES.find((known) => known === given.assertionType)
  if (type === undefined) return `assertion_type must be one of ${ASSERTION_TYPES.join(', ')}.`
  const read = v.safeParse(RESULT_SCHEMAS[type], given.result)
  if (!read.success)
    return `The result is none of a ${type}: ${v.getDotPath(read.issues[0]) ?? 'a member'} is missing or wrong.`
  const result = read.output
  if (result.assertion_type !== type) return 'The result is of another assertion type.'
  if (result.ledger_id !== ledgerId) return 'The result is of another ledger.'
  return problemOfSignature(given, result, keys)
}

function problemOfSignature(
  { result, signature }: GivenAssertion,
  { key_id: keyId, generated_at: generatedAt }: AssertionResult,
  keys: readonly AssertionKey[],
): string | undefined {
  const key = keys.find((published) => published.keyId === keyId)
  if (key === undefined) return 'The key that the result names is none of this ledger.'
  if (key.purpose !== 'assertion') return 'The key that the result names is not for assertions.'
  if (key.revokedAtMs !== null) return 'The key that the result names is revoked.'
  const atMs = parseTimestamp(generatedAt) ?? Number.NaN
  if (!(atMs >= key.activeFromMs && (key.retiredAtMs === null || atMs <= key.retiredAtMs))) {
    return 'The key that the result names was not in use at generated_at.'
  }
  const bytes = signature.length > LONGEST_SIGNATURE ? undefined : Buffer.from(signature, 'base64')
  // The decoder skips unknown characters: compare the re-encoded bytes.
  if (bytes?.toString('base64') !== signature) return 'The signature is not base64 of DER.'
  return verifies(key, result, bytes) ? undefined : 'The signature does not match the result.'
}

function verifies({ x, y }: AssertionKey, result: JsonObject, signature: Buffer): boolean {
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const payload = Buffer.from(canonicalJson(result), 'utf8')
  try {
    return verify('sha256', payload, { key: publicKey, dsaEncoding: 'der' }, signature)
  } catch {
    // Bytes that are no signature at all.
    return false
  }
}
