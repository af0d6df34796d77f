import { type KeySet, type LiabilityProof, type TokenBalance, verifyLiabilityProof } from '../../client/index.ts'
import { sameDecimal } from './decimals.ts'
import { type Finding, findingOf, KEYS_UNPROVED, tampered } from './finding.ts'

const UNPROVED = [
  'That these amounts are the balances of the account: compare them with the balances that the chain states.',
  'That the operator has assets for these liabilities: the ledger knows only what it owes.',
  'That everyone else is counted: each account holder verifies the own share, against the same root.',
  KEYS_UNPROVED,
]

/** The account of the page, and its balances at the time of the liabilities, as the ledger shows them. */
export interface LiabilitySubject {
  readonly accountId: string
  readonly balances: readonly Pick<TokenBalance, 'token_id' | 'balance'>[]
}

/** Whether the signed liabilities count the account, with the balance of each of its tokens. */
export async function liabilityFinding(
  proof: LiabilityProof,
  keySet: KeySet,
  { accountId, balances }: LiabilitySubject,
): Promise<Finding> {
  const found = findingOf(await verifyLiabilityProof(proof, keySet), 'The proof', UNPROVED)
  if (found.outcome !== 'verified') return found
  if (proof.account_id !== accountId) {
    return tampered(`The proof is of account ${proof.account_id}, but this page is of ${accountId}.`)
  }
  for (const token of new Set([...balances, ...proof.proofs].map(({ token_id: id }) => id))) {
    const balance = balances.find(({ token_id: id }) => id === token)?.balance ?? '0'
    const amount = proof.proofs.find(({ token_id: id }) => id === token)?.amount ?? '0'
    if (!sameDecimal(balance, amount)) return unproved(differenceText(token, balance, amount))
  }
  if (proof.proofs.length > 0) return found
  return unproved('The proof has no token of the account, so it does not prove that the account is counted.')
}

/** Liabilities also count value in transit, so an honest ledger may show a difference while orders are pending. */
function differenceText(token: string, balance: string, amount: string): string {
  return `The ledger shows a balance of ${balance} ${token}, but its liabilities count ${amount}. Pending orders may explain it: verify again without them.`
}

function unproved(problem: string): Finding {
  return { outcome: 'unproved', problem, proved: [], unproved: [] }
}
