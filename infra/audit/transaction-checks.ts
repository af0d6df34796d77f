/** Transactions as an audit reads them, each with the entry at its place, and what is said of one. */
import type { Finding } from '../../runtime/audit/finding.ts'
import { type EntryAtPlace, transactionProblem } from '../../runtime/audit/transaction-check.ts'
import type { TransactionName } from '../../runtime/ports/ledger-store.ts'
import { arrayLiteral } from '../postgres/array-literal.ts'
import { PLACES } from '../postgres/row-sealer.ts'
import {
  openTransaction,
  TRANSACTION_ROW_COLUMNS,
  type TransactionRow as StoredTransactionRow,
} from '../postgres/transaction-document.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { opened } from './opened.ts'
import type { ReceiptCheck } from './receipt-check.ts'
import { countedSql, type Look, orUnreadable } from './walk.ts'

/** With the columns that only look-ups use. */
export interface CheckedRow extends StoredTransactionRow {
  readonly processed_at: Date | null
  readonly sequence: string | null
  readonly previous_hash: Buffer | null
  readonly audit_hash: Buffer | null
  readonly receipt_key_id: string | null
  /** The reference. */
  readonly idempotency_key: string
  readonly amount_bucket: number
}

export const CHECKED_COLUMNS: readonly string[] = [
  ...TRANSACTION_ROW_COLUMNS,
  'processed_at',
  'sequence',
  'previous_hash',
  'audit_hash',
  'receipt_key_id',
  'idempotency_key',
  'amount_bucket',
] as const satisfies readonly (keyof CheckedRow)[]

export interface TransactionRow extends CheckedRow {
  /** Whether it is counted: by the commit that entered it. */
  readonly counted: boolean
  readonly account_exists: boolean
  /** Of one that is pending: whether its account holds something for it. */
  readonly held: boolean
  readonly entry_txn_id: string | null
  readonly entry_previous_hash: Buffer | null
  readonly entry_audit_hash: Buffer | null
  readonly entry_payload: Buffer | null
}

/** `transactions`: a relation of whole rows, as `SELECT *`; `below`: the parameter that says what is counted. */
export function transactionsSql(transactions: string, below: string): string {
  return `
SELECT ${CHECKED_COLUMNS.map((column) => `t.${column}`).join(', ')},
       ${countedSql('t.commit_xid', below)} AS counted,
       a.account_id IS NOT NULL AS account_exists,
       CASE WHEN t.status = 'pending' THEN coalesce(
         (SELECT true FROM holds h WHERE h.shard_id = t.shard_id AND h.account_id = t.account_id AND h.hold_id = t.txn_id),
         (SELECT true FROM holds h
           WHERE h.shard_id = t.shard_id AND h.account_id = t.account_id AND h.pending_txn_id = t.txn_id LIMIT 1),
         false) ELSE false END AS held,
       e.txn_id AS entry_txn_id, e.previous_hash AS entry_previous_hash, e.audit_hash AS entry_audit_hash,
       e.payload AS entry_payload
  FROM (${transactions}) t
  LEFT JOIN accounts a ON a.shard_id = t.shard_id AND a.account_id = t.account_id
  LEFT JOIN audit_entries e
    ON e.shard_id = t.shard_id AND e.account_id = t.account_id AND e.sequence = t.sequence`
}

const NAMED = transactionsSql(
  `SELECT w.* FROM unnest($1::integer[], $2::text[]) AS n (shard_id, txn_id)
     JOIN transactions w ON w.shard_id = n.shard_id AND w.txn_id = n.txn_id`,
  '$3',
)

/** Those of these names that there are, in no order, and none of them counted. */
export async function namedTransactions(
  { query }: Pick<Look, 'query'>,
  names: readonly TransactionName[],
): Promise<readonly TransactionRow[]> {
  if (names.length === 0) return []
  const shardIds = names.map(({ shardId }) => shardId)
  const txnIds = names.map(({ txnId }) => txnId)
  return query<TransactionRow>(NAMED, [arrayLiteral('integer', shardIds), arrayLiteral('text', txnIds), null])
}

type Stored = ReturnType<typeof openTransaction>

