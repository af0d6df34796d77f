/** Assertions: what the service signs about its ledger (D12). */
import { assertionCheckSchema, assertionRequestSchema } from '../schemas/assertion.ts'
import {
  complianceAssertionResponse,
  complianceResult,
  controlOutcome,
  inclusionShare,
  liabilitiesAssertionResponse,
  liabilitiesResult,
  liabilityProofResponse,
  provenanceAssertionResponse,
  provenanceResult,
  tokenInclusion,
  verificationResponse,
} from '../schemas/responses/assertion.ts'
import type { Tag } from '../endpoint/operation.ts'
import { GET_LIABILITY_PROOF } from '../routes/assertions/get-liability-proof.ts'
import { PROVE_COMPLIANCE } from '../routes/assertions/prove-compliance.ts'
import { PROVE_LIABILITIES } from '../routes/assertions/prove-liabilities.ts'
import { PROVE_PROVENANCE } from '../routes/assertions/prove-provenance.ts'
import { VERIFY_ASSERTION } from '../routes/assertions/verify-assertion.ts'

const ASSERTION_FIELDS = {
  assertion_type: 'What is asserted.',
  requester: 'Who asked.',
  result: 'What was found.',
  signature: 'The service’s, over the canonical JSON (RFC 8785) of `result`.',
}
const RESULT_FIELDS = {
  assertion_type: 'What is asserted.',
  requester: 'Who asked.',
  key_id: 'The key of the service that signs.',
  generated_at: 'When it was signed.',
}
const AS_OF = 'The moment that it tells of.'
const LAST_FULL_PASS = 'When the last complete pass ended; null before there was one.'

export const ASSERTIONS: Tag = {
  name: 'Assertions',
  description: 'What the service signs about its ledger, for whoever wants to hold it to that.',
  schemas: {
    AssertionRequest: {
      schema: assertionRequestSchema,
      description: 'Who asks.',
      fields: { requester: 'The identifier of who asks; it is signed.' },
    },
    AssertionCheck: {
      schema: assertionCheckSchema,
      description: 'An assertion, as it was given to somebody. Further fields are ignored.',
      fields: {
        assertion_type: 'What is asserted.',
        result: 'What was found, as it came.',
        signature: 'The service’s, over the canonical JSON (RFC 8785) of `result`.',
      },
    },
    LiabilitiesResult: {
      schema: liabilitiesResult,
      description: 'What the ledger owes.',
      fields: {
        ...RESULT_FIELDS,
        total_liabilities: 'The sum over all fungible assets.',
        merkle_root: 'The hash over every token with its root and total.',
        by_token: 'The total of each token.',
        as_of: AS_OF,
      },
    },
    LiabilitiesAssertion: {
      schema: liabilitiesAssertionResponse,
      description: 'What the ledger owes, signed.',
      fields: ASSERTION_FIELDS,
    },
    ProvenanceResult: {
      schema: provenanceResult,
      description: 'Whether the histories of all NFTs hold.',
      fields: {
        ...RESULT_FIELDS,
        assets_verified: 'How many NFTs were looked at.',
        provenance_valid: 'Whether all of their histories hold.',
        as_of: AS_OF,
        last_full_pass_at: LAST_FULL_PASS,
      },
    },
    ProvenanceAssertion: {
      schema: provenanceAssertionResponse,
      description: 'Whether the histories of all NFTs hold, signed.',
      fields: ASSERTION_FIELDS,
    },
    ControlOutcome: {
      schema: controlOutcome,
      description: 'What one control found.',
      fields: {
        name: 'The control.',
        passed: 'Whether nothing was wrong.',
        checked: 'How many things were looked at.',
        failed: 'How many of them were wrong.',
      },
    },
    ComplianceResult: {
      schema: complianceResult,
      description: 'What the controls found.',
      fields: {
        ...RESULT_FIELDS,
        compliant: 'Whether every control passed, and at least one ran.',
        frameworks: 'What the controls make up.',
        controls: 'What each control found.',
        as_of: AS_OF,
        last_full_pass_at: LAST_FULL_PASS,
      },
    },
    ComplianceAssertion: {
      schema: complianceAssertionResponse,
      description: 'What the controls found, signed.',
      fields: ASSERTION_FIELDS,
    },
    Verification: {
      schema: verificationResponse,
      description: 'Whether an assertion is valid.',
      fields: {
        valid: 'Whether it is.',
        verified_at: 'When it was verified.',
        reason: 'Why it is not.',
      },
    },
    InclusionShare: {
      schema: inclusionShare,
      description: 'One share of a balance in the tree of its token.',
      fields: {
        index: 'The number of its leaf.',
        amount: 'How much of the balance it is.',
        nonce: 'What blinds its leaf.',
        siblings: 'The hashes and sums beside the way to the root, from the leaf up.',
      },
    },
    TokenInclusion: {
      schema: tokenInclusion,
      description: 'What an account holds of a token, as the token’s tree has it.',
      fields: { amount: 'What is owed to the account.', shares: 'Shares that add up to it.' },
    },
    LiabilityProof: {
      schema: liabilityProofResponse,
      description: 'One page of the proof that an account is counted in.',
      fields: {
        merkle_root: 'The hash that the assertion names.',
        totals: 'Every token with the root of its tree: what `merkle_root` is over.',
        proofs: 'The tokens that the account holds.',
        assertion: 'The signed total, for the client that asks.',
      },
    },
  },
  operations: [PROVE_LIABILITIES, PROVE_PROVENANCE, PROVE_COMPLIANCE, VERIFY_ASSERTION, GET_LIABILITY_PROOF],
}
