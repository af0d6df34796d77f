/** Orders, and what became of them (D5 to D9, D16). */
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
import type { Tag } from '../endpoint/operation.ts'
import { LIST_GROUP_TRANSACTIONS } from '../routes/settlement-groups/list-group-transactions.ts'
import { GET_RECEIPT } from '../routes/transactions/get-receipt.ts'
import { GET_TRANSACTION } from '../routes/transactions/get-transaction.ts'
import { LIST_TRANSACTIONS } from '../routes/transactions/list-transactions.ts'
import { SUBMIT_BATCH } from '../routes/transactions/submit-batch.ts'
import { SUBMIT_TRANSACTION } from '../routes/transactions/submit-transaction.ts'

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
        type: 'The type of the transaction.',
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
      description: 'The asset that an exchange brings: a token, or one NFT.',
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
        group_id: 'Links the transaction with others; the service chooses one for a transfer without.',
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
        payload_mismatch: 'True if the accepted request had another payload.',
      },
    },
    BatchRefused: {
      schema: batchRefused,
      description: 'An order of a batch that was not.',
      fields: { status: 'As HTTP has it.', problem: 'Why.' },
    },
    BatchResults: {
      schema: batchResponse,
      description: 'The result of each order of a batch.',
      fields: { results: 'One for each order, in their order.' },
    },
    TransactionSummary: {
      schema: listedTransactionResponse,
      description: 'A transaction, as lists show it.',
      fields: { status: 'The status: `completed` and `failed` are final.' },
    },
    GroupedTransaction: {
      schema: groupedTransactionResponse,
      description: 'A transaction, as the list of its group shows it.',
      fields: { status: 'The status: `completed` and `failed` are final.' },
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
        status: 'The status: `completed` and `failed` are final.',
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
      description: 'The signed payload of a receipt. The three fields of the chain are null for a failed transaction.',
      fields: {
        ...DETAIL_FIELDS,
        status: 'How it ended.',
        counter_txn_id: 'The transaction of the other side.',
        format: 'The version of this format.',
        submission_hash: 'The SHA-256 of the canonical payload that the client signed.',
        key_id: 'The key of the service that signs.',
        ledger_id: 'The ledger that signs.',
      },
    },
    Receipt: {
      schema: receiptResponse,
      description: 'A signed receipt.',
      fields: { receipt: 'Canonical JSON: hash these bytes.', signature: 'Over `receipt`.' },
    },
  },
  operations: [
    SUBMIT_TRANSACTION,
    SUBMIT_BATCH,
    LIST_TRANSACTIONS,
    LIST_GROUP_TRANSACTIONS,
    GET_TRANSACTION,
    GET_RECEIPT,
  ],
}
