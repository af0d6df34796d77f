/** Receipts byte by byte, written out by hand: every member of a receipt is in one of them. */
import type { TransactionRecord } from '../../actors/account/transaction.ts'

export const GOLDEN_LEDGER_ID = 'ledger-1'
/** The thumbprint (RFC 7638) of the first of EXAMPLE_KEYS. */
export const GOLDEN_KEY_ID = 'DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0'

const START_MS = 1_790_000_000_123

const RECORD: TransactionRecord = {
  txnId: 'txn_01M80E1PQB000010SNKHFAT8F1',
  accountId: 'alice@example',
  shardId: 131,
  type: 'exchange',
  amount: '100.50',
  tokenId: 'BASE',
  groupId: '5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33',
  status: 'completed',
  failure: null,
  origin: 'client',
  metadata: null,
  toAccountId: null,
  fromAccountId: null,
  receive: null,
  compensates: null,
  refunds: null,
  counterTxnId: null,
  createdAtMs: START_MS,
  processedAtMs: START_MS,
  sequence: null,
  previousHash: null,
  auditHash: null,
  entry: null,
  idempotencyKey: 'in no receipt',
  payloadHash: '3c'.repeat(32),
  keyId: 'in no receipt',
}

const OF_BOB: TransactionRecord = {
  ...RECORD,
  accountId: 'bob',
  shardId: 0,
  tokenId: 'EUR',
  counterTxnId: 'txn_01M80E1PV60000G0W1DNTF3NMN',
  createdAtMs: START_MS + 2_000,
  processedAtMs: START_MS + 2_001,
  sequence: 2,
  previousHash: '6f'.repeat(32),
  auditHash: '5e'.repeat(32),
  payloadHash: '70'.repeat(32),
}

export interface GoldenReceipt {
  readonly transaction: TransactionRecord
  readonly payload: string
}

export const COMPLETED_EXCHANGE: GoldenReceipt = {
  transaction: {
    ...RECORD,
    metadata: { b: '2', '9': 'nine', a: 'a "quoted" \\ é', '10': 'ten' },
    receive: { tokenId: 'EUR', amount: '95.25' },
    counterTxnId: 'txn_01M80E1PV6000010W1DNTF3NMN',
    processedAtMs: START_MS + 1_500,
    sequence: 7,
    previousHash: '2b'.repeat(32),
    auditHash: '1a'.repeat(32),
    entry: {
      format: 2,
      salt: 'in no receipt',
      balance: '899.5',
      available: '200',
      incoming: 'in no receipt',
      receivedBalance: '95.25',
      receivedAvailable: '95.25',
      receivedIncoming: 'in no receipt',
    },
  },
  payload:
    '{"account_id":"alice@example","amount":"100.50","audit_hash":"sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a","available_after":"200","balance_after":"899.5","counter_txn_id":"txn_01M80E1PV6000010W1DNTF3NMN","created_at":"2026-09-21T14:13:20.123Z","format":2,"group_id":"5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","metadata":{"10":"ten","9":"nine","a":"a \\"quoted\\" \\\\ é","b":"2"},"origin":"client","previous_hash":"sha256:2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b","processed_at":"2026-09-21T14:13:21.623Z","receive":{"amount":"95.25","available_after":"95.25","balance_after":"95.25","token_id":"EUR"},"sequence":7,"shard_id":131,"status":"completed","submission_hash":"sha256:3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c","token_id":"BASE","txn_id":"txn_01M80E1PQB000010SNKHFAT8F1","type":"exchange"}',
}

