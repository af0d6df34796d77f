/**
 * A transaction as two sealed texts: what it is, with how it ended if it was decided at once; and how it ended, if that came
 * later. Columns beside them are what queries look for, and must say the same.
 *   D1. A text is a JSON array, and a member is known by its position, which never changes; what is new goes to the end.
 *       Names would be a third of every row.
 *   D2. The amount comes first: a search by amount reads it and nothing else.
 *   D3. Before version 0.7 texts were objects with names. They stay as they are, and are read.
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
  readonly receipt: ReceiptWrite
}

/** D1. The receipt's two follow: its key's ID and its signature, null of both where there is none. */
const TRANSACTION_POSITIONS: Readonly<Record<keyof Transaction, number>> = {
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
const RECEIPT_OF_TRANSACTION = 26

/** D1. The receipt's two follow. */
const OUTCOME_POSITIONS: Readonly<Record<keyof Decided, number>> = {
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

function membersOf<Name extends string>(positions: Readonly<Record<Name, number>>): readonly Name[] {
  const names = Object.keys(positions) as Name[]
  return names.toSorted((left, right) => positions[left] - positions[right])
}

export function transactionText({ transaction, receipt }: TransactionWrite): string {
  const values: unknown[] = TRANSACTION_MEMBERS.map((name) => transaction[name])
  values.push(receipt?.keyId ?? null, receipt?.signature ?? null)
  return JSON.stringify(values)
}

export function outcomeText({ transaction, receipt }: NonNullable<TransactionChange['finished']>): string {
  const values: unknown[] = OUTCOME_MEMBERS.map((name) => transaction[name])
  values.push(receipt.keyId, receipt.signature)
  return JSON.stringify(values)
}

function storedFrom(text: StoredTransaction | readonly unknown[]): StoredTransaction {
  // D3.
  if (!Array.isArray(text)) return text as StoredTransaction
  return {
    transaction: named(TRANSACTION_MEMBERS, text) as unknown as Transaction,
    receipt: receiptAt(text, RECEIPT_OF_TRANSACTION),
  }
}

function outcomeFrom(text: StoredOutcome | readonly unknown[]): StoredOutcome {
  // D3.
  if (!Array.isArray(text)) return text as StoredOutcome
  return {
    decided: named(OUTCOME_MEMBERS, text) as unknown as Decided,
    receipt: receiptAt(text, RECEIPT_OF_OUTCOME) as ReceiptWrite,
  }
}

function named(names: readonly string[], values: readonly unknown[]): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) members[name] = values[index] ?? null
  return members
}

function receiptAt(values: readonly unknown[], position: number): ReceiptWrite | null {
  const [keyId, signature] = values.slice(position)
  return typeof keyId === 'string' && typeof signature === 'string' ? { keyId, signature } : null
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
