/** Responses about assertions (D12). */
import * as v from 'valibot'
import { accountIdField, tokenIdField } from '../fields.ts'
import {
  count,
  derSignature,
  keyId,
  minimalDecimal,
  minimalTotal,
  pageToken,
  reasonCode,
  sha256,
  text,
  timestamp,
} from '../values.ts'
import { define, withRule } from '../named-schema.ts'

const requester = [text, 'The requester that the client named.'] as const
const asOf = [timestamp, 'The moment that it tells of.'] as const
const lastFullPass = [v.nullable(timestamp), 'When the last complete pass ended; null before there was one.'] as const

/** Members of every result, and so signed. */
function commonFields<const T extends string>(type: T) {
  return {
    assertion_type: [v.literal(type), 'The type of the assertion.'],
    requester,
    ledger_id: text,
    key_id: [keyId, 'The key of the service that signs.'],
    generated_at: [timestamp, 'When it was signed.'],
  } as const
}

function assertionOf<const T extends string, const S extends v.GenericSchema>(
  name: string,
  description: string,
  type: T,
  result: S,
) {
  return define(name, description, {
    assertion_type: [v.literal(type), 'The type of the assertion.'],
    requester,
    result: [result, 'The findings.'],
    signature: [derSignature, 'The service’s, over the canonical JSON (RFC 8785) of `result`.'],
  })
}

export const liabilitiesResult = define('LiabilitiesResult', 'The liabilities of the ledger.', {
  total_liabilities: [minimalTotal, 'The sum over all fungible assets.'],
  merkle_root: [sha256, 'The hash over every token with its root and total.'],
  by_token: [v.array(v.object({ token_id: tokenIdField, total: minimalTotal })), 'The total of each token.'],
  as_of: asOf,
  ...commonFields('proof-of-liabilities'),
})

export const provenanceResult = define('ProvenanceResult', 'Whether the histories of all NFTs hold.', {
  assets_verified: [count, 'How many NFTs were looked at.'],
  provenance_valid: [v.boolean(), 'Whether all of their histories hold.'],
  as_of: asOf,
  last_full_pass_at: lastFullPass,
  ...commonFields('proof-of-provenance'),
})

export const controlOutcome = define('ControlOutcome', 'The result of one control.', {
  name: [reasonCode, 'The control.'],
  passed: [v.boolean(), 'Whether nothing was wrong.'],
  checked: [count, 'How many things were looked at.'],
  failed: [count, 'How many of them were wrong.'],
})

export const complianceResult = define('ComplianceResult', 'The results of the controls.', {
  compliant: [v.boolean(), 'Whether every control passed, and at least one ran.'],
  frameworks: [v.array(text), 'The frameworks that the controls make up.'],
  controls: [v.array(controlOutcome), 'The result of each control.'],
  as_of: asOf,
  last_full_pass_at: lastFullPass,
  ...commonFields('proof-of-compliance'),
})

export const liabilitiesAssertionResponse = assertionOf(
  'LiabilitiesAssertion',
  'The liabilities of the ledger, signed.',
  'proof-of-liabilities',
  liabilitiesResult,
)
export const provenanceAssertionResponse = assertionOf(
  'ProvenanceAssertion',
  'Whether the histories of all NFTs hold, signed.',
  'proof-of-provenance',
  provenanceResult,
)
export const complianceAssertionResponse = assertionOf(
  'ComplianceAssertion',
  'The results of the controls, signed.',
  'proof-of-compliance',
  complianceResult,
)

export const verificationResponse = withRule(
  define('Verification', 'Whether an assertion is valid.', {
    valid: [v.boolean(), 'Whether it is.'],
    verified_at: [timestamp, 'When it was verified.'],
    reason: [v.exactOptional(text), 'Why it is not.'],
  }),
  ({ valid, reason }) => valid === (reason === undefined),
  'has reason unless it is valid',
)

const sibling = v.object({ hash: sha256, sum: minimalTotal })

export const inclusionShare = define('InclusionShare', 'One share of a balance in the tree of its token.', {
  index: [count, 'The number of its leaf.'],
  amount: [minimalDecimal, 'How much of the balance it is.'],
  nonce: [v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)), 'The random value that blinds the leaf.'],
  siblings: [v.array(sibling), 'The hashes and sums beside the way to the root, from the leaf up.'],
})

export const tokenInclusion = define(
  'TokenInclusion',
  'The balance of an account in a token, as the token’s tree has it.',
  {
    token_id: tokenIdField,
    amount: [minimalDecimal, 'The balance.'],
    shares: [v.pipe(v.array(inclusionShare), v.minLength(1)), 'Shares that add up to it.'],
  },
)

export const liabilityProofResponse = define('LiabilityProof', 'One page of the proof that an account is counted in.', {
  account_id: accountIdField,
  merkle_root: [sha256, 'The hash that the assertion names.'],
  totals: [
    v.array(v.object({ token_id: tokenIdField, root: sha256, total: minimalTotal })),
    'Every token with the root of its tree: what `merkle_root` is over.',
  ],
  proofs: [v.array(tokenInclusion), 'The tokens that the account holds.'],
  assertion: [liabilitiesAssertionResponse, 'The signed total, for the client that asks.'],
  next_page_token: pageToken,
})
