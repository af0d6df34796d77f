/**
 * Transactions as a commit writes them. One that is final is a row of `transactions`, which is inserted once; one that
 * others still decide on is a row of `pending_transactions`, which is removed as the final row is inserted.
 */
import { invariant } from '../../../actors/result.ts'
import type { HoldWrite, RefundWrite, ShardBatch, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { pendingHoldText } from '../rows/account-parts.ts'
import { type Column, type PlainColumn, type Section, section, type Write } from './commit-section.ts'
import { deleteFrom, FENCED, insertInto, update } from './commit-writes.ts'
import { PLACES, type RowSealer } from '../rows/row-sealer.ts'
import {
  placeOfTransaction,
  receivedTokenOf,
  refsOfTransaction,
  type StoredTransaction,
  type TransactionRefs,
  transactionText,
} from '../rows/transaction-document.ts'

/** A transaction with the keyed hashes that its columns hold. */
interface ReferredWrite extends StoredTransaction {
  readonly refs: TransactionRefs
}

/** Columns of every transaction, in whichever table. */
const COLUMNS: readonly Column<ReferredWrite>[] = [
  { name: 'txn_id', type: 'text', value: ({ transaction }) => transaction.txnId },
  { name: 'account_id', type: 'text', value: ({ refs }) => refs.account },
  { name: 'type', type: 'text', value: ({ transaction }) => transaction.type },
  { name: 'amount_bucket', type: 'integer', value: ({ refs }) => refs.bucket },
  { name: 'token_id', type: 'text', value: ({ transaction }) => transaction.tokenId },
  { name: 'group_id', type: 'uuid', value: ({ refs }) => refs.group },
  { name: 'origin', type: 'text', value: ({ transaction }) => transaction.origin },
  { name: 'created_at', type: 'timestamptz', value: ({ transaction }) => transaction.createdAtMs },
  { name: 'idempotency_key', type: 'text', value: ({ refs }) => refs.key },
  {
    name: 'document',
    type: 'sealed',
    value: (write, { ofAccount }) =>
      ofAccount(write.transaction.accountId, placeOfTransaction(write, write.refs), transactionText(write)),
  },
]

interface FinalWrite extends ReferredWrite {
  readonly compensatedBy: string | null
}

/** Columns that only a final transaction has. */
const FINAL_COLUMNS: readonly PlainColumn<FinalWrite>[] = [
  { name: 'status', type: 'text', value: ({ transaction }) => transaction.status },
  { name: 'failure_code', type: 'text', value: ({ transaction }) => transaction.failure?.code ?? null },
  { name: 'processed_at', type: 'timestamptz', value: ({ transaction }) => transaction.processedAtMs },
  { name: 'sequence', type: 'bigint', value: ({ transaction }) => transaction.sequence },
  { name: 'received_token_id', type: 'text', value: ({ transaction }) => receivedTokenOf(transaction) },
  { name: 'previous_hash', type: 'bytea', value: ({ transaction }) => transaction.previousHash },
  { name: 'audit_hash', type: 'bytea', value: ({ transaction }) => transaction.auditHash },
  { name: 'receipt_key_id', type: 'text', value: ({ receipt }) => receipt?.keyId ?? null },
  { name: 'compensated_by', type: 'text', value: ({ compensatedBy }) => compensatedBy },
]

function finalIn({ transactions, transactionChanges }: ShardBatch, { vault }: RowSealer): FinalWrite[] {
  const final: FinalWrite[] = []
  const add = ({ transaction, receipt }: TransactionWrite, compensatedBy: string | null): void =>
    void final.push({ transaction, receipt, compensatedBy, refs: refsOfTransaction(transaction, vault) })
  for (const write of transactions) if (write.transaction.status !== 'pending') add(write, null)
  for (const { finished, compensatedBy } of transactionChanges) if (finished !== null) add(finished, compensatedBy)
  return final
}

interface PendingWrite extends ReferredWrite {
  /** The account's hold under the transaction's ID; undefined where the leg of a group is the hold. */
  readonly hold: HoldWrite['hold'] | undefined
}

function pendingIn({ transactions, holds }: ShardBatch, { vault }: RowSealer): PendingWrite[] {
  const pending = transactions.filter(({ transaction }) => transaction.status === 'pending')
  if (pending.length === 0) return []
  for (const { transaction, receipt } of pending) {
    invariant(receipt === null, `${transaction.txnId} is pending and has a receipt`)
  }
  const held = new Map(holds.map((write) => [write.holdId, write.hold]))
  return pending.map((write) => ({
    ...write,
    hold: held.get(write.transaction.txnId),
    refs: refsOfTransaction(write.transaction, vault),
  }))
}

/** Changed holds of transactions that are pending since an earlier batch. */
function changedHolds({ transactions, holds }: ShardBatch): HoldWrite[] {
  const changed = holds.filter(({ hold }) => hold.kind === 'pending')
  if (changed.length === 0) return []
  const entered = new Set(transactions.map(({ transaction }) => transaction.txnId))
  return changed.filter(({ holdId }) => !entered.has(holdId))
}

type HeldTransaction = Pick<HoldWrite, 'accountId' | 'holdId'> & { readonly hold: HoldWrite['hold'] | undefined }

const HOLD_COLUMN: Column<HeldTransaction> = {
  name: 'hold',
  type: 'sealed',
  value: ({ accountId, holdId, hold }, { shardId, refOf, ofAccount }) => {
    const text = hold?.kind === 'pending' ? pendingHoldText(hold) : null
    return text === null ? null : ofAccount(accountId, PLACES.hold(shardId, refOf(accountId), holdId), text)
  },
}

/**
 * `+ 0` leaves the planner no index but that of the ID: while the table is empty, the others that lead with `shard_id` promise as
 * little.
 */
const SAME_TRANSACTION = 't.txn_id = i.txn_id AND t.shard_id + 0 = i.shard_id'

const REFUND_COLUMNS: readonly Column<RefundWrite>[] = [
  { name: 'txn_id', type: 'text', value: ({ txnId }) => txnId },
  {
    name: 'refunded',
    type: 'sealed',
    value: ({ txnId, accountId, refunded }, { shardId, refOf, ofAccount }) =>
      ofAccount(accountId, PLACES.refunded(shardId, refOf(accountId), txnId), refunded),
  },
]

/** No unique index spans both tables. A key that a pending transaction has already is refused when that transaction ends. */
const KEY_UNUSED = `NOT EXISTS (
     SELECT FROM transactions f
      WHERE f.shard_id = i.shard_id AND f.account_id = i.account_id AND f.idempotency_key = i.idempotency_key)`

/** One that was pending keeps the number of the commit that entered it. */
const insertFinal: Write = ({ columns, table, sections }) => {
  const withEnded = sections.includes('ended_transactions')
  const entered = withEnded ? 'coalesce(e.entered_xid, pg_current_xact_id())' : 'pg_current_xact_id()'
  const ended = withEnded ? ' LEFT JOIN ended_transactions_written e ON e.txn_id = i.txn_id' : ''
  return `INSERT INTO transactions (${columns.join(', ')}, entered_xid)
SELECT ${columns.map((column) => `i.${column}`).join(', ')}, ${entered}
  FROM ${table}${ended}
 WHERE ${FENCED}
RETURNING txn_id, entered_xid`
}

export const TRANSACTION_SECTIONS = {
  pending_transactions: section(
    pendingIn,
    [
      ...COLUMNS,
      { name: 'is_hold', type: 'boolean', value: ({ hold }) => String(hold !== undefined) },
      {
        ...HOLD_COLUMN,
        value: ({ transaction: { accountId, txnId: holdId }, hold }: PendingWrite, sealer: RowSealer) =>
          HOLD_COLUMN.value({ accountId, holdId, hold }, sealer),
      } as Column<PendingWrite>,
    ],
    insertInto('pending_transactions', `\n   AND ${KEY_UNUSED}\nRETURNING txn_id`),
    'a pending transaction has the idempotency key of one that has ended',
  ),
  pending_holds: section(
    changedHolds,
    [{ name: 'txn_id', type: 'text', value: ({ holdId }) => holdId }, HOLD_COLUMN],
    update('pending_transactions', 'hold = i.hold', SAME_TRANSACTION),
    'a transaction whose hold has changed is not pending',
  ),
  ended_transactions: section(
    ({ transactionChanges }) => transactionChanges.filter(({ finished }) => finished !== null),
    [{ name: 'txn_id', type: 'text', value: ({ txnId }) => txnId }],
    deleteFrom('pending_transactions', SAME_TRANSACTION, '\nRETURNING t.shard_id, t.txn_id, t.entered_xid'),
    'a transaction that has ended was not pending',
  ),
  transactions: section(finalIn, [...COLUMNS, ...FINAL_COLUMNS], insertFinal),
  compensations: section(
    ({ transactionChanges }) => transactionChanges.filter(({ finished }) => finished === null),
    [
      { name: 'txn_id', type: 'text', value: ({ txnId }) => txnId },
      { name: 'compensated_by', type: 'text', value: ({ compensatedBy }) => compensatedBy },
    ],
    update('transactions', 'compensated_by = i.compensated_by', `${SAME_TRANSACTION} AND t.compensated_by IS NULL`),
    'a transaction that was compensated is not there, or was compensated before',
  ),
  refunds: section(
    ({ refunds }) => refunds,
    REFUND_COLUMNS,
    update('transactions', 'refunded = i.refunded', SAME_TRANSACTION),
    'a refunded transaction is not there, or is pending',
  ),
} satisfies Record<string, Section>
