/** Reads transactions for an audit, and checks each of them. */
import type { Finding } from '../../runtime/audit/finding.ts'
import { refundProblem, transactionProblem } from '../../runtime/audit/transaction-check.ts'
import {
  type OpenedTransaction,
  openTransaction,
  type StoredTransaction,
  TRANSACTION_ROW_COLUMNS,
  type TransactionRow as StoredRow,
} from '../postgres/rows/transaction-document.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { opened } from './opened.ts'
import type { ReceiptCheck } from './receipt-check.ts'
import { countedSql, type Look, orUnreadable } from './walk.ts'

export interface TransactionRow extends StoredRow {
  /** Whether the audit counts it; the commit that ended it decides. */
  readonly counted: boolean
  readonly account_exists: boolean
  /** Whether it has a pending and a final row. */
  readonly is_twice: boolean
}

/** `transactions`: a relation of whole rows of `all_transactions`; `below`: parameter with the bound of `countedSql`. */
export function transactionsSql(transactions: string, below: string): string {
  return `
SELECT ${TRANSACTION_ROW_COLUMNS.map((column) => `t.${column}`).join(', ')},
       t.ended_xid IS NOT NULL AND ${countedSql('t.ended_xid', below)} AS counted,
       a.account_id IS NOT NULL AS account_exists,
       t.ended_xid IS NULL AND EXISTS (SELECT FROM transactions f WHERE f.txn_id = t.txn_id) AS is_twice
  FROM (${transactions}) t
  LEFT JOIN accounts a ON a.shard_id = t.shard_id AND a.account_id = t.account_id`
}

/** At most one finding per subject. */
export function transactionFindings(row: TransactionRow, { vault, receiptProblem }: Look): readonly Finding[] {
  const place = `transaction ${row.txn_id}`
  const wrong = (subject: Finding['subject'], problem: string | undefined): Finding[] =>
    problem === undefined ? [] : [{ subject, place, problem }]
  if (row.is_twice) return wrong('chains_verify', 'it is pending, and has ended')
  const found = opened(() => openTransaction(row, vault))
  if (!found.isOpen) {
    return [
      ...wrong('chains_verify', found.problem),
      ...(row.status === 'pending' ? [] : wrong('receipts_verify', found.problem)),
    ]
  }
  if (row.status === 'pending')
    return wrong('chains_verify', row.account_exists ? undefined : 'its account is not there')
  return [
    ...wrong('chains_verify', recordProblem(row, found.value, vault)),
    ...wrong('receipts_verify', receiptProblemOf(found.value, receiptProblem)),
  ]
}

function recordProblem(
  row: TransactionRow,
  { transaction, refunded }: OpenedTransaction,
  vault: RowVault,
): string | undefined {
  if (!row.account_exists) return 'its account is not there'
  if (vault.amountBucket(transaction.accountId, transaction.amount) !== row.amount_bucket)
    return 'it is found by another amount than its own'
  const problem = orUnreadable(() => transactionProblem(transaction), 'it cannot be read')
  return problem ?? orUnreadable(() => refundProblem(transaction, refunded), 'the sum of its refunds cannot be read')
}

/** For a final transaction. */
export function receiptProblemOf(
  { transaction, receipt }: StoredTransaction,
  receiptProblem: ReceiptCheck,
): string | undefined {
  if (receipt === null) return 'it has no receipt'
  return orUnreadable(() => receiptProblem(transaction, receipt), 'it cannot be read')
}
