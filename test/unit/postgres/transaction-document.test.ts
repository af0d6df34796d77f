/** Goal: what was written of a transaction is read as it was by every later program, and its amount without the rest. */
import { expect, test } from 'vitest'
import type { Transaction } from '../../../actors/account/transaction.ts'
import {
  openAmount,
  openTransaction,
  outcomeText,
  type TransactionRow,
  transactionText,
} from '../../../infra/postgres/transaction-document.ts'
import type { ReceiptWrite } from '../../../runtime/ports/ledger-store.ts'
import { PLAIN_VAULT } from '../../support/row-vaults.ts'

const TRANSACTION: Transaction = {
  amount: '1.5',
  txnId: 'txn_1',
  accountId: 'ann',
  shardId: 7,
  type: 'transfer',
  tokenId: 'BASE',
  groupId: '00000000-0000-8000-8000-000000000000',
  status: 'completed',
  failure: { code: 'expired', detail: 'Late.' },
  origin: 'client',
  metadata: { note: 'a "quoted" one' },
  toAccountId: 'bob',
  fromAccountId: 'eve',
  receive: { tokenId: 'GOLD', amount: '2' },
  compensates: 'txn_0',
  counterTxnId: 'txn_2',
  createdAtMs: 1,
  processedAtMs: 2,
  sequence: 3,
  previousHash: 'aa',
  auditHash: 'bb',
  idempotencyKey: 'key-1',
  payload: '{}',
  payloadHash: 'cc',
  signature: 'sig',
  keyId: 'key',
}
const RECEIPT: ReceiptWrite = { keyId: 'receipt-key', signature: 'receipt-sig' }

/** As rows of version 0.7 have it: they are there for ever. */
const TEXT =
  '["1.5","txn_1","ann",7,"transfer","BASE","00000000-0000-8000-8000-000000000000","completed",' +
  '{"code":"expired","detail":"Late."},"client",{"note":"a \\"quoted\\" one"},"bob","eve",' +
  '{"tokenId":"GOLD","amount":"2"},"txn_0","txn_2",1,2,3,"aa","bb","key-1","{}","cc","sig","key","receipt-key","receipt-sig"]'
const OUTCOME =
  '["completed",{"code":"expired","detail":"Late."},{"tokenId":"GOLD","amount":"2"},"txn_0","txn_2",2,3,"aa","bb",' +
  '"receipt-key","receipt-sig"]'

function rowOf(transaction: Transaction, document: string, outcome: string | null = null): TransactionRow {
  return {
    shard_id: transaction.shardId,
    txn_id: transaction.txnId,
    account_id: transaction.accountId,
    type: transaction.type,
    token_id: transaction.tokenId,
    group_id: transaction.groupId,
    status: transaction.status,
    failure_code: transaction.failure?.code ?? null,
    origin: transaction.origin,
    created_at: new Date(transaction.createdAtMs),
    compensated_by: null,
    idempotency_key: transaction.idempotencyKey,
    sequence: transaction.sequence === null ? null : String(transaction.sequence),
    processed_at: transaction.processedAtMs === null ? null : new Date(transaction.processedAtMs),
    document: Buffer.from(document),
    outcome: outcome === null ? null : Buffer.from(outcome),
  }
}

test('each member stands where it has always stood', () => {
  expect(transactionText({ transaction: TRANSACTION, receipt: RECEIPT })).toBe(TEXT)
  expect(outcomeText({ transaction: TRANSACTION, receipt: RECEIPT })).toBe(OUTCOME)
})

test('what is written is what is read, with every member and with none of those that may be missing', () => {
  const bare = Object.fromEntries(
    Object.entries(TRANSACTION).map(([name, value]) => [name, BARE.has(name) ? null : value]),
  ) as unknown as Transaction
  for (const [transaction, receipt] of [
    [TRANSACTION, RECEIPT],
    [{ ...bare, status: 'pending' } satisfies Transaction, null],
  ] as const) {
    const row = rowOf(transaction, transactionText({ transaction, receipt }))
    expect(openTransaction(row, PLAIN_VAULT)).toEqual({ transaction, receipt })
    expect(openAmount(row, PLAIN_VAULT)).toBe('1.5')
  }
})

const BARE: ReadonlySet<string> = new Set([
  'groupId',
  'failure',
  'metadata',
  'toAccountId',
  'fromAccountId',
  'receive',
  'compensates',
  'counterTxnId',
  'processedAtMs',
  'sequence',
  'previousHash',
  'auditHash',
])

test('how it ended takes the place of what it was', () => {
  const pending: Transaction = {
    ...TRANSACTION,
    status: 'pending',
    failure: null,
    receive: null,
    compensates: null,
    counterTxnId: null,
    processedAtMs: null,
    sequence: null,
    previousHash: null,
    auditHash: null,
  }
  const text = transactionText({ transaction: pending, receipt: null })
  expect(openTransaction(rowOf(TRANSACTION, text, OUTCOME), PLAIN_VAULT)).toEqual({
    transaction: TRANSACTION,
    receipt: RECEIPT,
  })
})

test('rows from before version 0.7, whose members have names', () => {
  const { status, failure, receive, compensates, counterTxnId, processedAtMs, sequence, previousHash, auditHash } =
    TRANSACTION
  const decided = {
    status,
    failure,
    receive,
    compensates,
    counterTxnId,
    processedAtMs,
    sequence,
    previousHash,
    auditHash,
  }
  const row = rowOf(
    TRANSACTION,
    JSON.stringify({ transaction: { ...TRANSACTION, status: 'pending', sequence: null }, receipt: null }),
    JSON.stringify({ decided, receipt: RECEIPT }),
  )
  expect(openTransaction(row, PLAIN_VAULT)).toEqual({ transaction: TRANSACTION, receipt: RECEIPT })
  expect(openAmount(row, PLAIN_VAULT)).toBe('1.5')
})

test('a column that says something else than what was sealed', () => {
  const row = { ...rowOf(TRANSACTION, TEXT), status: 'failed' }
  expect(() => openTransaction(row, PLAIN_VAULT)).toThrow('its columns are not what was sealed')
})
