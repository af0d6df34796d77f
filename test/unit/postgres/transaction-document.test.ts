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
import { createDataKeys } from '../../../infra/vault/data-keys.ts'
import { PLACES } from '../../../infra/postgres/row-sealer.ts'
import { sealingVault, testWrapping } from '../../support/row-vaults.ts'

const KEYS = createDataKeys(testWrapping())
const VAULT = sealingVault([], KEYS)
KEYS.adopt(KEYS.make(VAULT.accountKeyName('ann')))

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

/** As rows since version 0.8 have it: they are there for ever. */
const TEXT =
  '["1.5","txn_1","ann",7,"transfer","BASE","00000000-0000-8000-8000-000000000000","completed",' +
  '{"code":"expired","detail":"Late."},"client",{"note":"a \\"quoted\\" one"},"bob","eve",' +
  '{"tokenId":"GOLD","amount":"2"},"txn_0","txn_2",1,2,3,"aa","bb","key-1","{}","cc","sig","key","receipt-key","receipt-sig"]'
const OUTCOME =
  '["completed",{"code":"expired","detail":"Late."},{"tokenId":"GOLD","amount":"2"},"txn_0","txn_2",2,3,"aa","bb",' +
  '"receipt-key","receipt-sig"]'

const REF = VAULT.accountRef(TRANSACTION.accountId)

function sealed(placeOf: typeof PLACES.transaction, text: string): Buffer {
  const { shardId, txnId, accountId } = TRANSACTION
  return Buffer.from(VAULT.seal(VAULT.accountKeyName(accountId), placeOf(shardId, REF, txnId), text), 'hex')
}

function rowOf(transaction: Transaction, document: string, outcome: string | null = null): TransactionRow {
  return {
    shard_id: transaction.shardId,
    txn_id: transaction.txnId,
    account_id: REF,
    type: transaction.type,
    token_id: transaction.tokenId,
    group_id: transaction.groupId,
    status: transaction.status,
    failure_code: transaction.failure?.code ?? null,
    origin: transaction.origin,
    created_at: new Date(transaction.createdAtMs),
    compensated_by: null,
    idempotency_key: VAULT.keyRef(transaction.accountId, transaction.idempotencyKey),
    sequence: transaction.sequence === null ? null : String(transaction.sequence),
    processed_at: transaction.processedAtMs === null ? null : new Date(transaction.processedAtMs),
    document: sealed(PLACES.transaction, document),
    outcome: outcome === null ? null : sealed(PLACES.outcome, outcome),
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
    expect(openTransaction(row, VAULT)).toEqual({ transaction, receipt })
    expect(openAmount(row, VAULT)).toBe('1.5')
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
  expect(openTransaction(rowOf(TRANSACTION, text, OUTCOME), VAULT)).toEqual({
    transaction: TRANSACTION,
    receipt: RECEIPT,
  })
})

test('a column that says something else than what was sealed', () => {
  const row = { ...rowOf(TRANSACTION, TEXT), status: 'failed' }
  expect(() => openTransaction(row, VAULT)).toThrow('its columns are not what was sealed')
})
