/** What a batch becomes in tables: one description from which both the statement and its parameters are made. */
import { valueOf } from '../../actors/account/state.ts'
import type { RecordedOperation } from '../../actors/account/outcome.ts'
import { formatQuantity, ZERO } from '../../actors/money.ts'
import type {
  AccountKeyWrite,
  AccountWrite,
  AuditEntryWrite,
  BalanceWrite,
  BoundaryCrossing,
  HoldName,
  HoldWrite,
} from '../../runtime/ports/ledger-store.ts'
import { ACTOR_SECTIONS, MESSAGE_SECTIONS } from './commit-rows-actors.ts'
import { TRANSACTION_SECTIONS } from './commit-rows-transactions.ts'
import { type Column, type Section, section, type SectionName } from './commit-section.ts'

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
  { name: 'nft_count', type: 'integer', value: ({ account }) => account.nftCount },
  { name: 'nft_room', type: 'integer', value: ({ account }) => account.nftRoom },
  { name: 'registered_by', type: 'text', value: ({ account }) => account.registeredBy },
  { name: 'updated_at', type: 'timestamptz', value: ({ account }) => account.updatedAtMs },
  { name: 'last_time', type: 'timestamptz', value: ({ account }) => account.lastTimeMs },
]

const BALANCE_COLUMNS: readonly Column<BalanceWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'token_id', type: 'text', value: ({ tokenId }) => tokenId },
  { name: 'balance', type: 'numeric', value: ({ balance }) => formatQuantity(balance.balance) },
  { name: 'reserved', type: 'numeric', value: ({ balance }) => formatQuantity(balance.reserved) },
  { name: 'incoming', type: 'numeric', value: ({ balance }) => formatQuantity(balance.incoming) },
  { name: 'room', type: 'numeric', value: ({ balance }) => formatQuantity(balance.room) },
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

const HOLD_NAME_COLUMNS: readonly Column<HoldName>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'hold_id', type: 'text', value: ({ holdId }) => holdId },
]

interface HoldRow extends HoldWrite {
  readonly value: ReturnType<typeof valueOf>
}

const HOLD_COLUMNS: readonly Column<HoldRow>[] = [
  ...HOLD_NAME_COLUMNS,
  { name: 'document', type: 'json', value: ({ hold }) => JSON.stringify(hold) },
  { name: 'token_id', type: 'text', value: ({ value }) => value?.tokenId ?? null },
  { name: 'value', type: 'numeric', value: ({ value }) => formatQuantity(value?.quantity ?? ZERO) },
  {
    name: 'pending_txn_id',
    type: 'text',
    value: ({ hold }) => (hold.kind === 'leg' && hold.state === 'holding' ? hold.txnId : null),
  },
]

const BOUNDARY_COLUMNS: readonly Column<BoundaryCrossing>[] = [
  { name: 'token_id', type: 'text', value: ({ tokenId }) => tokenId },
  { name: 'credited', type: 'numeric', value: ({ credited }) => credited },
  { name: 'debited', type: 'numeric', value: ({ debited }) => debited },
]

export const SECTIONS: Readonly<Record<SectionName, Section>> = {
  changed_accounts: section(
    (part) => part.accounts.filter((write) => write.previousVersion !== 0),
    [...ACCOUNT_COLUMNS, { name: 'previous_version', type: 'bigint', value: ({ previousVersion }) => previousVersion }],
  ),
  new_accounts: section(
    (part) => part.accounts.filter((write) => write.previousVersion === 0),
    [...ACCOUNT_COLUMNS, { name: 'created_at', type: 'timestamptz', value: ({ account }) => account.createdAtMs }],
  ),
  balances: section((part) => part.balances, BALANCE_COLUMNS),
  account_keys: section((part) => part.keys, KEY_COLUMNS),
  audit_entries: section((part) => part.entries, ENTRY_COLUMNS),
  ...TRANSACTION_SECTIONS,
  operations: section((part) => part.operations, OPERATION_COLUMNS),
  holds: section((part) => part.holds.map((write) => ({ ...write, value: valueOf(write.hold) })), HOLD_COLUMNS),
  removed_holds: section((part) => part.removedHolds, HOLD_NAME_COLUMNS),
  ...ACTOR_SECTIONS,
  ...MESSAGE_SECTIONS,
  boundary: section((part) => part.boundary, BOUNDARY_COLUMNS),
}