/** Of an entry from before format 2. */
export const FIRST_FORMAT_EXCHANGE: GoldenReceipt = {
  transaction: {
    ...COMPLETED_EXCHANGE.transaction,
    entry: {
      format: 1,
      salt: 'in no receipt',
      balance: 'in no receipt',
      available: null,
      incoming: 'in no receipt',
      receivedBalance: 'in no receipt',
      receivedAvailable: null,
      receivedIncoming: null,
    },
  },
  payload:
    '{"account_id":"alice@example","amount":"100.50","audit_hash":"sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a","counter_txn_id":"txn_01M80E1PV6000010W1DNTF3NMN","created_at":"2026-09-21T14:13:20.123Z","format":1,"group_id":"5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","metadata":{"10":"ten","9":"nine","a":"a \\"quoted\\" \\\\ é","b":"2"},"origin":"client","previous_hash":"sha256:2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b","processed_at":"2026-09-21T14:13:21.623Z","receive":{"amount":"95.25","token_id":"EUR"},"sequence":7,"shard_id":131,"status":"completed","submission_hash":"sha256:3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c","token_id":"BASE","txn_id":"txn_01M80E1PQB000010SNKHFAT8F1","type":"exchange"}',
}

export const FAILED_EXCHANGE_OF_NFTS: GoldenReceipt = {
  transaction: {
    ...RECORD,
    txnId: 'txn_01M80E1PV6000010W1DNTF3NMN',
    amount: '1',
    tokenId: 'cls_01M80E1PQB000010SNKHFAT8F1/no:1',
    status: 'failed',
    failure: { code: 'exchange_expired', detail: 'The other side of the exchange did not come in time.' },
    receive: { tokenId: 'cls_01M80E1PV6000010W1DNTF3NMN/no:2', amount: '1' },
    processedAtMs: START_MS + 60_000,
    payloadHash: '4d'.repeat(32),
  },
  payload:
    '{"account_id":"alice@example","amount":"1","audit_hash":null,"class_id":"cls_01M80E1PQB000010SNKHFAT8F1","created_at":"2026-09-21T14:13:20.123Z","failure":{"code":"exchange_expired","detail":"The other side of the exchange did not come in time."},"format":1,"group_id":"5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33","instance_id":"no:1","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","origin":"client","previous_hash":null,"processed_at":"2026-09-21T14:14:20.123Z","receive":{"amount":"1","class_id":"cls_01M80E1PV6000010W1DNTF3NMN","instance_id":"no:2"},"sequence":null,"shard_id":131,"status":"failed","submission_hash":"sha256:4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d","txn_id":"txn_01M80E1PV6000010W1DNTF3NMN","type":"exchange"}',
}

/** The receiver of a transfer gives it back. */
export const COMPENSATING_DEBIT: GoldenReceipt = {
  transaction: {
    ...OF_BOB,
    txnId: 'txn_01M80E1PV60000080W1DNTF3NM',
    type: 'debit',
    amount: '7',
    origin: 'ledger',
    toAccountId: 'alice@example',
    compensates: 'txn_01M80E1PV6000010W1DNTF3NMN',
  },
  payload:
    '{"account_id":"bob","amount":"7","audit_hash":"sha256:5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","compensates":"txn_01M80E1PV6000010W1DNTF3NMN","counter_txn_id":"txn_01M80E1PV60000G0W1DNTF3NMN","created_at":"2026-09-21T14:13:22.123Z","format":1,"group_id":"5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","origin":"ledger","previous_hash":"sha256:6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f","processed_at":"2026-09-21T14:13:22.124Z","sequence":2,"shard_id":0,"status":"completed","submission_hash":"sha256:7070707070707070707070707070707070707070707070707070707070707070","to_account_id":"alice@example","token_id":"EUR","txn_id":"txn_01M80E1PV60000080W1DNTF3NM","type":"debit"}',
}

