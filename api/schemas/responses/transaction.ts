/** Responses about transactions (D5, D8, D9). */
import * as v from 'valibot'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { accountIdField, amountField, tokenIdField } from '../fields.ts'
import { problemResponse } from './problem.ts'
import {
  classId,
  count,
  countRelation,
  derSignature,
  groupId,
  instanceId,
  keyId,
  pageToken,
  reasonCode,
  sha256,
  shardId,
  text,
  timestamp,
  transactionId,
  transactionMetadata,
} from './values.ts'

/** Codes with which a submission can be refused. */
const REFUSED = [400, 403, 404, 409, 503]

const status = v.picklist(['pending', 'completed', 'failed'])

/** The asset: a token, or one NFT. */
const assetEntries = {
  token_id: v.exactOptional(tokenIdField),
  class_id: v.exactOptional(classId),
  instance_id: v.exactOptional(instanceId),
}
const ASSET_RULE = 'has token_id, or class_id and instance_id'

export const transactionFailure = v.object({ code: reasonCode, detail: text })

export const submissionReceiptResponse = v.object({
  txn_id: transactionId,
  account_id: accountIdField,
  status: v.literal('pending'),
  shard_id: shardId,
  enqueued_at: timestamp,
  group_id: v.exactOptional(groupId),
})

/** Of submissions of a batch: what each would have been told alone. */
export const batchAccepted = v.object({
  status: v.literal(202),
  receipt: submissionReceiptResponse,
  replayed: v.exactOptional(v.literal(true)),
  payload_mismatch: v.exactOptional(v.literal(true)),
})
export const batchRefused = v.object({ status: v.picklist(REFUSED), problem: problemResponse })
export const batchResponse = v.object({
  results: v.pipe(v.array(v.union([batchAccepted, batchRefused])), v.minLength(1), v.maxLength(500)),
})

const listedEntries = {
  txn_id: transactionId,
  account_id: accountIdField,
  amount: amountField,
  type: v.picklist(TRANSACTION_TYPES),
  ...assetEntries,
  status,
}

export const groupedTransactionResponse = v.pipe(
  v.object(listedEntries),
  v.check((one) => isOneAsset(one), ASSET_RULE),
)
export const listedTransactionResponse = v.pipe(
  v.object({ ...listedEntries, shard_id: shardId, created_at: timestamp }),
  v.check((one) => isOneAsset(one), ASSET_RULE),
)

const received = v.pipe(
  v.object({ amount: amountField, ...assetEntries }),
  v.check((one) => isOneAsset(one), ASSET_RULE),
)

export const transactionResponse = v.pipe(
  v.object({
    ...listedEntries,
    shard_id: shardId,
    created_at: timestamp,
    audit_hash: v.nullable(sha256),
    origin: v.picklist(['client', 'ledger']),
    group_id: v.exactOptional(groupId),
    metadata: v.exactOptional(transactionMetadata),
    to_account_id: v.exactOptional(accountIdField),
    from_account_id: v.exactOptional(accountIdField),
    receive: v.exactOptional(received),
    processed_at: v.exactOptional(timestamp),
    compensates: v.exactOptional(transactionId),
    compensated_by: v.exactOptional(transactionId),
    failure: v.exactOptional(transactionFailure),
  }),
  v.check((one) => isOneAsset(one), ASSET_RULE),
  v.check(
    (one) => isConsistent(one),
    'has audit_hash if completed, failure if failed, and processed_at unless pending',
  ),
)

export const transactionListResponse = v.object({
  transactions: v.array(listedTransactionResponse),
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})

export const groupTransactionsResponse = v.object({
  group_id: groupId,
  transactions: v.array(groupedTransactionResponse),
  next_page_token: pageToken,
})

/** The three fields of the chain are null for a failed transaction. */
export const receiptPayload = v.pipe(
  v.object({
    account_id: accountIdField,
    amount: amountField,
    audit_hash: v.nullable(sha256),
    ...assetEntries,
    compensates: v.exactOptional(transactionId),
    counter_txn_id: v.exactOptional(transactionId),
    created_at: timestamp,
    failure: v.exactOptional(transactionFailure),
    format: v.literal(1),
    from_account_id: v.exactOptional(accountIdField),
    group_id: v.exactOptional(groupId),
    key_id: keyId,
    ledger_id: text,
    metadata: v.exactOptional(transactionMetadata),
    origin: v.picklist(['client', 'ledger']),
    previous_hash: v.nullable(sha256),
    processed_at: timestamp,
    receive: v.exactOptional(received),
    sequence: v.nullable(count),
    shard_id: shardId,
    status: v.picklist(['completed', 'failed']),
    submission_hash: sha256,
    to_account_id: v.exactOptional(accountIdField),
    txn_id: transactionId,
    type: v.picklist(TRANSACTION_TYPES),
  }),
  v.check((one) => isOneAsset(one), ASSET_RULE),
)

export const receiptResponse = v.object({ receipt: receiptPayload, signature: derSignature })

function isOneAsset(asset: {
  readonly token_id?: string
  readonly class_id?: string
  readonly instance_id?: string
}): boolean {
  const { token_id: tokenId, class_id: ofClass, instance_id: instanceId } = asset
  return tokenId === undefined ? ofClass !== undefined && instanceId !== undefined : ofClass === undefined
}

function isConsistent(transaction: {
  readonly status: 'pending' | 'completed' | 'failed'
  readonly audit_hash: string | null
  readonly processed_at?: string
  readonly failure?: object
}): boolean {
  const { audit_hash: auditHash, processed_at: processedAt, failure } = transaction
  return (
    (auditHash !== null) === (transaction.status === 'completed') &&
    (failure !== undefined) === (transaction.status === 'failed') &&
    (processedAt !== undefined) === (transaction.status !== 'pending')
  )
}
