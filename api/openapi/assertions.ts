/** Assertions: what the service signs about its ledger (D12). */
import { EVERYONE } from '../endpoint/route.ts'
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
import { sha256 } from '../schemas/responses/values.ts'
import type { Operation, Tag } from './model/operation.ts'
import { PAGING } from './parameters.ts'

export const proveLiabilities: Operation = {
  id: 'proveLiabilities',
  method: 'POST',
  path: '/v1/assertions/proof-of-liabilities',
  summary: 'Have the total liabilities signed',
  description: `What the ledger owes in all, at one moment: balances, and what is in transit between accounts, each unit once. The total is computed, for each token by a Merkle-sum tree; totals that do not reconcile are not signed (503).

An account holder verifies that the total includes the account with GET /v1/accounts/{accountId}/liability-proof. Concurrent requests share one computation; each result is signed for its own requester.

A proof covers at most one million balances for each processor of the edge, and four million in all. GET /readyz warns from 80 % of that.`,
  roles: EVERYONE,
  body: assertionRequestSchema,
  answers: [{ status: 200, description: 'The assertion.', content: liabilitiesAssertionResponse }],
  refusals: {
    ERR_DOWNSTREAM_FAILURE:
      'The proof is temporarily unavailable, the totals do not reconcile, or the ledger is too large: `detail` then names the limit.',
  },
}

export const proveProvenance: Operation = {
  id: 'proveProvenance',
  method: 'POST',
  path: '/v1/assertions/proof-of-provenance',
  summary: 'Have the provenance of all NFTs signed',
  description:
    'Whether every NFT’s history holds, from its mint to its owner, hash links and receipts included: as of the last complete pass and all that came since. A row that was tampered with makes `provenance_valid` false, and so does a pass that is a day old.',
  roles: EVERYONE,
  body: assertionRequestSchema,
  answers: [{ status: 200, description: 'The assertion.', content: provenanceAssertionResponse }],
}

export const proveCompliance: Operation = {
  id: 'proveCompliance',
  method: 'POST',
  path: '/v1/assertions/proof-of-compliance',
  summary: 'Have the outcome of the controls signed',
  description:
    'Which automated controls ran, and what they found: chains verify, value is conserved, receipts verify, no balance is negative, supplies reconcile. `compliant` says that every control passed and at least one ran.',
  roles: EVERYONE,
  body: assertionRequestSchema,
  answers: [{ status: 200, description: 'The assertion.', content: complianceAssertionResponse }],
}

export const verifyAssertion: Operation = {
  id: 'verifyAssertion',
  method: 'POST',
  path: '/v1/assertions/verify',
  summary: 'Verify an assertion',
  description:
    'Whether this ledger signed the result, with a key for assertions that was in use at `generated_at` and is not revoked. What is not valid is a 200 with the reason; only a field that is missing or of the wrong type is a 400.',
  roles: EVERYONE,
  body: assertionCheckSchema,
  answers: [{ status: 200, description: 'Whether it is valid.', content: verificationResponse }],
}

export const getLiabilityProof: Operation = {
  id: 'getLiabilityProof',
  method: 'GET',
  path: '/v1/accounts/:accountId/liability-proof',
  summary: 'Prove that an account is counted in',
  description:
    'For each token the account holds, its shares in the token’s tree with the hashes and sums beside the way to the root, and the signed total, so that `ledger verify` checks it all offline. Proofs are kept for 24 hours.',
  roles: EVERYONE,
  parameters: [
    {
      name: 'merkle_root',
      in: 'query',
      description: 'The `merkle_root` of the assertion that it is asked for; the latest, unless said.',
      schema: sha256,
    },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page of the proof.', content: liabilityProofResponse }],
  refusals: { ERR_NOT_FOUND: 'There is no such account, or no such proof any more.' },
}

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
  operations: [proveLiabilities, proveProvenance, proveCompliance, verifyAssertion, getLiabilityProof],
}
