/** Verifies assertions about the whole ledger: the signature covers the canonical JSON of the result. */
import type { ComplianceAssertion, LiabilitiesAssertion, ProvenanceAssertion } from '../generated/api-types.ts'
import { signatureProblem, type TrustedKeys } from './service-signature.ts'
import { type Invalid, judged, tampered, unexpected, type Verdict } from './verdict.ts'

export type Assertion = LiabilitiesAssertion | ProvenanceAssertion | ComplianceAssertion
type AssertionResult = Assertion['result']

const MOST_NAMED_TOKENS = 5

export interface AssertionExpectation {
  /** Members that the result must have, such as `{ requester, compliant: true }`. */
  readonly expected?:
    | Partial<LiabilitiesAssertion['result'] | ProvenanceAssertion['result'] | ComplianceAssertion['result']>
    | undefined
}

/** Whether the ledger signed it. A valid assertion may state that something is wrong: read `proved`, or expect a result. */
export async function verifyAssertion(
  assertion: Assertion,
  keySet: TrustedKeys,
  { expected = {} }: AssertionExpectation = {},
): Promise<Verdict> {
  return judged<Verdict>(async () => {
    const invalid = (await assertionProblem(assertion, keySet)) ?? unexpected(expected, assertion.result)
    if (invalid !== undefined) return invalid
    const { ledger_id, assertion_type, requester, generated_at } = assertion.result
    return {
      ok: true,
      proved: [
        `Ledger ${ledger_id} signed ${assertion_type} for ${requester} at ${generated_at}.`,
        `It states, as of ${assertion.result.as_of}: ${statedBy(assertion.result)}.`,
      ],
    }
  })
}

/** The result in words, of a valid assertion. */
export function statedBy(result: AssertionResult): string {
  switch (result.assertion_type) {
    case 'proof-of-liabilities':
      return liabilitiesText(result)
    case 'proof-of-provenance':
      return `the histories of ${result.assets_verified} NFTs are ${result.provenance_valid ? 'valid' : 'NOT VALID'}`
    case 'proof-of-compliance': {
      const failed = result.controls.filter(({ passed }) => !passed).map(({ name }) => name)
      return `${result.compliant ? 'compliant' : 'NOT COMPLIANT'}, ${failed.length === 0 ? 'no control failed' : `failed controls: ${failed.join(', ')}`}`
    }
  }
}

/** The total of each token, or the number of tokens if they are many. `total_liabilities` adds units of different tokens. */
export function liabilitiesText({ by_token: totals }: Pick<LiabilitiesAssertion['result'], 'by_token'>): string {
  if (totals.length > MOST_NAMED_TOKENS) return `liabilities in ${totals.length} tokens`
  const texts = totals.map(({ token_id: tokenId, total }) => `${total} ${tokenId}`)
  return texts.length === 0 ? 'no liabilities' : `liabilities of ${texts.join(', ')}`
}

/** Undefined for a valid assertion. */
export async function assertionProblem(assertion: Assertion, keySet: TrustedKeys): Promise<Invalid | undefined> {
  const { assertion_type, result, signature } = assertion
  if (result.assertion_type !== assertion_type) return tampered('its type is not the signed one')
  // Keys of assertions also sign statements, which have no type.
  if (!TYPES.includes(assertion_type)) return tampered('its type is that of no assertion')
  return signatureProblem({ signed: result, signature, purpose: 'assertion', timeMember: 'generated_at' }, keySet)
}

const TYPES: readonly unknown[] = ['proof-of-liabilities', 'proof-of-provenance', 'proof-of-compliance']
