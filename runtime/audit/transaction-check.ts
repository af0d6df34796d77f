/** Checks a final transaction: a completed one has an entry in its account's chain, a failed one has none. */
import { entryPayload } from '../../actors/account/record.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import { chainHash } from '../../actors/audit-chain.ts'
import { isDecimalString, parseQuantity } from '../../actors/money.ts'

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

/** D26. `refunded`: the sum of its completed refunds; null without one. undefined: no objection. */
export function refundProblem(
  { amount, status }: Pick<TransactionRecord, 'amount' | 'status'>,
  refunded: string | null,
): string | undefined {
  if (refunded === null) return undefined
  if (status !== 'completed') return 'it did not complete and was refunded'
  if (!isDecimalString(refunded)) return 'the sum of its refunds is no quantity'
  return parseQuantity(refunded) > parseQuantity(amount) ? 'its refunds exceed its amount' : undefined
}
