/**
 * Transactions as they are entered, completed and failed: one that completes gets its entry in the chain, whoever
 * ordered it.
 */
import { ENTRY_FORMAT, type EntryFields, sha256Hex } from '../audit-chain.ts'
import { canonicalJson, type JsonObject } from '../canonical-json.ts'
import type { ExchangeSide } from '../message.ts'
import { formatQuantity } from '../money.ts'
import { assetMembers, isNft } from '../nft-id.ts'
import { isoTimestamp } from '../timestamp.ts'
import type { SubmitCommand } from './commands.ts'
import type { Failure, Transaction, TransactionRecord } from './transaction.ts'
import type { Turn } from './turn.ts'

/** What a client submitted, as a transaction that nobody has decided on. */
export function submitted(turn: Turn, command: SubmitCommand, groupId = command.submission.groupId): Transaction {
  const { submission } = command
  return {
    txnId: command.newTxnId,
    accountId: turn.before.accountId,
    shardId: turn.before.shardId,
    type: submission.type,
    amount: submission.amount,
    tokenId: submission.tokenId,
    groupId,
    status: 'pending',
    failure: null,
    origin: 'client',
    metadata: submission.metadata,
    toAccountId: submission.toAccountId,
    fromAccountId: null,
    receive: submission.receive,
    compensates: null,
    counterTxnId: null,
    createdAtMs: command.atMs,
    processedAtMs: null,
    sequence: null,
    previousHash: null,
    auditHash: null,
    idempotencyKey: command.idempotencyKey,
    payload: command.payload,
    payloadHash: command.payloadHash,
    signature: command.signature,
    // A signed command of a keyless account is refused before it gets here.
    keyId: turn.before.key?.keyId ?? '',
  }
}

/** What the ledger itself does on an account. */
export interface Order {
  /** A `transfer` returns an NFT. */
  readonly type: 'credit' | 'debit' | 'mint' | 'transfer'
  readonly amount: string
  readonly tokenId: string
  readonly groupId: string | null
  /** What it follows from, unique on the account: no client's key begins so. */
  readonly cause: string
  readonly metadata?: JsonObject | null
  readonly toAccountId?: string
  readonly fromAccountId?: string
  readonly compensates?: string | null
  readonly counterTxnId?: string | null
}

/** A transaction of the ledger's own. */
export function ordered(turn: Turn, order: Order): Transaction {
  const { type, amount, tokenId, groupId, cause } = order
  const payload = canonicalJson({
    account_id: turn.before.accountId,
    amount,
    cause,
    group_id: groupId,
    token_id: tokenId,
    type,
  })
  return {
    txnId: turn.stamp.newTxnId,
    accountId: turn.before.accountId,
    shardId: turn.before.shardId,
    type,
    amount,
    tokenId,
    groupId,
    status: 'pending',
    failure: null,
    origin: 'ledger',
    metadata: order.metadata ?? null,
    toAccountId: order.toAccountId ?? null,
    fromAccountId: order.fromAccountId ?? null,
    receive: null,
    compensates: order.compensates ?? null,
    counterTxnId: order.counterTxnId ?? null,
    createdAtMs: turn.stamp.atMs,
    processedAtMs: null,
    sequence: null,
    previousHash: null,
    auditHash: null,
    idempotencyKey: `§${cause}`,
    payload,
    payloadHash: sha256Hex(payload),
    signature: '',
    keyId: '',
  }
}

/** The balances must be as the transaction leaves them: they stand in its entry. */
export function completed<T extends TransactionRecord>(turn: Turn, transaction: T): T {
  const entry = turn.enter((sequence) => entryFields(turn, transaction, sequence))
  turn.count('completed')
  return {
    ...transaction,
    status: 'completed',
    processedAtMs: turn.timeMs,
    sequence: entry.sequence,
    previousHash: entry.previousHash,
    auditHash: entry.auditHash,
  }
}

/** Nothing moves, the chain does not grow, the key is used up. */
export function failed<T extends TransactionRecord>(turn: Turn, transaction: T, why: Failure): T {
  turn.count('failed')
  return { ...transaction, status: 'failed', failure: why, processedAtMs: turn.timeMs }
}

/** Final or pending, it is new. */
export function entered(turn: Turn, transaction: Transaction): void {
  turn.note({ kind: 'transaction_entered', transaction })
}

/** Members in order, but of NFTs: it is canonical as it stands. */
function entryFields(turn: Turn, transaction: TransactionRecord, sequence: number): EntryFields {
  const { compensates, counterTxnId, fromAccountId, receive, toAccountId } = transaction
  return {
    account_id: transaction.accountId,
    amount: transaction.amount,
    ...holdingFields(turn, transaction.tokenId),
    ...(compensates === null ? undefined : { compensates }),
    ...(counterTxnId === null ? undefined : { counter_txn_id: counterTxnId }),
    created_at: isoTimestamp(transaction.createdAtMs),
    format: ENTRY_FORMAT,
    ...(fromAccountId === null ? undefined : { from_account_id: fromAccountId }),
    group_id: transaction.groupId,
    ...incomingField(turn, transaction.tokenId),
    key_id: transaction.keyId,
    kind: 'transaction',
    metadata: transaction.metadata,
    origin: transaction.origin,
    processed_at: isoTimestamp(turn.timeMs),
    ...(receive === null ? undefined : receivedFields(turn, receive)),
    salt: turn.stamp.salt,
    sequence,
    shard_id: transaction.shardId,
    submission_hash: transaction.payloadHash,
    ...(toAccountId === null ? undefined : { to_account_id: toAccountId }),
    ...(isNft(transaction.tokenId) ? undefined : { token_id: transaction.tokenId }),
    txn_id: transaction.txnId,
    type: transaction.type,
  }
}

/** What the account holds afterwards of a fungible asset; which NFT it was. */
function holdingFields(turn: Turn, assetId: string): JsonObject {
  if (isNft(assetId)) return assetMembers(assetId)
  return { balance: formatQuantity(turn.balance(assetId).balance) }
}

function incomingField(turn: Turn, assetId: string): JsonObject | undefined {
  if (isNft(assetId)) return undefined
  const { incoming } = turn.balance(assetId)
  return incoming === 0n ? undefined : { incoming: formatQuantity(incoming) }
}

function receivedFields(turn: Turn, { amount, tokenId }: ExchangeSide): JsonObject {
  const receive = { amount, ...assetMembers(tokenId) }
  if (isNft(tokenId)) return { receive }
  return { receive, received_balance: formatQuantity(turn.balance(tokenId).balance) }
}
