/** Describes the rows of a batch: both the statement and its parameters are made from it. */
import type { RecordedOperation } from '../../../actors/account/outcome.ts'
import type {
  AccountKeyWrite,
  AccountWrite,
  AuditEntryWrite,
  BalanceWrite,
  HoldName,
  HoldWrite,
  ShardBatch,
} from '../../../runtime/ports/ledger-store.ts'
import type { MadeKey } from '../../vault/data-keys.ts'
import { accountKeyName, partsOf } from '../../vault/key-name.ts'
import type { Base64Text } from '../../vault/sealed-text.ts'
import { sealAccount, type SealedAccount } from '../rows/account-document.ts'
import { balanceText, holdRefOf, isOfTransaction } from '../rows/account-parts.ts'
import { assetOfFact, type EntryAsset } from '../rows/chain-entries.ts'
import { ACTOR_SECTIONS, MESSAGE_SECTIONS } from './commit-rows-actors.ts'
import { TRANSACTION_SECTIONS } from './commit-rows-transactions.ts'
import { keyNamesOfNew } from './commit-keys.ts'
import { type Column, type Section, section } from './commit-section.ts'
import { deleteFrom, equal, insertInto, nextVersion, upsert } from './commit-writes.ts'
import { PLACES, type RowSealer } from '../rows/row-sealer.ts'

const ACCOUNT_COLUMNS: readonly Column<SealedAccount>[] = [
  { name: 'account_id', type: 'text', value: ({ account }, { refOf }) => refOf(account.accountId) },
  { name: 'version', type: 'bigint', value: ({ account }) => account.version },
  { name: 'status', type: 'text', value: ({ account }) => account.status },
  { name: 'sequence', type: 'bigint', value: ({ account }) => account.sequence },
  { name: 'tip', type: 'bytea', value: ({ account }) => account.tip },
  { name: 'completed_count', type: 'bigint', value: ({ account }) => account.completedCount },
  { name: 'failed_count', type: 'bigint', value: ({ account }) => account.failedCount },
  { name: 'nft_count', type: 'integer', value: ({ account }) => account.nftCount },
  { name: 'nft_room', type: 'integer', value: ({ account }) => account.nftRoom },
  { name: 'updated_at', type: 'timestamptz', value: ({ account }) => account.updatedAtMs },
  { name: 'last_time', type: 'timestamptz', value: ({ account }) => account.lastTimeMs },
  { name: 'lasting_version', type: 'bigint', value: ({ lastingVersion }) => lastingVersion },
  { name: 'digest', type: 'sealed', value: ({ digest }) => digest },
  { name: 'lasting', type: 'sealed', value: ({ lasting }) => lasting },
]

function accountsWith(isAsked: (write: AccountWrite) => boolean) {
  return ({ accounts }: ShardBatch, sealer: RowSealer): SealedAccount[] =>
    accounts.filter(isAsked).map((write) => sealAccount(write, sealer))
}

const ERASED_COLUMNS: readonly Column<string>[] = [
  { name: 'account_id', type: 'text', value: (accountId, { refOf }) => refOf(accountId) },
]

const REMOVED_KEY_COLUMNS: readonly Column<string>[] = [
  { name: 'scope', type: 'text', value: (accountId, { refOf }) => partsOf(accountKeyName(refOf(accountId))).scope },
  { name: 'ref', type: 'text', value: (accountId, { refOf }) => partsOf(accountKeyName(refOf(accountId))).ref },
]

const DATA_KEY_COLUMNS: readonly Column<MadeKey>[] = [
  { name: 'scope', type: 'text', value: ({ name }) => partsOf(name).scope },
  { name: 'ref', type: 'text', value: ({ name }) => partsOf(name).ref },
  { name: 'master_key_id', type: 'text', value: ({ wrapped }) => wrapped.masterKeyId },
  { name: 'wrapped', type: 'bytea', value: ({ wrapped }) => wrapped.wrapped.toString('hex') },
]

/** Data keys that this part creates. */
function newKeys(part: ShardBatch, { vault, made }: RowSealer): MadeKey[] {
  return keyNamesOfNew(part, vault).flatMap((name) => made.get(name) ?? [])
}

const BALANCE_COLUMNS: readonly Column<BalanceWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }, { refOf }) => refOf(accountId) },
  { name: 'token_id', type: 'text', value: ({ tokenId }) => tokenId },
  { name: 'updated_at', type: 'timestamptz', value: ({ balance }) => balance.updatedAtMs },
  {
    name: 'document',
    type: 'sealed',
    value: ({ accountId, tokenId, balance }, { shardId, refOf, ofAccount }) =>
      ofAccount(accountId, PLACES.balance(shardId, refOf(accountId), tokenId), balanceText(balance)),
  },
]

const KEY_COLUMNS: readonly Column<AccountKeyWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }, { refOf }) => refOf(accountId) },
  { name: 'from_sequence', type: 'bigint', value: ({ fromSequence }) => fromSequence },
  { name: 'registered_at', type: 'timestamptz', value: ({ atMs }) => atMs },
  {
    name: 'document',
    type: 'sealed',
    value: ({ accountId, key: { keyId, publicKey }, fromSequence }, { shardId, refOf, ofAccount }) =>
      ofAccount(accountId, PLACES.key(shardId, refOf(accountId), fromSequence), JSON.stringify({ keyId, publicKey })),
  },
]

