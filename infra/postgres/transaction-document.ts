/**
 * A transaction as two sealed texts: what it is, with how it ended if it was decided at once; and how it ended, if that came
 * later. Columns beside them are what queries look for, and must say the same.
 */
import type { Failure, Transaction, TransactionRecord } from '../../actors/account/transaction.ts'
import type { ReceiptWrite, TransactionChange, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { accountKeyName } from '../vault/key-name.ts'
import { openJson } from '../vault/open-json.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { PLACES } from './row-sealer.ts'

/** What a decision changes of a record. */
type Decided = Pick<
  TransactionRecord,
  | 'status'
  | 'failure'
  | 'receive'
  | 'compensates'
  | 'counterTxnId'
  | 'processedAtMs'
  | 'sequence'
  | 'previousHash'
  | 'auditHash'
>

interface StoredTransaction {
  readonly transaction: Transaction
  readonly receipt: ReceiptWrite | null
}

interface StoredOutcome {
  readonly decided: Decided
  readonly receipt: ReceiptWrite
}

export function transactionText({ transaction, receipt }: TransactionWrite): string {
  return JSON.stringify({ transaction, receipt } satisfies StoredTransaction)
}

export function outcomeText({ transaction, receipt }: NonNullable<TransactionChange['finished']>): string {
  const { status, failure, receive, compensates, counterTxnId, processedAtMs, sequence, previousHash, auditHash } =
    transaction
  const decided: Decided = {
    status,
    failure,
    receive,
    compensates,
    counterTxnId,
    processedAtMs,
    sequence,
    previousHash,
    auditHash,
  }
  return JSON.stringify({ decided, receipt } satisfies StoredOutcome)
}

/** What every reader of a transaction selects. */
export interface TransactionRow {
  readonly shard_id: number
  readonly txn_id: string
  /** The reference. */
  readonly account_id: string
  readonly type: string
  readonly token_id: string
  readonly group_id: string | null
  readonly status: string
  readonly failure_code: string | null
  readonly origin: string
  readonly created_at: Date
  readonly compensated_by: string | null
  /** The reference. */
  readonly idempotency_key: string
  readonly sequence: string | null
  readonly processed_at: Date | null
  readonly document: Buffer
  readonly outcome: Buffer | null
}

/** Names of the columns, without user input in them. */
export const TRANSACTION_ROW_COLUMNS = [
  'shard_id',
  'txn_id',
  'account_id',
  'type',
  'token_id',
  'group_id',
  'status',
  'failure_code',
  'origin',
  'created_at',
  'compensated_by',
  'idempotency_key',
  'sequence',
  'processed_at',
  'document',
  'outcome',
] as const satisfies readonly (keyof TransactionRow)[]

/** Its account's key must have been fetched. Throws UnreadableRow. */
export function openTransaction(row: TransactionRow, vault: RowVault): StoredTransaction {
  const { shard_id: shardId, account_id: ref, txn_id: txnId } = row
  const name = accountKeyName(ref)
  const place = PLACES.transaction(shardId, ref, txnId)
  const stored = openJson<StoredTransaction>(vault, name, place, row.document)
  const found = row.outcome === null ? stored : withOutcome(stored, openOutcome(row.outcome))
  if (!agrees(row, found.transaction, vault)) throw new UnreadableRow(place, 'its columns are not what was sealed')
  return found

  function openOutcome(outcome: Buffer): StoredOutcome {
    return openJson<StoredOutcome>(vault, name, PLACES.outcome(shardId, ref, txnId), outcome)
  }
}

function withOutcome({ transaction }: StoredTransaction, { decided, receipt }: StoredOutcome): StoredTransaction {
  return { transaction: { ...transaction, ...decided }, receipt }
}

function agrees(row: TransactionRow, transaction: Transaction, vault: RowVault): boolean {
  return (
    vault.accountRef(transaction.accountId) === row.account_id &&
    transaction.type === row.type &&
    transaction.tokenId === row.token_id &&
    transaction.groupId === row.group_id &&
    transaction.status === row.status &&
    (transaction.failure?.code ?? null) === (row.failure_code as Failure['code'] | null) &&
    transaction.origin === row.origin &&
    transaction.createdAtMs === row.created_at.getTime() &&
    transaction.processedAtMs === (row.processed_at?.getTime() ?? null) &&
    transaction.sequence === (row.sequence === null ? null : Number(row.sequence)) &&
    vault.keyRef(transaction.accountId, transaction.idempotencyKey) === row.idempotency_key
  )
}
