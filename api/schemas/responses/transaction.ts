/** Responses about transactions (D5, D8, D9). */
import * as v from 'valibot'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { FAILURE_CODES } from '../../../actors/account/transaction.ts'
import { accountIdField, amountField, tokenIdField } from '../fields.ts'
import { problemResponse } from './problem.ts'
import {
  classId,
  count,
  countedPage,
  derSignature,
  groupId,
  holdId,
  instanceId,
  keyId,
  minimalDecimal,
  pageToken,
  reasonCode,
  sha256,
  shardId,
  text,
  timestamp,
  transactionId,
  transactionMetadata,
} from '../values.ts'
import { define, named, withRule } from '../named-schema.ts'

/** Codes with which a submission can be refused. */
const REFUSED = [400, 403, 404, 409, 503]

/** The asset: a token, or one NFT. */
const assetEntries = {
  token_id: v.exactOptional(tokenIdField),
  class_id: v.exactOptional(classId),
  instance_id: v.exactOptional(instanceId),
}
const ASSET_RULE = 'has token_id, or class_id and instance_id'

export const transactionFailure = define('TransactionFailure', 'Why a transaction failed.', {
  code: [
    reasonCode,
    `For programs, one of ${FAILURE_CODES.map((code) => `\`${code}\``).join(', ')}. New codes may come.`,
  ],
  detail: text,
})

/** Fields that a transaction and its receipt have. */
const account = [accountIdField, 'The account that submitted it, or that the ledger moved value on.'] as const
const auditHash = [
  v.nullable(sha256),
  'The hash of its entry in the account’s audit chain; null unless it completed.',
] as const
const origin = [
  v.picklist(['client', 'ledger']),
  '`client` for an order, `ledger` for what the ledger did itself, such as the credit side of a transfer.',
] as const
const failure = [v.exactOptional(transactionFailure), 'Why it failed.'] as const
const capturedHold = [v.exactOptional(holdId), 'The hold that it captures.'] as const
const refunds = [v.exactOptional(transactionId), 'The transfer that this one refunds.'] as const
const compensates = [v.exactOptional(transactionId), 'The transaction that this one undoes.'] as const

export const submissionReceiptResponse = define('SubmissionReceipt', 'That an order is durable.', {
  txn_id: transactionId,
  account_id: accountIdField,
  status: [v.literal('pending'), '`pending`, whatever has happened since.'],
  shard_id: shardId,
  enqueued_at: [timestamp, 'When it was accepted: its `created_at`.'],
  group_id: [
    v.exactOptional(groupId),
    'Links the transaction with others; the service chooses one for a transfer without.',
  ],
})

const deciderSchema = define('Decider', 'Another account, group, token or NFT that would still decide the order.', {
  kind: [
    v.picklist(['account', 'settlement_group', 'exchange', 'token', 'nft_instance']),
    '`exchange`: the other party, by its mirror exchange under the same group ID.',
  ],
  id: [text, 'The account, the group, the token in lower case, or the NFT as `class/instance`.'],
})
export const dryRunResponse = define('DryRunResult', 'The result that the order would have now.', {
  outcome: [
    v.picklist(['completed', 'failed', 'pending']),
    '`pending`: the account accepts it, and others would decide it.',
  ],
  failure: [v.exactOptional(transactionFailure), 'Why it would fail.'],
  balance_after: [v.exactOptional(minimalDecimal), 'The balance of the asset that the order gives. Absent for an NFT.'],
  available_after: [v.exactOptional(minimalDecimal), 'The part of it that nothing reserves. Absent for an NFT.'],
  decided_by: [v.array(deciderSchema), 'Those that would still decide it. Empty if the outcome is `failed`.'],
})

/** Of submissions of a batch: what each would have been told alone. */
export const batchAccepted = define('BatchAccepted', 'An order of a batch that was accepted.', {
  status: [v.literal(202), 'As HTTP has it.'],
  receipt: submissionReceiptResponse,
  replayed: [v.exactOptional(v.literal(true)), 'It was accepted before: this is the first receipt.'],
  payload_mismatch: [v.exactOptional(v.literal(true)), 'True if the accepted request had another payload.'],
})
export const batchRefused = define('BatchRefused', 'An order of a batch that was not.', {
  status: [v.picklist(REFUSED), 'As HTTP has it.'],
  problem: [problemResponse, 'Why.'],
})
export const batchResponse = define('BatchResults', 'The result of each order of a batch.', {
  results: [
    v.pipe(v.array(v.union([batchAccepted, batchRefused])), v.minLength(1), v.maxLength(500)),
    'One for each order, in their order.',
  ],
})

const listedFields = {
  txn_id: transactionId,
  account_id: accountIdField,
  amount: amountField,
  type: v.picklist(TRANSACTION_TYPES),
  ...assetEntries,
  status: [v.picklist(['pending', 'completed', 'failed']), 'The status: `completed` and `failed` are final.'],
} as const

export const groupedTransactionResponse = withRule(
  define('GroupedTransaction', 'A transaction, as the list of its group shows it.', listedFields),
  isOneAsset,
  ASSET_RULE,
)
export const listedTransactionResponse = withRule(
  define('TransactionSummary', 'A transaction, as lists show it.', {
    ...listedFields,
    shard_id: shardId,
    created_at: timestamp,
  }),
  isOneAsset,
  ASSET_RULE,
)

const balancesAfterEntries = {
  balance_after: [
    v.exactOptional(minimalDecimal),
    'The balance of the asset right after the transaction completed. Absent for an NFT, and before format 2.',
  ],
  available_after: [v.exactOptional(minimalDecimal), 'The part of `balance_after` that nothing reserved.'],
} as const
const received = v.pipe(
  v.object({
    amount: amountField,
    ...assetEntries,
    balance_after: v.exactOptional(minimalDecimal),
    available_after: v.exactOptional(minimalDecimal),
  }),
  v.check((asset) => isOneAsset(asset), ASSET_RULE),
)

const TRANSACTION_RULE = 'has audit_hash if completed, failure if failed, and processed_at unless pending'
const oneTransaction = define(
  'Transaction',
  'A transaction with all its details; what does not apply to it is left out.',
  {
    ...listedFields,
    account_id: account,
    shard_id: shardId,
    created_at: timestamp,
    audit_hash: auditHash,
    ...balancesAfterEntries,
    origin,
    group_id: v.exactOptional(groupId),
    metadata: v.exactOptional(transactionMetadata),
    to_account_id: v.exactOptional(accountIdField),
    from_account_id: v.exactOptional(accountIdField),
    receive: v.exactOptional(received),
    processed_at: v.exactOptional(timestamp),
    compensates,
    compensated_by: [v.exactOptional(transactionId), 'The transaction that undid this one.'],
    refunds,
    hold_id: capturedHold,
    refunded_amount: [
      v.exactOptional(minimalDecimal),
      'The sum of the completed refunds of this transfer. Absent without one.',
    ],
    failure,
  },
)
export const transactionResponse = withRule(
  withRule(oneTransaction, isOneAsset, ASSET_RULE),
  isConsistent,
  TRANSACTION_RULE,
)

export const transactionListResponse = define('TransactionList', 'One page of transactions.', {
  transactions: [v.array(listedTransactionResponse), 'The transactions of this page.'],
  ...countedPage,
})

export const groupTransactionsResponse = define('GroupTransactions', 'The transactions under one group ID.', {
  group_id: groupId,
  transactions: [v.array(groupedTransactionResponse), 'The transactions of this page.'],
  next_page_token: pageToken,
})

export const receiptPayload = withRule(
  define(
    'ReceiptPayload',
    'The signed payload of a receipt. The three fields of the chain are null for a failed transaction.',
    {
      account_id: account,
      amount: amountField,
      audit_hash: auditHash,
      ...balancesAfterEntries,
      ...assetEntries,
      compensates,
      counter_txn_id: [v.exactOptional(transactionId), 'The transaction of the other side.'],
      created_at: timestamp,
      failure,
      format: [v.picklist([1, 2]), 'The version of this format: `2` has the balances after a completed transaction.'],
      from_account_id: v.exactOptional(accountIdField),
      group_id: v.exactOptional(groupId),
      key_id: [keyId, 'The key of the service that signs.'],
      ledger_id: [text, 'The ledger that signs.'],
      metadata: v.exactOptional(transactionMetadata),
      origin,
      previous_hash: v.nullable(sha256),
      processed_at: timestamp,
      receive: v.exactOptional(received),
      refunds,
      hold_id: capturedHold,
      sequence: v.nullable(count),
      shard_id: shardId,
      status: [v.picklist(['completed', 'failed']), 'How it ended.'],
      submission_hash: [sha256, 'The SHA-256 of the canonical payload that the client signed.'],
      to_account_id: v.exactOptional(accountIdField),
      txn_id: transactionId,
      type: v.picklist(TRANSACTION_TYPES),
    },
  ),
  isOneAsset,
  ASSET_RULE,
)

export const receiptResponse = define('Receipt', 'A signed receipt.', {
  receipt: [receiptPayload, 'Canonical JSON: hash these bytes.'],
  signature: [derSignature, 'Over `receipt`.'],
})

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

export const linePlace = define(
  'TransactionLinePlace',
  'Where a list that is cut off behind this line is gone on with.',
  { next_page_token: [pageToken, 'The `page_token` for what follows.'] },
)
export const lineEnd = define('TransactionLineEnd', 'The last line of a list that was sent to its end.', {
  end: [v.literal(true), 'Always true.'],
  count: [count, 'How many transactions this answer had.'],
  next_page_token: [pageToken, 'Where a feed goes on; empty if it was newest first.'],
})
export const lineProblem = define(
  'TransactionLineProblem',
  'The last line of a list that could not be sent to its end.',
  { problem: [problemResponse, 'Why.'] },
)
/** The end comes first: it has all members of a place. */
export const transactionLine = named(
  'TransactionLine',
  'A line of a list that is sent as lines.',
  v.union([listedTransactionResponse, lineEnd, linePlace, lineProblem]),
)
