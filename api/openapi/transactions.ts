/** Orders, and what became of them (D5 to D9, D16). */
import * as v from 'valibot'
import { TRANSACTION_TYPES } from '../../actors/account/commands.ts'
import { TRANSACTION_STATUSES } from '../../runtime/ports/ledger-reads.ts'
import { EVERYONE, SUBMITTERS } from '../endpoint/route.ts'
import { accountIdField, DECIMAL_PATTERN, groupIdField, idempotencyKeyField, tokenIdField } from '../schemas/fields.ts'
import {
  batchAccepted,
  batchRefused,
  batchResponse,
  groupedTransactionResponse,
  groupTransactionsResponse,
  listedTransactionResponse,
  receiptPayload,
  receiptResponse,
  submissionReceiptResponse,
  transactionFailure,
  transactionListResponse,
  transactionResponse,
} from '../schemas/responses/transaction.ts'
import { lineEnd, linePlace, lineProblem, transactionLine } from '../schemas/responses/transaction-lines.ts'
import { batchSchema, metadataField, receiveSchema, submissionSchema } from '../schemas/submission.ts'
import type { Operation, Parameter, Tag } from './model/operation.ts'
import { PAGING, PREFER_WAIT } from './parameters.ts'

export const submitTransaction: Operation = {
  id: 'submitTransaction',
  method: 'POST',
  path: '/v1/transactions',
  summary: 'Submit a signed order',
  description: `Moves value on one account; the account’s key signs the body.

- \`credit\` and \`debit\` bring value in from outside the ledger and take it out. A credit needs the grant \`boundary\` of the client.
- \`transfer\` with \`to_account_id\` moves value to another account. It is \`pending\`, the amount reserved, until the receiver’s side has decided; then both sides complete or neither does.
- \`exchange\` with \`to_account_id\` and \`receive\` waits for the mirror exchange of the other party under the same \`group_id\`, for 900 seconds or until \`expires_at\`; both complete in one decision.
- \`mint\` and \`burn\` change the supply of a token; only its issuer mints.
- With \`class_id\` and \`instance_id\` in place of \`token_id\`, and the amount \`"1"\`, an NFT is transferred, exchanged or burned.
- With \`terms_hash\` it is a leg of the registered settlement group \`group_id\`, and nothing less.

**The response is a 202** as soon as the order is durable; the order may fail later. With \`Prefer: wait=N\` the response is a 200 with the transaction, \`failure\` included, if it is final within N seconds, and otherwise the 202. Without the header, poll the transaction until it is \`completed\` or \`failed\`. A refusal (4xx) frees the idempotency key; an accepted order that fails later keeps it.

**Retries**: the same \`idempotency_key\` on the same account gets the first receipt again, byte for byte, even if the body differs (\`Idempotency-Payload-Mismatch: true\`). After a 503, a timeout or a broken connection send the same body again, as often as it takes: it happens once.

Unknown fields are refused: in an order a misspelt field must not be ignored.`,
  roles: SUBMITTERS,
  changes: 'shard',
  parameters: [PREFER_WAIT],
  body: submissionSchema,
  answers: [
    {
      status: 200,
      description: 'The final transaction. Only with `Prefer: wait=N`; the headers mark a replay.',
      content: transactionResponse,
      headers: ['Location', 'Preference-Applied', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
    {
      status: 202,
      description: 'The order is durable and will be decided. A repeat says the same.',
      content: submissionReceiptResponse,
      headers: ['Location', 'Preference-Applied', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND:
      'The account, the receiver, the token, the class or the NFT does not exist; `errors` names the field.',
    ERR_CONFLICT:
      'No registered group expects this leg, the group is registered and the leg has no `terms_hash`, or 4,096 orders of the account are undecided.',
    ERR_FORBIDDEN:
      'The role does not permit this, the account has no key, or the client may not bring value in from outside the ledger.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_NOT_ISSUER: 'Only the issuer of the token may mint it.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
    ERR_SELF_TRANSFER: 'It would move value from the account to itself, by one order or by two of one group.',
  },
}

export const submitBatch: Operation = {
  id: 'submitBatch',
  method: 'POST',
  path: '/v1/transactions/batch',
  summary: 'Submit many signed orders',
  description: `Up to 500 orders in one request, each signed by the key of its own account, each judged as if it came alone: one that is refused changes nothing for the others, and they may complete in any order. It is no settlement group.

\`results\` has one entry for each order, in their order: \`status\` and \`receipt\`, or \`status\` and \`problem\`, as the order would have got them alone; \`replayed\` and \`payload_mismatch\` stand for the headers. Of two orders under one idempotency key the second is a repeat. An order whose result is a 503, or the whole batch after a broken connection, is sent again as it is.

The response comes as soon as each is accepted or refused; \`Prefer: wait=N\` has no effect. For the outcomes, follow the feed (\`GET /v1/transactions?order=asc\`).

The request is a 400 only if the array itself is wrong; the limit of one megabyte holds for all of it.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: batchSchema,
  answers: [{ status: 200, description: 'What became of each order.', content: batchResponse }],
  refusals: { ERR_INVALID_FIELD: '`submissions` is no array of 1 to 500.' },
}

const DATE = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
const DECIMAL = v.pipe(v.string(), v.metadata({ pattern: DECIMAL_PATTERN }))

function filter(name: string, schema: Parameter['schema'], description: string): Parameter {
  return { name, in: 'query', description, schema }
}

export const listTransactions: Operation = {
  id: 'listTransactions',
  method: 'GET',
  path: '/v1/transactions',
  summary: 'List transactions, or follow them',
  description: `Newest first, with every filter applied together.

With \`order=asc\` it is a **feed**: each transaction once, where it was accepted, and always a \`next_page_token\`, on an empty page too: keep it, and ask again later with the same filters. Nothing is skipped or repeated.

A page may hold fewer rows than requested, even none, while \`next_page_token\` is not empty. \`total_count\` is exact without filters, by account, by status and by both; otherwise up to 10,000 (1,000 with an amount filter), and a lower bound beyond (\`total_count_relation\` is \`gte\`).

\`account_id\` with \`idempotency_key\` finds what a key did.

With \`Accept: application/x-ndjson\` it is sent **as lines**, all that there is, however much: a transaction a line; after every \`page_size\` of them or fewer a line \`next_page_token\`; and last a line \`end\`, or \`problem\` where it cannot go on. What ends otherwise was cut off: ask again with the last \`page_token\` that came, and leave out what stood behind it. It is read as fast as it is taken (who takes nothing for 60 seconds is cut off), each page of a moment of its own. A feed ends with what was accepted before it was asked for, and goes on from the token of its \`end\`. \`total_count\` is not among the lines. Two at a time for a client, four for an edge: more are told to try again (503).`,
  roles: EVERYONE,
  parameters: [
    filter('account_id', accountIdField, 'Of this account.'),
    filter('date_from', DATE, 'Created at this time or later: RFC 3339 with an offset.'),
    filter('date_to', DATE, 'Created before this time: RFC 3339 with an offset.'),
    filter('type', v.picklist(TRANSACTION_TYPES), 'Of this type.'),
    filter('token_id', tokenIdField, 'Of this token; `BASE` for the ledger’s own unit.'),
    filter('token_class', v.string(), '`fungible` or `nft`; anything else finds nothing.'),
    filter('group_id', groupIdField, 'Under this group ID.'),
    filter('amount_min', DECIMAL, 'Of this amount or more.'),
    filter('amount_max', DECIMAL, 'Of this amount or less.'),
    filter('status', v.picklist(TRANSACTION_STATUSES), 'In this status.'),
    filter('idempotency_key', idempotencyKeyField, 'Of this key; needs `account_id`.'),
    filter('order', v.optional(v.picklist(['desc', 'asc']), 'desc'), 'Newest first, or as a feed.'),
    ...PAGING,
  ],
  answers: [
    {
      status: 200,
      description: 'One page; or all there is, as lines.',
      content: transactionListResponse,
      lines: transactionLine,
      headers: ['X-Total-Count-Relation'],
    },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: 'The account ID is ill-formed, or missing beside `idempotency_key`.',
    ERR_INVALID_TIMESTAMP: '',
    ERR_INVALID_TYPE: '',
    ERR_INVALID_TOKEN_ID: '',
    ERR_INVALID_GROUP_ID: '',
    ERR_INVALID_AMOUNT: 'A bound is no non-negative decimal string.',
    ERR_INVALID_IDEMPOTENCY_KEY: '',
    ERR_OVERLOADED: 'Too many lists are being sent as lines, to this client or by this edge.',
  },
}

export const listGroupTransactions: Operation = {
  id: 'listGroupTransactions',
  method: 'GET',
  path: '/v1/transactions/group/:groupId',
  summary: 'List the transactions under a group ID',
  description:
    'Newest first. A registered settlement group has an empty list until its first leg is in. With `Prefer: wait=N` the answer comes once none of the page is pending.',
  roles: EVERYONE,
  parameters: [PREFER_WAIT, ...PAGING],
  answers: [
    { status: 200, description: 'One page.', content: groupTransactionsResponse, headers: ['Preference-Applied'] },
  ],
  refusals: { ERR_NOT_FOUND: 'No transaction and no settlement group has this ID.' },
}

export const getTransaction: Operation = {
  id: 'getTransaction',
  method: 'GET',
  path: '/v1/transactions/:txnId',
  summary: 'Get a transaction',
  description: `All there is to say about it. It is there as soon as its 202 was given.

\`Prefer: wait=N\` waits until it is final. Final states never change; a completed transaction may later be compensated by another one, which \`compensated_by\` names.`,
  roles: EVERYONE,
  parameters: [PREFER_WAIT],
  answers: [
    { status: 200, description: 'The transaction.', content: transactionResponse, headers: ['Preference-Applied'] },
  ],
}

export const getReceipt: Operation = {
  id: 'getReceipt',
  method: 'GET',
  path: '/v1/transactions/:txnId/receipt',
  summary: 'Get the signed receipt of a transaction',
  description:
    'What the service signed when the transaction became final, failed ones too. The signature is over the canonical JSON (RFC 8785) of `receipt`; the key stands in `/.well-known/jwks.json` under `key_id`. `ledger verify` checks it offline.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The receipt.', content: receiptResponse }],
  refusals: { ERR_NOT_FOUND: 'There is no such transaction, or it is not final.' },
}

const DETAIL_FIELDS = {
  account_id: 'The account that submitted it, or that the ledger moved value on.',
  audit_hash: 'The hash of its entry in the account’s audit chain; null unless it completed.',
  origin: '`client` for an order, `ledger` for what the ledger did itself, such as the credit side of a transfer.',
  failure: 'Why it failed.',
  compensates: 'The transaction that this one undoes.',
}

export const TRANSACTIONS: Tag = {
  name: 'Transactions',
  description: 'Signed orders on accounts, what became of them, and the proof.',
  schemas: {
    Submission: {
      schema: submissionSchema,
      description: 'A signed order.',
      closed: true,
      relations: {
        dependentRequired: {
          class_id: ['instance_id'],
          instance_id: ['class_id'],
          receive: ['to_account_id'],
          terms_hash: ['group_id'],
        },
      },
      fields: {
        account_id: 'The account whose value moves, and whose key signs.',
        amount: 'How much; `"1"` for an NFT. At most as many fractional digits as the token has decimals.',
        type: 'What happens.',
        token_id: 'The token; without it (or with `BASE`) the ledger’s own unit. Required to mint, burn and exchange.',
        group_id:
          'Links orders, or names the settlement group that this is a leg of. Required in exchanges, and in transfers without `to_account_id`.',
        to_account_id: 'In transfers and exchanges: the other party.',
        receive: 'In exchanges with `to_account_id`: what comes in return.',
        metadata: 'Up to 16 strings for the client’s own use, copied to the other side.',
        class_id: 'With `instance_id`, in place of `token_id`: the NFT that moves.',
        terms_hash: 'The `terms_hash` of the settlement group that this is a leg of.',
        ledger_id: 'The ledger that the order is for, as `/readyz` tells it. Required in production.',
        expires_at: 'Until when it may be decided; too late, it fails.',
      },
    },
    ExchangeReturn: {
      schema: receiveSchema,
      description: 'What an exchange is to bring: a token, or one NFT.',
      closed: true,
      fields: { amount: 'How much comes; `"1"` for an NFT.' },
    },
    OrderMetadata: {
      schema: metadataField,
      description: 'A flat object of at most 16 strings, with keys of 1 to 64 characters, and 4,096 bytes in all.',
    },
    SubmissionReceipt: {
      schema: submissionReceiptResponse,
      description: 'That an order is durable.',
      fields: {
        status: '`pending`, whatever has happened since.',
        enqueued_at: 'When it was accepted: its `created_at`.',
        group_id: 'What links it with others; the service chooses one for transfers without.',
      },
    },
    SubmissionBatch: {
      schema: batchSchema,
      description: 'Signed orders that travel together.',
      fields: { submissions: 'Each as it would be sent alone.' },
    },
    BatchAccepted: {
      schema: batchAccepted,
      description: 'An order of a batch that was accepted.',
      fields: {
        status: 'As HTTP has it.',
        replayed: 'It was accepted before: this is the first receipt.',
        payload_mismatch: 'What was accepted then had another payload.',
      },
    },
    BatchRefused: {
      schema: batchRefused,
      description: 'An order of a batch that was not.',
      fields: { status: 'As HTTP has it.', problem: 'Why.' },
    },
    BatchResults: {
      schema: batchResponse,
      description: 'What became of the orders of a batch.',
      fields: { results: 'One for each order, in their order.' },
    },
    TransactionSummary: {
      schema: listedTransactionResponse,
      description: 'A transaction, as lists show it.',
      fields: { status: 'Where it stands: `completed` and `failed` are final.' },
    },
    GroupedTransaction: {
      schema: groupedTransactionResponse,
      description: 'A transaction, as the list of its group shows it.',
      fields: { status: 'Where it stands: `completed` and `failed` are final.' },
    },
    TransactionFailure: {
      schema: transactionFailure,
      description: 'Why a transaction failed.',
      fields: {
        code: 'For programs: `insufficient_funds`, `balance_limit`, `asset_limit`, `account_frozen`, `account_closed`, `incoming_refused`, `expired`, `exchange_expired`, `supply_limit`, `supply_underflow`, `group_closed`, `not_owner`, `held`, and others.',
      },
    },
    Transaction: {
      schema: transactionResponse,
      description: 'A transaction with all its details; what does not apply to it is left out.',
      fields: {
        ...DETAIL_FIELDS,
        status: 'Where it stands: `completed` and `failed` are final.',
        compensated_by: 'The transaction that undid this one.',
      },
    },
    TransactionList: {
      schema: transactionListResponse,
      description: 'One page of transactions.',
      fields: { transactions: 'The transactions of this page.' },
    },
    TransactionLine: { schema: transactionLine, description: 'A line of a list that is sent as lines.' },
    TransactionLinePlace: {
      schema: linePlace,
      description: 'Where a list that is cut off behind this line is gone on with.',
      fields: { next_page_token: 'The `page_token` for what follows.' },
    },
    TransactionLineEnd: {
      schema: lineEnd,
      description: 'The last line of a list that was sent to its end.',
      fields: {
        end: 'Always true.',
        count: 'How many transactions this answer had.',
        next_page_token: 'Where a feed goes on; empty if it was newest first.',
      },
    },
    TransactionLineProblem: {
      schema: lineProblem,
      description: 'The last line of a list that could not be sent to its end.',
      fields: { problem: 'Why.' },
    },
    GroupTransactions: {
      schema: groupTransactionsResponse,
      description: 'The transactions under one group ID.',
      fields: { transactions: 'The transactions of this page.' },
    },
    ReceiptPayload: {
      schema: receiptPayload,
      description: 'What the service signs. The three fields of the chain are null for a failed transaction.',
      fields: {
        ...DETAIL_FIELDS,
        status: 'How it ended.',
        counter_txn_id: 'The transaction of the other side.',
        format: 'The version of this format.',
        submission_hash: 'The SHA-256 of the canonical payload that the client signed.',
        key_id: 'The key of the service that signs.',
        ledger_id: 'The ledger that says so.',
      },
    },
    Receipt: {
      schema: receiptResponse,
      description: 'A signed receipt.',
      fields: { receipt: 'Canonical JSON as it stands: hash these bytes.', signature: 'Over `receipt`.' },
    },
  },
  operations: [submitTransaction, submitBatch, listTransactions, listGroupTransactions, getTransaction, getReceipt],
}