/** Its account's key must have been fetched. Throws UnreadableRow, too, where any column is not what was sealed. */
export function openChecked(row: CheckedRow, vault: RowVault): Stored {
  const stored = openTransaction(row, vault)
  const { transaction, receipt } = stored
  const agrees =
    transaction.txnId === row.txn_id &&
    transaction.shardId === row.shard_id &&
    transaction.processedAtMs === (row.processed_at?.getTime() ?? null) &&
    transaction.sequence === (row.sequence === null ? null : Number(row.sequence)) &&
    transaction.previousHash === (row.previous_hash?.toString('hex') ?? null) &&
    transaction.auditHash === (row.audit_hash?.toString('hex') ?? null) &&
    (receipt?.keyId ?? null) === row.receipt_key_id &&
    vault.keyRef(transaction.accountId, transaction.idempotencyKey) === row.idempotency_key
  if (agrees) return stored
  throw new UnreadableRow(
    PLACES.transaction(row.shard_id, row.account_id, row.txn_id),
    'its columns are not what was sealed',
  )
}

/** Of a final transaction. */
export function transactionFindings(row: TransactionRow, look: Look): readonly Finding[] {
  const place = `transaction ${row.txn_id}`
  const found = opened(() => openChecked(row, look.vault))
  if (!found.isOpen) {
    const { problem } = found
    return [
      { subject: 'chains_verify', place, problem },
      { subject: 'receipts_verify', place, problem },
    ]
  }
  return [...agreement(row, found.value, place, look.vault), ...receiptOf(found.value, place, look.receiptProblem)]
}

/** Of an account that was erased: what is left of a completed one is that it stands in its chain. */
export function erasedFindings(row: TransactionRow): readonly Finding[] {
  const { status, audit_hash: auditHash, entry_audit_hash: entryHash, entry_txn_id: entryTxnId } = row
  const isWhole =
    status === 'failed' ||
    (status === 'completed' && auditHash !== null && entryTxnId === row.txn_id && entryHash?.equals(auditHash) === true)
  if (isWhole) return []
  return [{ subject: 'chains_verify', place: `transaction ${row.txn_id}`, problem: 'its entry is not there' }]
}

/** Only whether it can be read, and agrees with itself and with its entry; or, while it is pending, with its account. */
export function agreementFindings(row: TransactionRow, { vault }: Look): readonly Finding[] {
  const place = `transaction ${row.txn_id}`
  const found = opened(() => openChecked(row, vault))
  if (!found.isOpen) return [{ subject: 'chains_verify', place, problem: found.problem }]
  if (row.status !== 'pending') return agreement(row, found.value, place, vault)
  return row.held ? [] : [{ subject: 'chains_verify', place, problem: 'it is pending, and its account has ended it' }]
}

function agreement(row: TransactionRow, stored: Stored, place: string, vault: RowVault): readonly Finding[] {
  const problem = orUnreadable(() => {
    const { transaction, receipt } = stored
    if (receipt === null) return 'it is final and has no receipt'
    return transactionProblem({
      transaction,
      payload: transaction.payload,
      searchable: vault.amountBucket(transaction.amount) === row.amount_bucket,
      accountExists: row.account_exists,
      entry: entryOf(row, vault),
    })
  }, 'it cannot be read')
  return problem === undefined ? [] : [{ subject: 'chains_verify', place, problem }]
}

function receiptOf(stored: Stored, place: string, receiptProblem: ReceiptCheck): readonly Finding[] {
  const problem = receiptProblemOf(stored, receiptProblem)
  return problem === undefined ? [] : [{ subject: 'receipts_verify', place, problem }]
}

/** Of a final transaction. */
export function receiptProblemOf({ transaction, receipt }: Stored, receiptProblem: ReceiptCheck): string | undefined {
  if (receipt === null) return 'it has no receipt'
  return orUnreadable(() => receiptProblem(transaction, receipt), 'it cannot be read')
}

function entryOf(row: TransactionRow, vault: RowVault): EntryAtPlace | null {
  const { entry_previous_hash: previousHash, entry_audit_hash: auditHash, entry_payload: payload } = row
  if (previousHash === null || auditHash === null || payload === null) return null
  const { shard_id: shardId, account_id: ref } = row
  const entry = opened(() => vault.open(accountKeyName(ref), PLACES.entry(shardId, ref, Number(row.sequence)), payload))
  return {
    txnId: row.entry_txn_id,
    previousHash: previousHash.toString('hex'),
    auditHash: auditHash.toString('hex'),
    // What is no JSON: an entry that cannot be read.
    payload: entry.isOpen ? entry.value : '',
  }
}
