/**
 * Whether a final transaction's row agrees with itself and with its entry in the chain.
 *   Y1. A completed one has an entry, which says the same of it, member for member; a failed one has none.
 *   Y2. What was submitted is what its hash says, and it is found by the amount that was signed.
 */
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import { ENTRY_FORMAT, type Hash, sha256Hex } from '../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { isDecimalString } from '../../actors/money.ts'
import { assetMembers } from '../../actors/nft-id.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { storedObject } from './stored-json.ts'

/** The entry at the transaction's place in its account's chain. */
export interface EntryAtPlace {
  readonly txnId: string | null
  readonly previousHash: Hash
  readonly auditHash: Hash
  readonly payload: string
}

export interface StoredTransaction {
  readonly transaction: TransactionRecord
  /** Whether it is found by whoever searches for its amount. */
  readonly searchable: boolean
  /** The submitted payload. */
  readonly payload: string
  readonly accountExists: boolean
  readonly entry: EntryAtPlace | null
}

/** Of a final one. Undefined when all agrees. */
export function transactionProblem(stored: StoredTransaction): string | undefined {
  const { transaction, searchable, payload, accountExists, entry } = stored
  if (!accountExists) return 'its account is not there'
  if (sha256Hex(payload) !== transaction.payloadHash) return 'its payload is not what was submitted'
  if (!isDecimalString(transaction.amount)) return 'its amount is no quantity'
  if (!searchable) return 'it is found by another amount than its own'
  if (transaction.status === 'completed') return completedProblem(transaction, entry)
  const { sequence, previousHash, auditHash, failure } = transaction
  if (sequence !== null || previousHash !== null || auditHash !== null) return 'it failed and has a place in the chain'
  return failure === null ? 'it failed for no reason' : undefined
}

function completedProblem(transaction: TransactionRecord, entry: EntryAtPlace | null): string | undefined {
  if (transaction.failure !== null) return 'it is completed and says why it failed'
  if (entry === null) return 'its entry is not there'
  if (entry.txnId !== transaction.txnId) return 'the entry at its place is of another transaction'
  if (entry.auditHash !== transaction.auditHash || entry.previousHash !== transaction.previousHash) {
    return 'its hashes are not those of its entry'
  }
  const members = storedObject(entry.payload)
  if (members === undefined) return 'its entry cannot be read'
  return canonicalJson(shared(members)) === canonicalJson(expected(transaction))
    ? undefined
    : 'its entry says something else'
}

/** Members of an entry that only it has: the account's state at that moment. */
const ONLY_IN_ENTRIES: ReadonlySet<string> = new Set(['balance', 'incoming', 'nft_count', 'received_balance', 'salt'])

function shared(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !ONLY_IN_ENTRIES.has(name)))
}

function expected(transaction: TransactionRecord): JsonObject {
  const { compensates, counterTxnId, fromAccountId, receive, toAccountId } = transaction
  return {
    account_id: transaction.accountId,
    amount: transaction.amount,
    ...assetMembers(transaction.tokenId),
    ...(compensates === null ? undefined : { compensates }),
    ...(counterTxnId === null ? undefined : { counter_txn_id: counterTxnId }),
    created_at: isoTimestamp(transaction.createdAtMs),
    format: ENTRY_FORMAT,
    ...(fromAccountId === null ? undefined : { from_account_id: fromAccountId }),
    group_id: transaction.groupId,
    key_id: transaction.keyId,
    kind: 'transaction',
    metadata: transaction.metadata,
    origin: transaction.origin,
    processed_at: isoTimestamp(transaction.processedAtMs ?? transaction.createdAtMs),
    ...(receive === null ? undefined : { receive: { amount: receive.amount, ...assetMembers(receive.tokenId) } }),
    sequence: transaction.sequence,
    shard_id: transaction.shardId,
    submission_hash: transaction.payloadHash,
    ...(toAccountId === null ? undefined : { to_account_id: toAccountId }),
    txn_id: transaction.txnId,
    type: transaction.type,
  }
}
