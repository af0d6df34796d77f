/** Rows of `transactions` as reads show them. */
import type { TransactionView } from '../../../runtime/ports/ledger-reads.ts'
import type { StoredTransaction, TransactionRow } from './transaction-document.ts'

export function transactionViewOf(row: TransactionRow, { transaction }: StoredTransaction): TransactionView {
  return {
    txnId: transaction.txnId,
    accountId: transaction.accountId,
    shardId: row.shard_id,
    type: transaction.type,
    amount: transaction.amount,
    tokenId: transaction.tokenId,
    groupId: transaction.groupId,
    status: transaction.status,
    failure: transaction.failure,
    origin: transaction.origin,
    metadata: transaction.metadata,
    toAccountId: transaction.toAccountId,
    fromAccountId: transaction.fromAccountId,
    receive: transaction.receive,
    compensates: transaction.compensates,
    compensatedBy: row.compensated_by,
    createdAtMs: transaction.createdAtMs,
    processedAtMs: transaction.processedAtMs,
    auditHash: transaction.auditHash,
  }
}
