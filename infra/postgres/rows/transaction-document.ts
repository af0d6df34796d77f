/**
 * A transaction as a row: columns that queries look for, and one sealed text with the rest.
 *   D1. The text is sealed for all that its columns say: a row whose columns were changed does not open. Exceptions:
 *       `compensated_by` and `refunded`, which change later, and `commit_xid`, which the server sets.
 *   D2. The amount is the first line: a search by amount reads nothing else. The second is the payload as it was signed,
 *       and what it contains is not written again. The third is a JSON array of the rest, in which a member is known by
 *       its position: positions never change, and nulls at the end are left out.
 *   D3. The payload of the transaction's chain entry is not stored: it follows from the transaction (`entryPayload`).
 */
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { EntryDetails, FailureCode, Transaction } from '../../../actors/account/transaction.ts'
import { sha256Hex } from '../../../actors/audit-chain.ts'
import { isNft } from '../../../actors/nft-id.ts'
import type { ReceiptWrite, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import { withRoomForMetadata } from '../../vault/padding.ts'
import { boundPlace, type Place } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { opened } from './opened-rows.ts'
import { PLACES } from './row-sealer.ts'

/** A transaction with its receipt; null while it is pending. */
export type StoredTransaction = TransactionWrite

export interface OpenedTransaction extends StoredTransaction {
  /** The sum of its completed refunds; null without one. */
  readonly refunded: string | null
}

/** Columns that every reader of a transaction selects. */
export interface TransactionRow {
  readonly shard_id: number
  readonly txn_id: string
  /** The reference. */
  readonly account_id: string
  readonly type: Transaction['type']
  readonly token_id: string
  readonly received_token_id: string | null
  /** The reference. */
  readonly group_id: string | null
  readonly status: Transaction['status']
  readonly failure_code: FailureCode | null
  readonly origin: Transaction['origin']
  readonly created_at: Date
  readonly processed_at: Date | null
  /** `bigint` arrives as text; sequences stay far below 2^53. */
  readonly sequence: string | null
  readonly previous_hash: Buffer | null
  readonly audit_hash: Buffer | null
  readonly receipt_key_id: string | null
  readonly amount_bucket: number
  /** The reference. */
  readonly idempotency_key: string
  readonly compensated_by: string | null
  /** Sealed. */
  readonly refunded: Buffer | null
  readonly document: Buffer
}

/** Names of the columns, without user input in them. */
export const TRANSACTION_ROW_COLUMNS = [
  'shard_id',
  'txn_id',
  'account_id',
  'type',
  'token_id',
  'received_token_id',
  'group_id',
  'status',
  'failure_code',
  'origin',
  'created_at',
  'processed_at',
  'sequence',
  'previous_hash',
  'audit_hash',
  'receipt_key_id',
  'amount_bucket',
  'idempotency_key',
  'compensated_by',
  'refunded',
  'document',
] as const satisfies readonly (keyof TransactionRow)[]

/** Keyed hashes that stand in columns of a transaction for values that must not be readable. */
export interface TransactionRefs {
  readonly account: string
  readonly key: string
  readonly group: string | null
  /** Of the amount's magnitude. */
  readonly bucket: number
}

export function refsOfTransaction(
  { accountId, idempotencyKey, groupId, amount }: Transaction,
  vault: RowVault,
): TransactionRefs {
  return {
    account: vault.accountRef(accountId),
    key: vault.keyRef(accountId, idempotencyKey),
    group: groupId === null ? null : vault.groupRef(accountId, groupId),
    bucket: vault.amountBucket(accountId, amount),
  }
}

/** The fungible asset that a completed exchange received: its entry states a second balance. */
export function receivedTokenOf({ receive, status }: Transaction): string | null {
  return receive === null || status !== 'completed' || isNft(receive.tokenId) ? null : receive.tokenId
}

/** D1. */
export function placeOfTransaction({ transaction, receipt }: StoredTransaction, refs: TransactionRefs): Place {
  return boundPlace(
    PLACES.transaction(transaction.shardId, refs.account, transaction.txnId),
    transaction.type,
    transaction.tokenId,
    receivedTokenOf(transaction),
    refs.group,
    transaction.status,
    transaction.failure?.code ?? null,
    transaction.origin,
    transaction.createdAtMs,
    transaction.processedAtMs,
    transaction.sequence,
    transaction.previousHash,
    transaction.auditHash,
    receipt?.keyId ?? null,
    refs.key,
    refs.bucket,
  )
}

function placeOfRow(row: TransactionRow): Place {
  return boundPlace(
    nameOf(row),
    row.type,
    row.token_id,
    row.received_token_id,
    row.group_id,
    row.status,
    row.failure_code,
    row.origin,
    row.created_at.getTime(),
    row.processed_at?.getTime() ?? null,
    row.sequence,
    row.previous_hash?.toString('hex') ?? null,
    row.audit_hash?.toString('hex') ?? null,
    row.receipt_key_id,
    row.idempotency_key,
    row.amount_bucket,
  )
}

function nameOf({ shard_id: shardId, account_id: ref, txn_id: txnId }: TransactionRow): Place {
  return PLACES.transaction(shardId, ref, txnId)
}

/**
 * Details of the chain entry. Those of format 2 begin with its number; an available quantity is null if it equals the
 * balance.
 */
type StoredEntry =
  | readonly [salt: string, balance?: string | null, incoming?: string | null, receivedBalance?: string | null]
  | readonly [
      format: 2,
      salt: string,
      balance?: string | null,
      available?: string | null,
      incoming?: string | null,
      receivedBalance?: string | null,
      receivedAvailable?: string | null,
      receivedIncoming?: string | null,
    ]

/** D2: the third line. */
type Rest = readonly [
  signature: string,
  keyId: string,
  receipt?: string | null,
  entry?: StoredEntry | null,
  counterTxnId?: string | null,
  toAccountId?: string | null,
  fromAccountId?: string | null,
  /** `true`: as the payload has it. */
  metadata?: JsonObject | true | null,
  receive?: Transaction['receive'],
  compensates?: string | null,
  failure?: string | null,
  /** Of a transaction whose payload does not name it as its account, as its key, or as its group. */
  accountId?: string | null,
  idempotencyKey?: string | null,
  groupId?: string | null,
  /** Of a transaction whose payload does not name them. */
  refunds?: string | null,
  holdId?: string | null,
]

export function transactionText({ transaction, receipt }: StoredTransaction): string {
  const { amount, payload, entry, metadata, failure, accountId, idempotencyKey, groupId, refunds, holdId } = transaction
  const rest: Required<Rest> = [
    transaction.signature,
    transaction.keyId,
    receipt?.signature ?? null,
    entry === null ? null : entryMember(entry),
    transaction.counterTxnId,
    transaction.toAccountId,
    transaction.fromAccountId,
    metadata !== null && transaction.origin === 'client' && payload.includes('"metadata":') ? true : metadata,
    transaction.receive,
    transaction.compensates,
    failure?.detail ?? null,
    payload.startsWith(accountMember(accountId)) ? null : accountId,
    payload.includes(`"idempotency_key":"${idempotencyKey}"`) ? null : idempotencyKey,
    groupId === null || groupOf(JSON.parse(payload) as Submitted) === groupId ? null : groupId,
    refunds === null || payload.includes(`"refunds":"${refunds}"`) ? null : refunds,
    holdId === undefined || payload.includes(`"hold_id":"${holdId}"`) ? null : holdId,
  ]
  const text = `${amount}\n${payload}\n${JSON.stringify(trimmed(rest))}`
  return metadata === null ? text : withRoomForMetadata(text)
}

/** As canonical JSON begins that has it: no member that a submission may have comes before it. */
function accountMember(accountId: string): string {
  return `{"account_id":"${accountId}"`
}

/** Without nulls at the end. */
function trimmed(values: readonly unknown[]): readonly unknown[] {
  let { length } = values
  while (length > 0 && values[length - 1] === null) length -= 1
  return values.slice(0, length)
}

/** Its account's key must have been fetched. Throws UnreadableRow. */
export function openTransaction(row: TransactionRow, vault: RowVault): OpenedTransaction {
  return opened(nameOf(row), () => ({ ...transactionIn(row, vault), refunded: refundedIn(row, vault) }))
}

function refundedIn({ shard_id: shardId, account_id: ref, txn_id: txnId, refunded }: TransactionRow, vault: RowVault) {
  return refunded === null ? null : vault.open(accountKeyName(ref), PLACES.refunded(shardId, ref, txnId), refunded)
}

function transactionIn(row: TransactionRow, vault: RowVault): StoredTransaction {
  const [amount, payload, rest] = linesOf(row, vault)
  const [signature, keyId, receipt = null, entry = null, counterTxnId = null, toAccountId = null, ...further] = rest
  const [fromAccountId = null, metadata = null, receive = null, compensates = null, detail = null, ...own] = further
  const submitted = JSON.parse(payload) as Submitted
  const [
    accountId = submitted.account_id,
    idempotencyKey = submitted.idempotency_key,
    group = groupOf(submitted),
    refunds = submitted.refunds ?? null,
    holdId = submitted.hold_id,
  ] = own.map((text) => text ?? undefined)
  const { failure_code: code, receipt_key_id: receiptKeyId } = row
  const transaction: Transaction = {
    txnId: row.txn_id,
    accountId: accountId ?? '',
    shardId: row.shard_id,
    type: row.type,
    amount,
    tokenId: row.token_id,
    groupId: row.group_id === null ? null : (group ?? ''),
    status: row.status,
    failure: code === null ? null : { code, detail: detail ?? '' },
    origin: row.origin,
    metadata: metadata === true ? (submitted.metadata ?? null) : metadata,
    toAccountId,
    fromAccountId,
    receive,
    compensates,
    refunds,
    counterTxnId,
    createdAtMs: row.created_at.getTime(),
    processedAtMs: row.processed_at?.getTime() ?? null,
    sequence: row.sequence === null ? null : Number(row.sequence),
    previousHash: row.previous_hash?.toString('hex') ?? null,
    auditHash: row.audit_hash?.toString('hex') ?? null,
    entry: entry === null ? null : detailsOf(entry),
    idempotencyKey: idempotencyKey ?? '',
    payload,
    payloadHash: sha256Hex(payload),
    signature,
    keyId,
    ...(holdId === undefined ? undefined : { holdId }),
  }
  if (vault.accountRef(transaction.accountId) !== row.account_id) {
    throw new UnreadableRow(nameOf(row), 'it is of another account')
  }
  if (vault.keyRef(transaction.accountId, transaction.idempotencyKey) !== row.idempotency_key) {
    throw new UnreadableRow(nameOf(row), 'it is of another idempotency key')
  }
  const { groupId } = transaction
  if (groupId !== null && vault.groupRef(transaction.accountId, groupId) !== row.group_id) {
    throw new UnreadableRow(nameOf(row), 'it is of another group')
  }
  return { transaction, receipt: receiptOf(receiptKeyId, receipt) }
}

/** Members of a signed payload that columns repeat. */
interface Submitted {
  readonly account_id?: string
  readonly idempotency_key?: string
  readonly group_id?: string | null
  readonly refunds?: string
  readonly hold_id?: string
  readonly metadata?: JsonObject
}

/** A client may write the ID in either case. */
function groupOf({ group_id: groupId }: Submitted): string | undefined {
  return groupId?.toLowerCase()
}

function entryMember(entry: EntryDetails): StoredEntry {
  const { format, salt, balance, available, incoming, receivedBalance, receivedAvailable, receivedIncoming } = entry
  const values =
    format === 1
      ? [salt, balance, incoming, receivedBalance]
      : [
          format,
          salt,
          balance,
          available === balance ? null : available,
          incoming,
          receivedBalance,
          receivedAvailable === receivedBalance ? null : receivedAvailable,
          receivedIncoming,
        ]
  return trimmed(values) as StoredEntry
}

function detailsOf(stored: StoredEntry): EntryDetails {
  if (stored[0] !== 2) {
    const [salt, balance = null, incoming = null, receivedBalance = null] = stored
    const ofFormat2 = { available: null, receivedAvailable: null, receivedIncoming: null }
    return { format: 1, salt, balance, incoming, receivedBalance, ...ofFormat2 }
  }
  const [format, salt, balance = null, available, incoming = null, ...received] = stored
  const [receivedBalance = null, receivedAvailable, receivedIncoming = null] = received
  return {
    format,
    salt,
    balance,
    available: available ?? balance,
    incoming,
    receivedBalance,
    receivedAvailable: receivedAvailable ?? receivedBalance,
    receivedIncoming,
  }
}

function receiptOf(keyId: string | null, signature: string | null): ReceiptWrite | null {
  return keyId === null || signature === null ? null : { keyId, signature }
}

/** D2. The account's key must have been fetched. Throws UnreadableRow. */
export function openAmount(row: TransactionRow, vault: RowVault): string {
  const text = textOf(row, vault)
  return text.slice(0, text.indexOf('\n'))
}

function textOf(row: TransactionRow, vault: RowVault): string {
  return vault.open(accountKeyName(row.account_id), placeOfRow(row), row.document)
}

function linesOf(row: TransactionRow, vault: RowVault): readonly [amount: string, payload: string, rest: Rest] {
  const text = textOf(row, vault)
  const [amount, payload, rest, ...more] = text.split('\n')
  if (amount === undefined || payload === undefined || rest === undefined || more.length > 0) {
    throw new UnreadableRow(nameOf(row), 'it does not have three lines')
  }
  return [amount, payload, JSON.parse(rest) as Rest]
}
