/** Transactions as a commit writes them: new ones, and what becomes of earlier ones. */
import { canonicalJson } from '../../actors/canonical-json.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import type { ReceiptWrite, TransactionChange, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { type Column, type Section, section } from './commit-section.ts'
import { detailsText } from './transaction-details.ts'

/** Of what is final, or null of each. */
interface Decision {
  readonly transaction: TransactionRecord | null
  readonly receipt: ReceiptWrite | null
}

/** What a transaction has once it is final, and may not have before. */
const DECISION_COLUMNS: readonly Column<Decision>[] = [
  { name: 'status', type: 'text', value: ({ transaction }) => transaction?.status ?? null },
  { name: 'failure_code', type: 'text', value: ({ transaction }) => transaction?.failure?.code ?? null },
  { name: 'failure_detail', type: 'text', value: ({ transaction }) => transaction?.failure?.detail ?? null },
  { name: 'details', type: 'json', value: ({ transaction }) => transaction && detailsText(transaction) },
  { name: 'processed_at', type: 'timestamptz', value: ({ transaction }) => transaction?.processedAtMs ?? null },
  { name: 'sequence', type: 'bigint', value: ({ transaction }) => transaction?.sequence ?? null },
  { name: 'previous_hash', type: 'bytea', value: ({ transaction }) => transaction?.previousHash ?? null },
  { name: 'audit_hash', type: 'bytea', value: ({ transaction }) => transaction?.auditHash ?? null },
  { name: 'receipt_key_id', type: 'text', value: ({ receipt }) => receipt?.keyId ?? null },
  { name: 'receipt_signature', type: 'text', value: ({ receipt }) => receipt?.signature ?? null },
]

const TRANSACTION_COLUMNS: readonly Column<TransactionWrite>[] = [
  { name: 'txn_id', type: 'text', value: ({ transaction }) => transaction.txnId },
  { name: 'account_id', type: 'text', value: ({ transaction }) => transaction.accountId },
  { name: 'type', type: 'text', value: ({ transaction }) => transaction.type },
  { name: 'amount', type: 'text', value: ({ transaction }) => transaction.amount },
  { name: 'quantity', type: 'numeric', value: ({ transaction }) => transaction.amount },
  { name: 'token_id', type: 'text', value: ({ transaction }) => transaction.tokenId },
  { name: 'group_id', type: 'uuid', value: ({ transaction }) => transaction.groupId },
  { name: 'origin', type: 'text', value: ({ transaction }) => transaction.origin },
  {
    name: 'metadata',
    type: 'json',
    value: ({ transaction }) => (transaction.metadata === null ? null : canonicalJson(transaction.metadata)),
  },
  { name: 'to_account_id', type: 'text', value: ({ transaction }) => transaction.toAccountId },
  { name: 'from_account_id', type: 'text', value: ({ transaction }) => transaction.fromAccountId },
  { name: 'created_at', type: 'timestamptz', value: ({ transaction }) => transaction.createdAtMs },
  { name: 'idempotency_key', type: 'text', value: ({ transaction }) => transaction.idempotencyKey },
  { name: 'payload', type: 'json', value: ({ transaction }) => transaction.payload },
  { name: 'payload_hash', type: 'bytea', value: ({ transaction }) => transaction.payloadHash },
  { name: 'signature', type: 'text', value: ({ transaction }) => transaction.signature },
  { name: 'key_id', type: 'text', value: ({ transaction }) => transaction.keyId },
  ...DECISION_COLUMNS,
]

/** What a change sets; null of all of them where only `compensated_by` is set. */
export const DECISION_COLUMN_NAMES: readonly string[] = DECISION_COLUMNS.map(({ name }) => name)

interface ChangeRow extends Decision {
  readonly change: TransactionChange
}

const CHANGE_COLUMNS: readonly Column<ChangeRow>[] = [
  { name: 'txn_id', type: 'text', value: ({ change }) => change.txnId },
  { name: 'compensated_by', type: 'text', value: ({ change }) => change.compensatedBy },
  ...DECISION_COLUMNS,
]

export const TRANSACTION_SECTIONS = {
  transactions: section((part) => part.transactions, TRANSACTION_COLUMNS),
  transaction_changes: section(
    (part) =>
      part.transactionChanges.map((change) => ({
        change,
        transaction: change.finished?.transaction ?? null,
        receipt: change.finished?.receipt ?? null,
      })),
    CHANGE_COLUMNS,
  ),
} satisfies Record<string, Section>
