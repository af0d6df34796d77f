/** Verifies assertions about the whole ledger: the signature covers the canonical JSON of the result. */
import type { ComplianceAssertion, LiabilitiesAssertion, ProvenanceAssertion } from '../generated/api-types.ts'
import { signatureProblem, type TrustedKeys } from './service-signature.ts'
import { type Invalid, judged, tampered, type Verdict } from './verdict.ts'

export type Assertion = LiabilitiesAssertion | ProvenanceAssertion | ComplianceAssertion

export async function verifyAssertion(assertion: Assertion, keySet: TrustedKeys): Promise<Verdict> {
  return judged<Verdict>(async () => {
    const invalid = await assertionProblem(assertion, keySet)
    if (invalid !== undefined) return invalid
    const { ledger_id, assertion_type, requester, generated_at } = assertion.result
    return { ok: true, proved: [`Ledger ${ledger_id} signed ${assertion_type} for ${requester} at ${generated_at}.`] }
  })
}

/** Undefined for a valid assertion. */
export async function assertionProblem(
  { assertion_type, result, signature }: Assertion,
  keySet: TrustedKeys,
): Promise<Invalid | undefined> {
  if (result.assertion_type !== assertion_type) return tampered('its type is not the signed one')
  return signatureProblem({ signed: result, signature, purpose: 'assertion', timeMember: 'generated_at' }, keySet)
}