/** The sender of that transfer gets it back. */
export const COMPENSATING_CREDIT: GoldenReceipt = {
  transaction: {
    ...RECORD,
    txnId: 'txn_01M80E1PV60000G0W1DNTF3NMN',
    type: 'credit',
    amount: '7',
    tokenId: 'EUR',
    origin: 'ledger',
    fromAccountId: 'bob',
    compensates: 'txn_01M80E1PQB000010SNKHFAT8F1',
    counterTxnId: 'txn_01M80E1PV60000080W1DNTF3NM',
    createdAtMs: START_MS + 2_002,
    processedAtMs: START_MS + 2_002,
    sequence: 8,
    previousHash: '1a'.repeat(32),
    auditHash: '81'.repeat(32),
    payloadHash: '92'.repeat(32),
  },
  payload:
    '{"account_id":"alice@example","amount":"7","audit_hash":"sha256:8181818181818181818181818181818181818181818181818181818181818181","compensates":"txn_01M80E1PQB000010SNKHFAT8F1","counter_txn_id":"txn_01M80E1PV60000080W1DNTF3NM","created_at":"2026-09-21T14:13:22.125Z","format":1,"from_account_id":"bob","group_id":"5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","origin":"ledger","previous_hash":"sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a","processed_at":"2026-09-21T14:13:22.125Z","sequence":8,"shard_id":131,"status":"completed","submission_hash":"sha256:9292929292929292929292929292929292929292929292929292929292929292","token_id":"EUR","txn_id":"txn_01M80E1PV60000G0W1DNTF3NMN","type":"credit"}',
}

/** The receiver of a transfer refunds a part of it. */
export const REFUND: GoldenReceipt = {
  transaction: {
    ...OF_BOB,
    txnId: 'txn_01M80E1PV60000R0W1DNTF3NMN',
    type: 'transfer',
    amount: '2',
    toAccountId: 'alice@example',
    refunds: 'txn_01M80E1PV6000010W1DNTF3NMN',
  },
  payload:
    '{"account_id":"bob","amount":"2","audit_hash":"sha256:5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","counter_txn_id":"txn_01M80E1PV60000G0W1DNTF3NMN","created_at":"2026-09-21T14:13:22.123Z","format":1,"group_id":"5f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","origin":"client","previous_hash":"sha256:6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f","processed_at":"2026-09-21T14:13:22.124Z","refunds":"txn_01M80E1PV6000010W1DNTF3NMN","sequence":2,"shard_id":0,"status":"completed","submission_hash":"sha256:7070707070707070707070707070707070707070707070707070707070707070","to_account_id":"alice@example","token_id":"EUR","txn_id":"txn_01M80E1PV60000R0W1DNTF3NMN","type":"transfer"}',
}

/** The beneficiary of a hold captures a part of it. */
export const CAPTURE: GoldenReceipt = {
  transaction: {
    ...OF_BOB,
    txnId: 'txn_01M80E1PV60000R0W1DNTF3NMN',
    type: 'transfer',
    amount: '2',
    groupId: null,
    fromAccountId: 'alice@example',
    holdId: 'hld_01M80E1PV6000010W1DNTF3NMN',
  },
  payload:
    '{"account_id":"bob","amount":"2","audit_hash":"sha256:5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","counter_txn_id":"txn_01M80E1PV60000G0W1DNTF3NMN","created_at":"2026-09-21T14:13:22.123Z","format":1,"from_account_id":"alice@example","hold_id":"hld_01M80E1PV6000010W1DNTF3NMN","key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","ledger_id":"ledger-1","origin":"client","previous_hash":"sha256:6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f6f","processed_at":"2026-09-21T14:13:22.124Z","sequence":2,"shard_id":0,"status":"completed","submission_hash":"sha256:7070707070707070707070707070707070707070707070707070707070707070","token_id":"EUR","txn_id":"txn_01M80E1PV60000R0W1DNTF3NMN","type":"transfer"}',
}

export const GOLDEN_RECEIPTS: readonly GoldenReceipt[] = [
  COMPLETED_EXCHANGE,
  FIRST_FORMAT_EXCHANGE,
  FAILED_EXCHANGE_OF_NFTS,
  COMPENSATING_DEBIT,
  COMPENSATING_CREDIT,
  REFUND,
  CAPTURE,
]
