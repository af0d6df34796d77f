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
} from './values.ts'

/** Members of every result, and so signed. */
function commonEntries<const T extends string>(type: T) {
  return {
    assertion_type: v.literal(type),
    requester: text,
    ledger_id: text,
    key_id: keyId,
    generated_at: timestamp,
  }
}

export const liabilitiesResult = v.object({
  total_liabilities: minimalTotal,
  merkle_root: sha256,
  by_token: v.array(v.object({ token_id: tokenIdField, total: minimalTotal })),
  as_of: timestamp,
  ...commonEntries('proof-of-liabilities'),
})

export const provenanceResult = v.object({
  assets_verified: count,
  provenance_valid: v.boolean(),
  as_of: timestamp,
  last_full_pass_at: v.nullable(timestamp),
  ...commonEntries('proof-of-provenance'),
})

export const controlOutcome = v.object({ name: reasonCode, passed: v.boolean(), checked: count, failed: count })

export const complianceResult = v.object({
  compliant: v.boolean(),
  frameworks: v.array(text),
  controls: v.array(controlOutcome),
  as_of: timestamp,
  last_full_pass_at: v.nullable(timestamp),
  ...commonEntries('proof-of-compliance'),
})

export const liabilitiesAssertionResponse = v.object({
  assertion_type: v.literal('proof-of-liabilities'),
  requester: text,
  result: liabilitiesResult,
  signature: derSignature,
})

export const provenanceAssertionResponse = v.object({
  assertion_type: v.literal('proof-of-provenance'),
  requester: text,
  result: provenanceResult,
  signature: derSignature,
})

export const complianceAssertionResponse = v.object({
  assertion_type: v.literal('proof-of-compliance'),
  requester: text,
  result: complianceResult,
  signature: derSignature,
})

export const verificationResponse = v.pipe(
  v.object({ valid: v.boolean(), verified_at: timestamp, reason: v.exactOptional(text) }),
  v.check(({ valid, reason }) => valid === (reason === undefined), 'has reason unless it is valid'),
)

const sibling = v.object({ hash: sha256, sum: minimalTotal })

export const inclusionShare = v.object({
  index: count,
  amount: minimalDecimal,
  nonce: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  siblings: v.array(sibling),
})

export const tokenInclusion = v.object({
  token_id: tokenIdField,
  amount: minimalDecimal,
  shares: v.pipe(v.array(inclusionShare), v.minLength(1)),
})

export const liabilityProofResponse = v.object({
  account_id: accountIdField,
  merkle_root: sha256,
  totals: v.array(v.object({ token_id: tokenIdField, root: sha256, total: minimalTotal })),
  proofs: v.array(tokenInclusion),
  assertion: liabilitiesAssertionResponse,
  next_page_token: pageToken,
})