type EntryWrite = AuditEntryWrite & { readonly of: EntryAsset | null }

const ENTRY_COLUMNS: readonly Column<EntryWrite>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }, { refOf }) => refOf(accountId) },
  { name: 'sequence', type: 'bigint', value: ({ sequence }) => sequence },
  { name: 'previous_hash', type: 'bytea', value: ({ previousHash }) => previousHash },
  { name: 'audit_hash', type: 'bytea', value: ({ auditHash }) => auditHash },
  { name: 'token_id', type: 'text', value: ({ of }) => of?.tokenId ?? null },
  { name: 'processed_at', type: 'timestamptz', value: ({ of }) => of?.atMs ?? null },
  {
    name: 'payload',
    type: 'sealed',
    value: ({ accountId, sequence, payload }, { shardId, refOf, ofAccount }) =>
      ofAccount(accountId, PLACES.entry(shardId, refOf(accountId), sequence), payload),
  },
]

const OPERATION_COLUMNS: readonly Column<RecordedOperation>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }, { refOf }) => refOf(accountId) },
  { name: 'operation', type: 'text', value: ({ operation }) => operation },
  {
    name: 'idempotency_key',
    type: 'text',
    value: ({ accountId, idempotencyKey }, { vault }) => vault.keyRef(accountId, idempotencyKey),
  },
  { name: 'recorded_at', type: 'timestamptz', value: ({ atMs }) => atMs },
  { name: 'document', type: 'sealed', value: operationDocument },
]

function operationDocument(recorded: RecordedOperation, { shardId, vault, refOf, ofAccount }: RowSealer): Base64Text {
  const { accountId, operation, idempotencyKey, payloadHash, keyId, answer } = recorded
  const place = PLACES.operation(shardId, refOf(accountId), operation, vault.keyRef(accountId, idempotencyKey))
  return ofAccount(accountId, place, JSON.stringify({ idempotencyKey, payloadHash, keyId, answer }))
}

const HOLD_NAME_COLUMNS: readonly Column<HoldName>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }, { refOf }) => refOf(accountId) },
  { name: 'hold_id', type: 'text', value: ({ accountId, holdId }, { vault }) => holdRefOf(vault, accountId, holdId) },
]

const HOLD_COLUMNS: readonly Column<HoldWrite>[] = [
  ...HOLD_NAME_COLUMNS,
  {
    name: 'document',
    type: 'sealed',
    value: ({ accountId, holdId, hold }, { shardId, vault, refOf, ofAccount }) =>
      ofAccount(
        accountId,
        PLACES.hold(shardId, refOf(accountId), holdRefOf(vault, accountId, holdId)),
        JSON.stringify(hold),
      ),
  },
]

/** In the order in which a statement writes them. */
export const SECTIONS = {
  changed_accounts: section(
    accountsWith(({ previousVersion }) => previousVersion !== 0),
    [...ACCOUNT_COLUMNS, { name: 'previous_version', type: 'bigint', value: ({ previousVersion }) => previousVersion }],
    nextVersion('accounts', ['account_id'], { kept: ['lasting_version', 'lasting'] }),
    'an account is not in the version that its next state was computed from',
  ),
  new_accounts: section(
    accountsWith(({ previousVersion }) => previousVersion === 0),
    [...ACCOUNT_COLUMNS, { name: 'created_at', type: 'timestamptz', value: ({ account }) => account.createdAtMs }],
    insertInto('accounts'),
  ),
  data_keys: section(newKeys, DATA_KEY_COLUMNS, insertInto('data_keys')),
  balances: section((part) => part.balances, BALANCE_COLUMNS, upsert('balances', ['account_id', 'token_id'])),
  account_keys: section((part) => part.keys, KEY_COLUMNS, insertInto('account_keys')),
  // A transaction is its own entry.
  audit_entries: section(
    (part): EntryWrite[] =>
      part.entries.flatMap((entry) => (entry.txnId === null ? [{ ...entry, of: assetOfFact(entry.payload) }] : [])),
    ENTRY_COLUMNS,
    insertInto('audit_entries'),
  ),
  ...TRANSACTION_SECTIONS,
  operations: section((part) => part.operations, OPERATION_COLUMNS, insertInto('operations')),
  holds: section(
    (part) => part.holds.filter(({ hold }) => hold.kind !== 'pending'),
    HOLD_COLUMNS,
    upsert('holds', ['account_id', 'hold_id']),
  ),
  removed_holds: section(
    (part) => part.removedHolds.filter(({ holdId }) => !isOfTransaction(holdId)),
    HOLD_NAME_COLUMNS,
    deleteFrom('holds', equal('account_id', 'hold_id')),
  ),
  removed_balances: section((part) => part.erased, ERASED_COLUMNS, deleteFrom('balances', equal('account_id'))),
  removed_keys: section(
    (part) => part.erased,
    REMOVED_KEY_COLUMNS,
    deleteFrom('data_keys', equal('scope', 'ref'), '\nRETURNING t.shard_id'),
    'an account that is to be erased has no data key',
  ),
  ...ACTOR_SECTIONS,
  ...MESSAGE_SECTIONS,
} satisfies Record<string, Section>

export type SectionName = keyof typeof SECTIONS
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[]
