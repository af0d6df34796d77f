/**
 * A transaction as two sealed texts: what it is, with how it ended if it was decided at once; and how it ended, if that came
 * later. Columns beside them are what queries look for, and must say the same.
 *   D1. A text is a JSON array, and a member is known by its position, which never changes; what is new goes to the end.
 *       Names would be a third of every row.
 *   D2. The amount comes first: a search by amount reads it and nothing else.
 */
import type { Failure, Transaction, TransactionRecord } from '../../actors/account/transaction.ts'
import type { ReceiptWrite, TransactionChange, TransactionWrite } from '../../runtime/ports/ledger-store.ts'
import { accountKeyName } from '../vault/key-name.ts'
import { firstStringIn, jsonIn, openJson } from '../vault/open-json.ts'
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
  readonly receipt: ReceiptWrite | null
}

/** D1. */
type Positions<T> = Readonly<Record<keyof T & string, number>>

const TRANSACTION_POSITIONS: Positions<Transaction> = {
  amount: 0,
  txnId: 1,
  accountId: 2,
  shardId: 3,
  type: 4,
  tokenId: 5,
  groupId: 6,
  status: 7,
  failure: 8,
  origin: 9,
  metadata: 10,
  toAccountId: 11,
  fromAccountId: 12,
  receive: 13,
  compensates: 14,
  counterTxnId: 15,
  createdAtMs: 16,
  processedAtMs: 17,
  sequence: 18,
  previousHash: 19,
  auditHash: 20,
  idempotencyKey: 21,
  payload: 22,
  payloadHash: 23,
  signature: 24,
  keyId: 25,
}
/** Of its key's ID; the signature follows. Both are null where there is none. */
const RECEIPT_OF_TRANSACTION = 26

const OUTCOME_POSITIONS: Positions<Decided> = {
  status: 0,
  failure: 1,
  receive: 2,
  compensates: 3,
  counterTxnId: 4,
  processedAtMs: 5,
  sequence: 6,
  previousHash: 7,
  auditHash: 8,
}
const RECEIPT_OF_OUTCOME = 9

const TRANSACTION_MEMBERS = membersOf(TRANSACTION_POSITIONS)
const OUTCOME_MEMBERS = membersOf(OUTCOME_POSITIONS)

type Member<Name extends string> = readonly [name: Name, position: number]

function membersOf<Name extends string>(positions: Readonly<Record<Name, number>>): readonly Member<Name>[] {
  return Object.entries(positions) as [Name, number][]
}

export function transactionText({ transaction, receipt }: TransactionWrite): string {
  return textOf(TRANSACTION_MEMBERS, transaction, RECEIPT_OF_TRANSACTION, receipt)
}

export function outcomeText({ transaction, receipt }: NonNullable<TransactionChange['finished']>): string {
  return textOf(OUTCOME_MEMBERS, transaction, RECEIPT_OF_OUTCOME, receipt)
}

function textOf<T>(
  members: readonly Member<keyof T & string>[],
  said: T,
  receiptAt: number,
  receipt: ReceiptWrite | null,
): string {
  const values: unknown[] = []
  for (const [name, position] of members) values[position] = said[name]
  values[receiptAt] = receipt?.keyId ?? null
  values[receiptAt + 1] = receipt?.signature ?? null
  return JSON.stringify(values)
}

/** What the array says; its shape is what this program wrote. */
function namedIn<T>(members: readonly Member<keyof T & string>[], values: readonly unknown[]): T {
  return Object.fromEntries(members.map(([name, position]) => [name, values[position] ?? null])) as T
}

function receiptIn(values: readonly unknown[], position: number): ReceiptWrite | null {
  const [keyId, signature] = values.slice(position)
  return typeof keyId === 'string' && typeof signature === 'string' ? { keyId, signature } : null
}

function storedFrom(said: readonly unknown[]): StoredTransaction {
  return { transaction: namedIn(TRANSACTION_MEMBERS, said), receipt: receiptIn(said, RECEIPT_OF_TRANSACTION) }
}

function outcomeFrom(said: readonly unknown[]): StoredOutcome {
  return { decided: namedIn(OUTCOME_MEMBERS, said), receipt: receiptIn(said, RECEIPT_OF_OUTCOME) }
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
  const stored = storedFrom(openJson(vault, name, place, row.document))
  const found = row.outcome === null ? stored : withOutcome(stored, openOutcome(row.outcome))
  if (!agrees(row, found.transaction, vault)) throw new UnreadableRow(place, 'its columns are not what was sealed')
  return found

  function openOutcome(outcome: Buffer): StoredOutcome {
    return outcomeFrom(openJson(vault, name, PLACES.outcome(shardId, ref, txnId), outcome))
  }
}

/** What an amount is read from. */
export type AmountRow = Pick<TransactionRow, 'shard_id' | 'txn_id' | 'account_id' | 'document'>

export const AMOUNT_COLUMNS = [
  'shard_id',
  'txn_id',
  'account_id',
  'document',
] as const satisfies readonly (keyof AmountRow)[]

/** D2. The account's key must have been fetched. Throws UnreadableRow. */
export function openAmount(row: AmountRow, vault: RowVault): string {
  const { shard_id: shardId, account_id: ref, txn_id: txnId } = row
  const place = PLACES.transaction(shardId, ref, txnId)
  const text = vault.open(accountKeyName(ref), place, row.document)
  return firstStringIn(text) ?? storedFrom(jsonIn(text, place)).transaction.amount
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
