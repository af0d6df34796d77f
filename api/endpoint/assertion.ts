/**
 * Signs assertions about the ledger, and verifies assertions (D12).
 *   A1. The signature is over the canonical JSON of the result, which names its type, ledger, requester, time and key: none
 *       of them can be exchanged.
 *   A2. A signature counts only under an assertion key that was in use at `generated_at` (G1 of service-signature.ts).
 *   A3. An invalid assertion gives a verdict with a reason, never an error.
 */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { signAssertion, signatureProblem, type SignatureProblem, timeMsIn } from './service-signature.ts'
import type { PublishedKey } from '../../runtime/ports/service-keys.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import {
  ASSERTION_TYPES,
  type AssertionType,
  type GivenAssertion,
  RESULT_SCHEMAS,
} from '../schemas/requests/assertion.ts'

/** As the interface shows it. */
export interface SignedAssertion {
  readonly assertion_type: AssertionType
  readonly requester: string
  readonly result: JsonObject
  /** DER in base64. */
  readonly signature: string
}

/** `members`: of the result, without those that all results have. Throws when there is no key to sign with. */
export async function signedAssertion(
  { serviceKeys, clock, settings }: Pick<EdgeDependencies, 'serviceKeys' | 'clock' | 'settings'>,
  type: AssertionType,
  requester: string,
  members: JsonObject,
): Promise<SignedAssertion> {
  const { content: result, signature } = await signAssertion(serviceKeys, clock.now(), (keyId, at) => ({
    ...members,
    assertion_type: type,
    requester,
    ledger_id: settings.ledgerId,
    key_id: keyId,
    generated_at: at,
  }))
  return { assertion_type: type, requester, result, signature }
}

const SIGNATURE_PROBLEMS: Readonly<Record<SignatureProblem, string>> = {
  unknown_key: 'The key that the result names is not a key of this ledger.',
  other_purpose: 'The key that the result names is not for assertions.',
  revoked: 'The key that the result names is revoked.',
  not_in_use: 'The key that the result names was not in use at generated_at.',
  mismatch: 'The signature does not match the result.',
}

/** Why the assertion is not valid; undefined when it is. `keys`: of the ledger `ledgerId`. */
export function problemOfAssertion(
  given: GivenAssertion,
  keys: readonly PublishedKey<string>[],
  ledgerId: string,
): string | undefined {
  const type = ASSERTION_TYPES.find((known) => known === given.assertionType)
  if (type === undefined) return `assertion_type must be one of ${ASSERTION_TYPES.join(', ')}.`
  const read = v.safeParse(RESULT_SCHEMAS[type], given.result)
  if (!read.success)
    return `The result is not a result of ${type}: ${v.getDotPath(read.issues[0]) ?? 'a member'} is missing or wrong.`
  const result = read.output
  if (result.ledger_id !== ledgerId) return 'The result is of another ledger.'
  const { key_id: keyId, generated_at: at } = result
  const claim = { keyId, atMs: timeMsIn(at), text: canonicalJson(given.result), signature: given.signature }
  const problem = signatureProblem(claim, 'assertion', keys)
  return problem && SIGNATURE_PROBLEMS[problem]
}
