import { type KeySet, type LiabilityProof, verifyLiabilityProof } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED, tampered } from './finding.ts'

const UNPROVED = [
  'That these are all tokens of the account, with its present balances: compare them with the balances that the chain states.',
  'That the operator has assets for these liabilities: the ledger knows only what it owes.',
  'That everyone else is counted: each account holder verifies the own share, against the same root.',
  KEYS_UNPROVED,
]

/** Whether the signed liabilities count the account. `accountId`: of the page. */
export async function liabilityFinding(proof: LiabilityProof, keySet: KeySet, accountId: string): Promise<Finding> {
  const found = findingOf(await verifyLiabilityProof(proof, keySet), 'The proof', UNPROVED)
  if (found.outcome !== 'verified') return found
  if (proof.account_id !== accountId) {
    return tampered(`The proof is of account ${proof.account_id}, but this page is of ${accountId}.`)
  }
  if (proof.proofs.length > 0) return found
  const problem = 'The proof has no token of the account, so it does not prove that the account is counted.'
  return { outcome: 'unproved', problem, proved: [], unproved: [] }
}
