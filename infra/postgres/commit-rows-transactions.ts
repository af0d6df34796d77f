/** Transactions as a commit writes them: new ones, and what becomes of earlier ones. */
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import type { ReceiptWrite, TransactionChange, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { type Column, type PlainColumn, type Section, section } from './commit-section.ts'
import { PLACES, type RowSealer } from './row-sealer.ts'
import { outcomeText, transactionText } from './transaction-document.ts'

/** Of what is final, or null of each. */
interface Decision {
  readonly transaction: TransactionRecord | null
  readonly receipt: ReceiptWrite | null
}

/** What a transaction has once it is final, and may not have before. */
const DECISION_COLUMNS: readonly PlainColumn<Decision>[] = [
  { name: 'status', type: 'text', value: ({ transaction }) => transaction?.status ?? null },
  { name: 'failure_code', type: 'text', value: ({ transaction }) => transaction?.failure?.code ?? null },
  { name: 'processed_at', type: 'timestamptz', value: ({ transaction }) => transaction?.processedAtMs ?? null },
  { name: 'sequence', type: 'bigint', value: ({ transaction }) => transaction?.sequence ?? null },
  { name: 'previous_hash', type: 'bytea', value: ({ transaction }) => transaction?.previousHash ?? null },
  { name: 'audit_hash', type: 'bytea', value: ({ transaction }) => transaction?.auditHash ?? null },
  { name: 'receipt_key_id', type: 'text', value: ({ receipt }) => receipt?.keyId ?? null },
]

/** What a change sets; null of all of them where only `compensated_by` is set. */
export const DECISION_COLUMN_NAMES: readonly string[] = [...DECISION_COLUMNS.map(({ name }) => name), 'outcome']

const TRANSACTION_COLUMNS: readonly Column<TransactionWrite>[] = [
  { name: 'txn_id', type: 'text', value: ({ transaction }) => transaction.txnId },
  { name: 'account_id', type: 'text', value: ({ transaction }, { refOf }) => refOf(transaction.accountId) },
  { name: 'type', type: 'text', value: ({ transaction }) => transaction.type },
  {
    name: 'amount_bucket',
    type: 'integer',
    value: ({ transaction }, { vault }) => vault.amountBucket(transaction.amount),
  },
  { name: 'token_id', type: 'text', value: ({ transaction }) => transaction.tokenId },
  { name: 'group_id', type: 'uuid', value: ({ transaction }) => transaction.groupId },
  { name: 'origin', type: 'text', value: ({ transaction }) => transaction.origin },
  { name: 'created_at', type: 'timestamptz', value: ({ transaction }) => transaction.createdAtMs },
  {
    name: 'idempotency_key',
    type: 'text',
    value: ({ transaction }, { vault }) => vault.keyRef(transaction.accountId, transaction.idempotencyKey),
  },
  {
    name: 'document',
    type: 'sealed',
    value: (write, { shardId, refOf, ofAccount }) => {
      const { accountId, txnId } = write.transaction
      return ofAccount(accountId, PLACES.transaction(shardId, refOf(accountId), txnId), transactionText(write))
    },
  },
  ...DECISION_COLUMNS,
]

const UNDECIDED: Decision = { transaction: null, receipt: null }

const CHANGE_COLUMNS: readonly Column<TransactionChange>[] = [
  { name: 'txn_id', type: 'text', value: ({ txnId }) => txnId },
  { name: 'compensated_by', type: 'text', value: ({ compensatedBy }) => compensatedBy },
  {
    name: 'outcome',
    type: 'sealed',
    value: ({ finished }, { shardId, refOf, ofAccount }) => {
      if (finished === null) return null
      const { accountId, txnId } = finished.transaction
      return ofAccount(accountId, PLACES.outcome(shardId, refOf(accountId), txnId), outcomeText(finished))
    },
  },
  ...DECISION_COLUMNS.map(({ name, type, value }) => ({
    name,
    type,
    value: ({ finished }: TransactionChange, sealer: RowSealer) => value(finished ?? UNDECIDED, sealer),
  })),
]

export const TRANSACTION_SECTIONS = {
  transactions: section((part) => part.transactions, TRANSACTION_COLUMNS),
  transaction_changes: section((part) => part.transactionChanges, CHANGE_COLUMNS),
} satisfies Record<string, Section>
