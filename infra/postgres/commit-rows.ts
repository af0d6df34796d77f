/** What a batch becomes in tables: one description from which both the statement and its parameters are made. */
import { canonicalJson } from '../../actors/canonical-json.ts'
import { formatQuantity } from '../../actors/money.ts'
import type {
  AccountKeyWrite,
  AccountWrite,
  AuditEntryWrite,
  BalanceWrite,
  ShardBatch,
  TransactionWrite,
} from '../../runtime/ports/ledger-store.ts'
import type { RecordedOperation } from '../../actors/account/outcome.ts'
import type { ColumnType, ColumnValue } from './array-literal.ts'

interface Column<Row> {
  readonly name: string
  readonly type: ColumnType
  readonly value: (row: Row) => ColumnValue
}

/** Rows of one table, or of one way to write it. `shard_id` comes first, always, and is not among the columns. */
export interface Section {
  readonly name: SectionName
  readonly columns: readonly { readonly name: string; readonly type: ColumnType }[]
  /** The rows of a shard's part, a value a column in the order of the columns. */
  readonly rowsOf: (part: ShardBatch) => readonly (readonly ColumnValue[])[]
}

export const SECTION_NAMES = [
  'changed_accounts',
  'new_accounts',
  'balances',
  'account_keys',
  'audit_entries',
  'transactions',
  'operations',
] as const
export type SectionName = (typeof SECTION_NAMES)[number]

function section<Row>(
  name: SectionName,
  select: (part: ShardBatch) => readonly Row[],
  columns: readonly Column<Row>[],
): Section {
  return {
    name,
    columns,
    rowsOf: (part) => select(part).map((row) => columns.map((column) => column.value(row))),
  }
}

const ACCOUNT_COLUMNS: readonly Column<AccountWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ account }) => account.accountId },
  { name: 'version', type: 'bigint', value: ({ account }) => account.version },
  { name: 'status', type: 'text', value: ({ account }) => account.status },
  { name: 'incoming', type: 'text', value: ({ account }) => account.incoming },
  { name: 'key_id', type: 'text', value: ({ account }) => account.key?.keyId ?? null },
  { name: 'public_key', type: 'text', value: ({ account }) => account.key?.publicKey ?? null },
  { name: 'sequence', type: 'bigint', value: ({ account }) => account.sequence },
  { name: 'tip', type: 'bytea', value: ({ account }) => account.tip },
  { name: 'completed_count', type: 'bigint', value: ({ account }) => account.completedCount },
  { name: 'failed_count', type: 'bigint', value: ({ account }) => account.failedCount },
  { name: 'registered_by', type: 'text', value: ({ account }) => account.registeredBy },
  { name: 'updated_at', type: 'timestamptz', value: ({ account }) => account.updatedAtMs },
  { name: 'last_time', type: 'timestamptz', value: ({ account }) => account.lastTimeMs },
]

const TRANSACTION_COLUMNS: readonly Column<TransactionWrite>[] = [
  { name: 'txn_id', type: 'text', value: ({ transaction }) => transaction.txnId },
  { name: 'account_id', type: 'text', value: ({ transaction }) => transaction.accountId },
  { name: 'type', type: 'text', value: ({ transaction }) => transaction.type },
  { name: 'amount', type: 'text', value: ({ transaction }) => transaction.amount },
  { name: 'quantity', type: 'numeric', value: ({ transaction }) => transaction.amount },
  { name: 'token_id', type: 'text', value: ({ transaction }) => transaction.tokenId },
  { name: 'group_id', type: 'uuid', value: ({ transaction }) => transaction.groupId },
  { name: 'status', type: 'text', value: ({ transaction }) => transaction.status },
  { name: 'failure_code', type: 'text', value: ({ transaction }) => transaction.failure?.code ?? null },
  { name: 'failure_detail', type: 'text', value: ({ transaction }) => transaction.failure?.detail ?? null },
  { name: 'origin', type: 'text', value: ({ transaction }) => transaction.origin },
  {
    name: 'metadata',
    type: 'json',
    value: ({ transaction }) => (transaction.metadata === null ? null : canonicalJson(transaction.metadata)),
  },
  { name: 'created_at', type: 'timestamptz', value: ({ transaction }) => transaction.createdAtMs },
  { name: 'processed_at', type: 'timestamptz', value: ({ transaction }) => transaction.processedAtMs },
  { name: 'sequence', type: 'bigint', value: ({ transaction }) => transaction.sequence },
  { name: 'previous_hash', type: 'bytea', value: ({ transaction }) => transaction.previousHash },
  { name: 'audit_hash', type: 'bytea', value: ({ transaction }) => transaction.auditHash },
  { name: 'idempotency_key', type: 'text', value: ({ transaction }) => transaction.idempotencyKey },
  { name: 'payload', type: 'json', value: ({ transaction }) => transaction.payload },
  { name: 'payload_hash', type: 'bytea', value: ({ transaction }) => transaction.payloadHash },
  { name: 'signature', type: 'text', value: ({ transaction }) => transaction.signature },
  { name: 'key_id', type: 'text', value: ({ transaction }) => transaction.keyId },
  { name: 'receipt_key_id', type: 'text', value: ({ receiptKeyId }) => receiptKeyId },
  { name: 'receipt_signature', type: 'text', value: ({ receiptSignature }) => receiptSignature },
]

