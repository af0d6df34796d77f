/** Rows of `transactions` as the domain knows them. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { TRANSACTION_TYPES, type TransactionType } from '../../actors/account/commands.ts'
import type { Failure, TransactionRecord } from '../../actors/account/transaction.ts'
import { TRANSACTION_STATUSES, type TransactionStatus, type TransactionView } from '../../runtime/ports/ledger-reads.ts'
import type { ReceiptWrite } from '../../runtime/ports/ledger-store.ts'
import { detailsOf } from './transaction-details.ts'

/** What the list and the detail show. */
export interface TransactionViewRow {
  readonly shard_id: number
  readonly txn_id: string
  readonly account_id: string
  readonly type: string
  readonly amount: string
  readonly token_id: string
  readonly group_id: string | null
  readonly status: string
  readonly failure_code: string | null
  readonly failure_detail: string | null
  readonly origin: string
  readonly metadata: string | null
  readonly to_account_id: string | null
  readonly from_account_id: string | null
  readonly details: string | null
  readonly compensated_by: string | null
  readonly created_at: Date
  readonly processed_at: Date | null
  readonly audit_hash: Buffer | null
}

/** What the receipt is made from, beside that. */
export interface TransactionReceiptRow extends TransactionViewRow {
  readonly sequence: string | null
  readonly previous_hash: Buffer | null
  readonly idempotency_key: string
  readonly payload_hash: Buffer
  readonly key_id: string
  readonly receipt_key_id: string | null
  readonly receipt_signature: string | null
}

/** Names of the columns, without user input in them. */
export const VIEW_COLUMNS = [
  'shard_id',
  'txn_id',
  'account_id',
  'type',
  'amount',
  'token_id',
  'group_id',
  'status',
  'failure_code',
  'failure_detail',
  'origin',
  'metadata',
  'to_account_id',
  'from_account_id',
  'details',
  'compensated_by',
  'created_at',
  'processed_at',
  'audit_hash',
] as const satisfies readonly (keyof TransactionViewRow)[]

export const RECEIPT_COLUMNS = [
  ...VIEW_COLUMNS,
  'sequence',
  'previous_hash',
  'idempotency_key',
  'payload_hash',
  'key_id',
  'receipt_key_id',
  'receipt_signature',
] as const satisfies readonly (keyof TransactionReceiptRow)[]

/** A row holds what this code does not know: the database is newer or damaged. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow'
}

export function transactionViewOf(row: TransactionViewRow): TransactionView {
  const { receive, compensates } = detailsOf(row.details)
  return {
    txnId: row.txn_id,
    accountId: row.account_id,
    shardId: row.shard_id,
    type: typeOf(row.type),
    amount: row.amount,
    tokenId: row.token_id,
    groupId: row.group_id,
    status: statusOf(row.status),
    failure: failureOf(row),
    origin: originOf(row.origin),
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as JsonObject),
    toAccountId: row.to_account_id,
    fromAccountId: row.from_account_id,
    receive,
    compensates,
    compensatedBy: row.compensated_by,
    createdAtMs: row.created_at.getTime(),
    processedAtMs: row.processed_at?.getTime() ?? null,
    auditHash: row.audit_hash?.toString('hex') ?? null,
  }
}

/** A final transaction and the signature of its receipt; undefined while there is none. */
export function processedOf(
  row: TransactionReceiptRow,
): { readonly transaction: TransactionRecord; readonly receipt: ReceiptWrite } | undefined {
  if (row.receipt_key_id === null || row.receipt_signature === null) return undefined
  return {
    transaction: {
      ...transactionViewOf(row),
      ...detailsOf(row.details),
      sequence: row.sequence === null ? null : Number(row.sequence),
      previousHash: row.previous_hash?.toString('hex') ?? null,
      idempotencyKey: row.idempotency_key,
      payloadHash: row.payload_hash.toString('hex'),
      keyId: row.key_id,
    },
    receipt: { keyId: row.receipt_key_id, signature: row.receipt_signature },
  }
}

function typeOf(text: string): TransactionType {
  return known(TRANSACTION_TYPES, text, 'type')
}

function statusOf(text: string): TransactionStatus {
  return known(TRANSACTION_STATUSES, text, 'status')
}

function originOf(text: string): TransactionRecord['origin'] {
  return known(['client', 'ledger'] as const, text, 'origin')
}

/** Codes are stored by clients: one that a later release wrote is shown as it is. */
function failureOf(row: TransactionViewRow): Failure | null {
  if (row.failure_code === null) return null
  return { code: row.failure_code as Failure['code'], detail: row.failure_detail ?? '' }
}

/** The value among those the code knows. Throws UnreadableRow. */
export function known<T extends string>(values: readonly T[], text: string, what: string): T {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined) throw new UnreadableRow(`A row has an unknown ${what}.`)
  return value
}
