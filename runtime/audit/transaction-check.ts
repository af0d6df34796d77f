/** Checks a final transaction: a completed one has an entry in its account's chain, a failed one has none. */
import { entryPayload } from '../../actors/account/record.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import { chainHash } from '../../actors/audit-chain.ts'
import { isDecimalString } from '../../actors/money.ts'

/** undefined: the transaction is consistent. */
export function transactionProblem(transaction: TransactionRecord): string | undefined {
  const { amount, status, failure, sequence, previousHash, auditHash, entry } = transaction
  if (!isDecimalString(amount)) return 'its amount is no quantity'
  if (status === 'failed') {
    if (sequence !== null || previousHash !== null || auditHash !== null)
      return 'it failed and has a place in the chain'
    return failure === null ? 'it failed for no reason' : undefined
  }
  if (failure !== null) return 'it is completed and says why it failed'
  if (entry === null || previousHash === null || auditHash === null) return 'it is completed and in no chain'
  return chainHash(previousHash, entryPayload(transaction)) === auditHash
    ? undefined
    : 'its audit_hash does not follow from what it says'
}
