/** Rows of `transactions` as reads show them. */
import type { TransactionView } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { opened } from './opened-rows.ts'
import { PLACES } from './row-sealer.ts'
import { openAmount, openTransaction, type TransactionRow } from './transaction-document.ts'

export type OpenedTransaction = ReturnType<typeof openTransaction>

/** Its account's key must have been fetched. Throws UnreadableRow. */
export function openedTransaction(row: TransactionRow, vault: RowVault): OpenedTransaction {
  const place = PLACES.transaction(row.shard_id, row.account_id, row.txn_id)
  return opened(place, () => openTransaction(row, vault))
}

/** Its account's key must have been fetched. Throws UnreadableRow. */
export function openedAmount(row: TransactionRow, vault: RowVault): string {
  const place = PLACES.transaction(row.shard_id, row.account_id, row.txn_id)
  return opened(place, () => openAmount(row, vault))
}

export function transactionViewOf(row: TransactionRow, { transaction }: OpenedTransaction): TransactionView {
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
