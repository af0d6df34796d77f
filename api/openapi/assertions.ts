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
  assertion_type: 'The type of the assertion.',
  requester: 'The requester that the client named.',
  result: 'The findings.',
  signature: 'The service’s, over the canonical JSON (RFC 8785) of `result`.',
}
const RESULT_FIELDS = {
  assertion_type: 'The type of the assertion.',
  requester: 'The requester that the client named.',
  key_id: 'The key of the service that signs.',
  generated_at: 'When it was signed.',
}
const AS_OF = 'The moment that it tells of.'
const LAST_FULL_PASS = 'When the last complete pass ended; null before there was one.'

export const ASSERTIONS: Tag = {
  name: 'Assertions',
  description: 'Statements about the whole ledger, which the service signs and anyone can verify.',
  schemas: {
    AssertionRequest: {
      schema: assertionRequestSchema,
      description: 'The requester.',
      fields: { requester: 'The identifier of who asks; it is signed.' },
    },
    AssertionCheck: {
      schema: assertionCheckSchema,
      description: 'An assertion as it was received. Other fields are ignored.',
      fields: {
        assertion_type: 'The type of the assertion.',
        result: 'The findings, unchanged.',
        signature: 'The service’s, over the canonical JSON (RFC 8785) of `result`.',
      },
    },
    LiabilitiesResult: {
      schema: liabilitiesResult,
      description: 'The liabilities of the ledger.',
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
      description: 'The liabilities of the ledger, signed.',
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
      description: 'The result of one control.',
      fields: {
        name: 'The control.',
        passed: 'Whether nothing was wrong.',
        checked: 'How many things were looked at.',
        failed: 'How many of them were wrong.',
      },
    },
    ComplianceResult: {
      schema: complianceResult,
      description: 'The results of the controls.',
      fields: {
        ...RESULT_FIELDS,
        compliant: 'Whether every control passed, and at least one ran.',
        frameworks: 'The frameworks that the controls make up.',
        controls: 'The result of each control.',
        as_of: AS_OF,
        last_full_pass_at: LAST_FULL_PASS,
      },
    },
    ComplianceAssertion: {
      schema: complianceAssertionResponse,
      description: 'The results of the controls, signed.',
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
        nonce: 'The random value that blinds the leaf.',
        siblings: 'The hashes and sums beside the way to the root, from the leaf up.',
      },
    },
    TokenInclusion: {
      schema: tokenInclusion,
      description: 'The balance of an account in a token, as the token’s tree has it.',
      fields: { amount: 'The balance.', shares: 'Shares that add up to it.' },
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
