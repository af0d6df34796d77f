/** Transactions as entered, completed and failed, and chain entries. Each completed transaction has one of its own. */
import { ENTRY_FORMAT, type EntryFields, sha256Hex } from '../audit-chain.ts'
import { canonicalJson, type JsonObject } from '../canonical-json.ts'
import { formatQuantity } from '../money.ts'
import { assetMembers, isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import { isoTimestamp } from '../timestamp.ts'
import type { SubmitCommand } from './commands.ts'
import { availableOf } from './state.ts'
import type { EntryDetails, Failure, Transaction, TransactionRecord } from './transaction.ts'
import type { Turn } from './turn.ts'

/** Members without a default; all others are null unless given. */
type TransactionFields = Pick<
  Transaction,
  | 'type'
  | 'amount'
  | 'tokenId'
  | 'groupId'
  | 'origin'
  | 'idempotencyKey'
  | 'payload'
  | 'payloadHash'
  | 'signature'
  | 'keyId'
> &
  Partial<Transaction>

/** An undecided transaction. */
export function pendingTransaction({ before, stamp }: Turn, given: TransactionFields): Transaction {
  return {
    txnId: stamp.newTxnId,
    accountId: before.accountId,
    shardId: before.shardId,
    status: 'pending',
    failure: null,
    metadata: null,
    toAccountId: null,
    fromAccountId: null,
    receive: null,
    compensates: null,
    refunds: null,
    counterTxnId: null,
    createdAtMs: stamp.atMs,
    processedAtMs: null,
    sequence: null,
    previousHash: null,
    auditHash: null,
    entry: null,
    ...given,
  }
}

/** A client's transaction. */
export function submitted(turn: Turn, command: SubmitCommand, groupId = command.submission.groupId): Transaction {
  const { type, amount, tokenId, metadata, toAccountId, receive, refunds, capture } = command.submission
  const { idempotencyKey, payload, payloadHash, signature } = command
  return pendingTransaction(turn, {
    type,
    amount,
    tokenId,
    groupId,
    origin: 'client',
    metadata,
    toAccountId,
    receive,
    refunds,
    idempotencyKey,
    payload,
    payloadHash,
    signature,
    // A signed command of a keyless account is refused before it gets here.
    keyId: turn.before.key?.keyId ?? '',
    ...(capture === undefined ? undefined : { fromAccountId: capture.fromAccountId, holdId: capture.holdId }),
  })
}

/** An order of the ledger itself, such as a credit or a return. */
export interface Order
  extends
    Pick<Transaction, 'amount' | 'tokenId' | 'groupId'>,
    Partial<
      Pick<
        Transaction,
        'metadata' | 'toAccountId' | 'fromAccountId' | 'compensates' | 'refunds' | 'counterTxnId' | 'holdId'
      >
    > {
  /** A `transfer` returns an NFT, or pays a capture. */
  readonly type: 'credit' | 'debit' | 'mint' | 'transfer'
  /** Unique on the account; becomes an idempotency key that no client can use. */
  readonly cause: string
}

/** The idempotency key of the receiver's credit of a transfer. */
export function creditKeyOf(transferId: string): string {
  return keyOfOrder(creditCause(transferId))
}

export function creditCause(transferId: string): string {
  return `transfer ${transferId}`
}

function keyOfOrder(cause: string): string {
  return `§${cause}`
}

export function ordered(turn: Turn, { cause, ...order }: Order): Transaction {
  const { type, amount, tokenId, groupId } = order
  const payload = canonicalJson({
    account_id: turn.before.accountId,
    amount,
    cause,
    group_id: groupId,
    token_id: tokenId,
    type,
  })
  const own = { origin: 'ledger', idempotencyKey: keyOfOrder(cause), signature: '', keyId: '' } as const
  return pendingTransaction(turn, { ...order, ...own, payload, payloadHash: sha256Hex(payload) })
}

/** Completes a ledger order at once. */
export function carriedOut(turn: Turn, order: Order): Transaction {
  const transaction = completed(turn, ordered(turn, order))
  entered(turn, transaction)
  const { compensates, txnId } = transaction
  if (compensates !== null) turn.note({ kind: 'transaction_compensated', txnId: compensates, by: txnId })
  return transaction
}

/** The balances must already include the transaction: its entry records them. */
export function completed<T extends TransactionRecord>(turn: Turn, transaction: T): T {
  const details = entryDetails(turn, transaction)
  const entry = turn.enter((sequence) => entryFields(transaction, details, { sequence, processedAtMs: turn.timeMs }))
  turn.count('completed')
  return {
    ...transaction,
    status: 'completed',
    processedAtMs: turn.timeMs,
    sequence: entry.sequence,
    previousHash: entry.previousHash,
    auditHash: entry.auditHash,
    entry: details,
  }
}

/** A failure moves no value, adds no chain entry, and uses the key up. */
export function failed<T extends TransactionRecord>(turn: Turn, transaction: T, why: Failure): T {
  turn.count('failed')
  return { ...transaction, status: 'failed', failure: why, processedAtMs: turn.timeMs }
}

export function entered(turn: Turn, transaction: Transaction): void {
  turn.note({ kind: 'transaction_entered', transaction })
}

function entryDetails(turn: Turn, { tokenId, receive }: TransactionRecord): EntryDetails {
  const held = isNft(tokenId) ? null : turn.balance(tokenId)
  const received = receive === null || isNft(receive.tokenId) ? null : turn.balance(receive.tokenId)
  return {
    format: ENTRY_FORMAT,
    salt: turn.stamp.salt,
    balance: held === null ? null : formatQuantity(held.balance),
    available: held === null ? null : formatQuantity(availableOf(held)),
    incoming: held === null || held.incoming === 0n ? null : formatQuantity(held.incoming),
    receivedBalance: received === null ? null : formatQuantity(received.balance),
    receivedAvailable: received === null ? null : formatQuantity(availableOf(received)),
    receivedIncoming: received === null || received.incoming === 0n ? null : formatQuantity(received.incoming),
  }
}

/** The hashed payload of a completed transaction's chain entry. */
export function entryPayload(transaction: TransactionRecord): string {
  const { entry, sequence, processedAtMs, txnId } = transaction
  invariant(entry !== null && sequence !== null && processedAtMs !== null, `${txnId} is not in a chain`)
  return canonicalJson(entryFields(transaction, entry, { sequence, processedAtMs }))
}

/** The members are in canonical order, except those of NFTs. */
function entryFields(
  transaction: TransactionRecord,
  entry: EntryDetails,
  { sequence, processedAtMs }: { readonly sequence: number; readonly processedAtMs: number },
): EntryFields {
  const { compensates, counterTxnId, fromAccountId, holdId, receive, refunds, toAccountId, tokenId } = transaction
  const { format, salt, balance, incoming, receivedBalance, receivedIncoming } = entry
  return {
    account_id: transaction.accountId,
    amount: transaction.amount,
    ...balancesAfter(entry),
    ...(format === 1 && balance !== null ? { balance } : undefined),
    ...(isNft(tokenId) ? assetMembers(tokenId) : undefined),
    ...(compensates === null ? undefined : { compensates }),
    ...(counterTxnId === null ? undefined : { counter_txn_id: counterTxnId }),
    created_at: isoTimestamp(transaction.createdAtMs),
    format,
    ...(fromAccountId === null ? undefined : { from_account_id: fromAccountId }),
    group_id: transaction.groupId,
    ...(holdId === undefined ? undefined : { hold_id: holdId }),
    ...(incoming === null ? undefined : { incoming }),
    key_id: transaction.keyId,
    kind: 'transaction',
    metadata: transaction.metadata,
    origin: transaction.origin,
    processed_at: isoTimestamp(processedAtMs),
    ...receiveMembers({ receive, entry }),
    ...(format === 1 && receivedBalance !== null ? { received_balance: receivedBalance } : undefined),
    ...(receivedIncoming === null ? undefined : { received_incoming: receivedIncoming }),
    ...(refunds === null ? undefined : { refunds }),
    salt,
    sequence,
    shard_id: transaction.shardId,
    submission_hash: transaction.payloadHash,
    ...(toAccountId === null ? undefined : { to_account_id: toAccountId }),
    ...(isNft(tokenId) ? undefined : { token_id: tokenId }),
    txn_id: transaction.txnId,
    type: transaction.type,
  }
}

/** Balances of the asset that the transaction gave, from format 2 on; empty for an NFT and in format 1. */
export function balancesAfter({ balance, available }: Pick<EntryDetails, 'balance' | 'available'>): JsonObject {
  return balance === null || available === null ? {} : { available_after: available, balance_after: balance }
}

/** The asset that an exchange receives, once completed with its balances. */
export function receiveMembers({ receive, entry }: Pick<TransactionRecord, 'receive' | 'entry'>): JsonObject {
  if (receive === null) return {}
  const { receivedBalance: balance = null, receivedAvailable: available = null } = entry ?? {}
  return {
    receive: { amount: receive.amount, ...balancesAfter({ balance, available }), ...assetMembers(receive.tokenId) },
  }
}

/** Enters a chain entry that is no transaction. */
export function enterFact(turn: Turn, fields: JsonObject): void {
  turn.enter((sequence) => ({
    ...fields,
    account_id: turn.before.accountId,
    format: ENTRY_FORMAT,
    processed_at: isoTimestamp(turn.timeMs),
    salt: turn.stamp.salt,
    sequence,
    txn_id: null,
  }))
}

/** A change of one balance that is no transaction. The balance must already include it: the entry records it. */
export function enterMovement(turn: Turn, tokenId: string, fields: JsonObject): void {
  const held = turn.balance(tokenId)
  const balances = { balance: formatQuantity(held.balance), available: formatQuantity(availableOf(held)) }
  const incoming = held.incoming === 0n ? undefined : { incoming: formatQuantity(held.incoming) }
  enterFact(turn, { ...fields, ...balancesAfter(balances), ...incoming, token_id: tokenId })
}