const BALANCE_COLUMNS: readonly Column<BalanceWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'token_id', type: 'text', value: ({ tokenId }) => tokenId },
  { name: 'balance', type: 'numeric', value: ({ balance }) => formatQuantity(balance.balance) },
  { name: 'reserved', type: 'numeric', value: ({ balance }) => formatQuantity(balance.reserved) },
  { name: 'incoming', type: 'numeric', value: ({ balance }) => formatQuantity(balance.incoming) },
  { name: 'updated_at', type: 'timestamptz', value: ({ balance }) => balance.updatedAtMs },
]

const KEY_COLUMNS: readonly Column<AccountKeyWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'key_id', type: 'text', value: ({ key }) => key.keyId },
  { name: 'from_sequence', type: 'bigint', value: ({ fromSequence }) => fromSequence },
  { name: 'public_key', type: 'text', value: ({ key }) => key.publicKey },
  { name: 'registered_at', type: 'timestamptz', value: ({ atMs }) => atMs },
]

const ENTRY_COLUMNS: readonly Column<AuditEntryWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'sequence', type: 'bigint', value: ({ sequence }) => sequence },
  { name: 'txn_id', type: 'text', value: ({ txnId }) => txnId },
  { name: 'previous_hash', type: 'bytea', value: ({ previousHash }) => previousHash },
  { name: 'audit_hash', type: 'bytea', value: ({ auditHash }) => auditHash },
  { name: 'payload', type: 'json', value: ({ payload }) => payload },
]

const OPERATION_COLUMNS: readonly Column<RecordedOperation>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'operation', type: 'text', value: ({ operation }) => operation },
  { name: 'idempotency_key', type: 'text', value: ({ idempotencyKey }) => idempotencyKey },
  { name: 'payload_hash', type: 'bytea', value: ({ payloadHash }) => payloadHash },
  { name: 'key_id', type: 'text', value: ({ keyId }) => keyId },
  { name: 'answer', type: 'json', value: ({ answer }) => JSON.stringify(answer) },
  { name: 'recorded_at', type: 'timestamptz', value: ({ atMs }) => atMs },
]

export const SECTIONS: Readonly<Record<SectionName, Section>> = {
  changed_accounts: section(
    'changed_accounts',
    (part) => part.accounts.filter((write) => write.previousVersion !== 0),
    [...ACCOUNT_COLUMNS, { name: 'previous_version', type: 'bigint', value: ({ previousVersion }) => previousVersion }],
  ),
  new_accounts: section('new_accounts', (part) => part.accounts.filter((write) => write.previousVersion === 0), [
    ...ACCOUNT_COLUMNS,
    { name: 'created_at', type: 'timestamptz', value: ({ account }) => account.createdAtMs },
  ]),
  balances: section('balances', (part) => part.balances, BALANCE_COLUMNS),
  account_keys: section('account_keys', (part) => part.keys, KEY_COLUMNS),
  audit_entries: section('audit_entries', (part) => part.entries, ENTRY_COLUMNS),
  transactions: section('transactions', (part) => part.transactions, TRANSACTION_COLUMNS),
  operations: section('operations', (part) => part.operations, OPERATION_COLUMNS),
}
