/** Transactions as an audit reads them, each with the entry at its place, and what is said of one. */
import type { Finding } from '../../actors/audit/finding.ts'
import { type EntryAtPlace, transactionProblem } from '../../actors/audit/transaction-check.ts'
import { processedOf, RECEIPT_COLUMNS, type TransactionReceiptRow } from '../postgres/transaction-rows.ts'
import type { ReceiptCheck } from './receipt-check.ts'
import { countedSql, orUnreadable } from './walk.ts'

export interface TransactionRow extends TransactionReceiptRow {
  readonly quantity: string
  readonly payload: string
  readonly commit_xid: string
  /** Whether it is counted: a completed one by the commit that wrote its entry. */
  readonly counted: boolean
  readonly account_exists: boolean
  readonly entry_txn_id: string | null
  readonly entry_previous_hash: Buffer | null
  readonly entry_audit_hash: Buffer | null
  readonly entry_payload: string | null
}

/** `transactions`: a relation of whole rows, as `SELECT *`; `below`: the parameter that says what is counted. */
export function transactionsSql(transactions: string, below: string): string {
  return `
SELECT ${RECEIPT_COLUMNS.map((column) => `t.${column}`).join(', ')}, t.quantity::text AS quantity, t.payload,
       t.commit_xid::text AS commit_xid, ${countedSql('coalesce(e.commit_xid, t.commit_xid)', below)} AS counted,
       a.account_id IS NOT NULL AS account_exists,
       e.txn_id AS entry_txn_id, e.previous_hash AS entry_previous_hash, e.audit_hash AS entry_audit_hash,
       e.payload AS entry_payload
  FROM (${transactions}) t
  LEFT JOIN accounts a ON a.shard_id = t.shard_id AND a.account_id = t.account_id
  LEFT JOIN audit_entries e
    ON e.shard_id = t.shard_id AND e.account_id = t.account_id AND e.sequence = t.sequence`
}

/** Of a final transaction. */
export function transactionFindings(row: TransactionRow, receiptProblem: ReceiptCheck): readonly Finding[] {
  const place = `transaction ${row.txn_id}`
  return [
    ...agreement(row, place),
    ...orUnreadable(
      () => receiptOf(row, place, receiptProblem),
      [{ subject: 'receipts_verify', place, problem: 'it cannot be read' }],
    ),
  ]
}

/** Only whether it agrees with itself and with its entry. */
export function agreementFindings(row: TransactionRow): readonly Finding[] {
  return agreement(row, `transaction ${row.txn_id}`)
}

function agreement(row: TransactionRow, place: string): readonly Finding[] {
  const problem = orUnreadable(() => {
    const processed = processedOf(row)
    if (processed === undefined) return 'it is final and has no receipt'
    const { quantity, payload, account_exists: accountExists } = row
    const { transaction } = processed
    return transactionProblem({ transaction, quantity, payload, accountExists, entry: entryOf(row) })
  }, 'it cannot be read')
  return problem === undefined ? [] : [{ subject: 'chains_verify', place, problem }]
}

function receiptOf(row: TransactionRow, place: string, receiptProblem: ReceiptCheck): readonly Finding[] {
  const problem = receiptProblemOf(row, receiptProblem)
  return problem === undefined ? [] : [{ subject: 'receipts_verify', place, problem }]
}

/** Of a final transaction. Throws for a row that cannot be read. */
export function receiptProblemOf(row: TransactionReceiptRow, receiptProblem: ReceiptCheck): string | undefined {
  const processed = processedOf(row)
  if (processed === undefined) return 'it has no receipt'
  return receiptProblem(processed.transaction, processed.receipt)
}

function entryOf(row: TransactionRow): EntryAtPlace | null {
  const { entry_previous_hash: previousHash, entry_audit_hash: auditHash, entry_payload: payload } = row
  if (previousHash === null || auditHash === null || payload === null) return null
  return {
    txnId: row.entry_txn_id,
    previousHash: previousHash.toString('hex'),
    auditHash: auditHash.toString('hex'),
    payload,
  }
}
