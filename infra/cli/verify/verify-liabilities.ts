/**
 * Verifies an account's proof of liabilities offline:
 *   L1. The assertion, which signs the total and the root, is valid under the ledger's JWKS.
 *   L2. The totals of the tokens equal the signed ones, hash to the root and add up to the total.
 *   L3. The account's shares of each token hash and add up to the token's root and total.
 */
import { type Hash, showHash } from '../../../actors/audit-chain.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import {
  problemOfInclusion,
  rootOfTotals,
  type TokenProof,
  type TokenTotal,
} from '../../../runtime/liabilities/inclusion.ts'
import { decimalOf, unitsOf } from '../../../runtime/liabilities/sums.ts'
import { problemOfAssertion } from '../../../api/endpoint/assertion.ts'
import type { GivenAssertion } from '../../../api/schemas/requests/assertion.ts'
import type { ReceiptKeys } from './verify-receipt.ts'

export interface GivenLiabilityProof {
  readonly accountId: string
  readonly merkleRoot: Hash
  readonly totals: readonly TokenTotal[]
  readonly proofs: readonly TokenProof[]
  readonly assertion: GivenAssertion
}

/** Why the assertion is invalid; undefined if it is valid. */
export function problemOfGivenAssertion(given: GivenAssertion, { keys, ledgerId }: ReceiptKeys): string | undefined {
  const named = given.result['ledger_id']
  return problemOfAssertion(given, keys, ledgerId ?? (typeof named === 'string' ? named : ''))
}

/** Why the proof is invalid; undefined if it is valid. */
export function problemOfLiabilityProof(given: GivenLiabilityProof, keys: ReceiptKeys): string | undefined {
  return problemOfGivenAssertion(given.assertion, keys) ?? problemOfTotals(given) ?? problemOfProofs(given)
}

function problemOfTotals({ merkleRoot, totals, assertion }: GivenLiabilityProof): string | undefined {
  if (assertion.assertionType !== 'proof-of-liabilities') return 'its assertion is not a proof of liabilities'
  if (assertion.result['merkle_root'] !== showHash(merkleRoot)) return 'its merkle_root is not the signed one'
  if (rootOfTotals(totals) !== merkleRoot) return 'its totals do not hash to its merkle_root'
  const byToken = totals.map(({ tokenId, total }) => ({ token_id: tokenId, total }))
  if (canonicalJson(byToken) !== canonicalJson(assertion.result['by_token'] ?? null)) {
    return 'its totals are not the signed ones'
  }
  const sum = decimalOf(totals.reduce((units, { total }) => units + unitsOf(total), 0n))
  return sum === assertion.result['total_liabilities'] ? undefined : 'its totals do not add up to the signed total'
}

function problemOfProofs({ accountId, totals, proofs }: GivenLiabilityProof): string | undefined {
  const tokens = proofs.map(({ tokenId }) => tokenId)
  if (new Set(tokens).size !== tokens.length) return 'it has two proofs of one token'
  for (const proof of proofs) {
    const problem = problemOfInclusion(accountId, proof, totals)
    if (problem !== undefined) return `${proof.tokenId}: ${problem}`
  }
  return undefined
}
