/** Every later release reads a stored transaction document unchanged, and only with the columns of its own row. */
import { expect, test } from 'vitest'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { sha256Hex } from '../../../actors/audit-chain.ts'
import {
  openAmount,
  openTransaction,
  placeOfTransaction,
  receivedTokenOf,
  refsOfTransaction,
  type TransactionRow,
  transactionText,
} from '../../../infra/postgres/rows/transaction-document.ts'
import { PLACES } from '../../../infra/postgres/rows/row-sealer.ts'
import { accountKeyName } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import type { TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'

const PAYLOAD = '{"account_id":"ann","amount":"1.5","idempotency_key":"key-1","metadata":{"note":"a \\"quoted\\" one"}}'

const COMPLETED: Transaction = {
  amount: '1.5',
  txnId: 'txn_1',
  accountId: 'ann',
  shardId: 7,
  type: 'transfer',
  tokenId: 'BASE',
  groupId: '00000000-0000-8000-8000-000000000000',
  status: 'completed',
  failure: null,
  origin: 'client',
  metadata: { note: 'a "quoted" one' },
  toAccountId: 'bob',
  fromAccountId: 'eve',
  receive: { tokenId: 'GOLD', amount: '2' },
  compensates: 'txn_0',
  refunds: null,
  counterTxnId: 'txn_2',
  createdAtMs: 1,
  processedAtMs: 2,
  sequence: 3,
  previousHash: 'aa'.repeat(32),
  auditHash: 'bb'.repeat(32),
  entry: {
    format: 2,
    salt: '5a17',
    balance: '7',
    available: '6',
    incoming: '1',
    receivedBalance: '9',
    receivedAvailable: '9',
    receivedIncoming: null,
  },
  idempotencyKey: 'key-1',
  payload: PAYLOAD,
  payloadHash: sha256Hex(PAYLOAD),
  signature: 'sig',
  keyId: 'key',
}
const RECEIPT = { keyId: 'receipt-key', signature: 'receipt-sig' }

/** An entry from before format 2. */
const FIRST_FORMAT: Transaction = {
  ...COMPLETED,
  entry: {
    format: 1,
    salt: '5a17',
    balance: '7',
    available: null,
    incoming: '1',
    receivedBalance: '9',
    receivedAvailable: null,
    receivedIncoming: null,
  },
}

/** Nothing of its balances is reserved. */
const AVAILABLE: Transaction = {
  ...COMPLETED,
  entry: {
    format: 2,
    salt: '5a17',
    balance: '7',
    available: '7',
    incoming: null,
    receivedBalance: '9',
    receivedAvailable: '8',
    receivedIncoming: '2',
  },
}

const PENDING: Transaction = {
  ...COMPLETED,
  groupId: null,
  status: 'pending',
  toAccountId: null,
  fromAccountId: null,
  receive: null,
  compensates: null,
  refunds: null,
  counterTxnId: null,
  processedAtMs: null,
  sequence: null,
  previousHash: null,
  auditHash: null,
  entry: null,
}

const FAILED: Transaction = {
  ...PENDING,
  status: 'failed',
  failure: { code: 'expired', detail: 'Late.' },
  processedAtMs: 2,
}

/** An order by the ledger: its payload has neither key nor metadata. */
const OWN: Transaction = {
  ...COMPLETED,
  origin: 'ledger',
  idempotencyKey: '§transfer txn_0',
  payload: '{"account_id":"ann","cause":"transfer txn_0"}',
  payloadHash: sha256Hex('{"account_id":"ann","cause":"transfer txn_0"}'),
  signature: '',
  keyId: '',
}

/** A key that JSON escapes, and a payload that does not begin with the account. */
const UNUSUAL: Transaction = {
  ...PENDING,
  metadata: null,
  idempotencyKey: 'a "key" \\',
  payload: '{"a":1,"account_id":"ann","idempotency_key":"a \\"key\\" \\\\"}',
  payloadHash: sha256Hex('{"a":1,"account_id":"ann","idempotency_key":"a \\"key\\" \\\\"}'),
}

function refundOf(refunds: string): Pick<Transaction, 'payload' | 'payloadHash'> {
  const payload = PAYLOAD.replace('{', `{"refunds":"${refunds}",`)
  return { payload, payloadHash: sha256Hex(payload) }
}

/** The text in existing rows: it must not change. */
const TEXT = `1.5
${PAYLOAD}
["sig","key","receipt-sig",[2,"5a17","7","6","1","9"],"txn_2","bob","eve",true,{"tokenId":"GOLD","amount":"2"},"txn_0",null,null,null,"00000000-0000-8000-8000-000000000000"]`

function vaultOf(): RowVault {
  const vault = sealingVault([])
  vault.keys.adopt(vault.keys.make(vault.accountKeyName('ann')))
  return vault
}

function rowOf(vault: RowVault, write: TransactionWrite): TransactionRow {
  const { transaction, receipt } = write
  const refs = refsOfTransaction(transaction, vault)
  const bytes = (hash: string | null): Buffer | null => (hash === null ? null : Buffer.from(hash, 'hex'))
  const sealed = vault.seal(accountKeyName(refs.account), placeOfTransaction(write, refs), transactionText(write))
  return {
    shard_id: transaction.shardId,
    txn_id: transaction.txnId,
    account_id: refs.account,
    type: transaction.type,
    token_id: transaction.tokenId,
    received_token_id: receivedTokenOf(transaction),
    group_id: refs.group,
    status: transaction.status,
    failure_code: transaction.failure?.code ?? null,
    origin: transaction.origin,
    created_at: new Date(transaction.createdAtMs),
    processed_at: transaction.processedAtMs === null ? null : new Date(transaction.processedAtMs),
    sequence: transaction.sequence === null ? null : String(transaction.sequence),
    previous_hash: bytes(transaction.previousHash),
    audit_hash: bytes(transaction.auditHash),
    receipt_key_id: receipt?.keyId ?? null,
    amount_bucket: refs.bucket,
    idempotency_key: refs.key,
    compensated_by: null,
    refunded: null,
    document: Buffer.from(sealed, 'hex'),
  }
}

test('D2: the document keeps the order of its members, and does not repeat members of the payload', () => {
  expect(transactionText({ transaction: COMPLETED, receipt: RECEIPT }).trimEnd()).toBe(TEXT)
  expect(transactionText({ transaction: FIRST_FORMAT, receipt: RECEIPT })).toContain(',["5a17","7","1","9"],')
  expect(transactionText({ transaction: AVAILABLE, receipt: RECEIPT })).toContain(
    ',[2,"5a17","7",null,null,"9","8","2"],',
  )
  expect(transactionText({ transaction: { ...PENDING, metadata: null }, receipt: null })).toBe(
    `1.5\n${PAYLOAD}\n["sig","key"]`,
  )
  const payload = `{"account_id":"ann","group_id":"${COMPLETED.groupId}","idempotency_key":"key-1"}`
  expect(transactionText({ transaction: { ...COMPLETED, payload }, receipt: RECEIPT })).not.toContain('null,null,null')
})

test('the group is the signed one, in upper or lower case, with any metadata', () => {
  const vault = vaultOf()
  const groupId = 'abcdef00-0000-4000-8000-00000000000f'
  const metadatas = [{ group_id: groupId }, { note: `"group_id":"${groupId}"` }, { group_id: 'another' }]
  for (const [written, metadata] of [groupId, groupId.toUpperCase()].flatMap((id) =>
    metadatas.map((m) => [id, m] as const),
  )) {
    const payload = JSON.stringify({ account_id: 'ann', group_id: written, idempotency_key: 'key-1', metadata })
    const transaction = { ...COMPLETED, groupId, metadata, payload, payloadHash: sha256Hex(payload) }
    const row = rowOf(vault, { transaction, receipt: RECEIPT })
    expect(openTransaction(row, vault).transaction).toEqual({ ...transaction, idempotencyKey: 'key-1' })
  }
})

test('the length of a document does not reveal that of metadata up to 512 bytes', () => {
  const lengthWith = (memo: string): number => {
    const metadata = { memo }
    const payload = JSON.stringify({ account_id: 'ann', idempotency_key: 'key-1', metadata, note: 'x'.repeat(300) })
    return Buffer.byteLength(transactionText({ transaction: { ...COMPLETED, metadata, payload }, receipt: RECEIPT }))
  }
  const memos = ['', 'a', 'rent', 'x'.repeat(300), 'ä'.repeat(256), 'x'.repeat(512)]
  expect(new Set(memos.map(lengthWith)).size).toBe(1)
  expect(lengthWith('x'.repeat(1_500))).toBeGreaterThan(lengthWith(''))
})

test.for([
  ['completed', COMPLETED],
  ['completed in format 1', FIRST_FORMAT],
  ['completed without reserved value', AVAILABLE],
  ['pending', PENDING],
  ['failed', FAILED],
  ['of the ledger', OWN],
  ['unusual', UNUSUAL],
  ['a refund that names the transfer', { ...COMPLETED, ...refundOf('txn_0'), refunds: 'txn_0' }],
  ['a refund that names the credit', { ...COMPLETED, ...refundOf('txn_1'), refunds: 'txn_0' }],
  ['the credit of a refund', { ...OWN, refunds: 'txn_0' }],
  ['the payer’s side of a capture', { ...OWN, holdId: 'hld_0' }],
] as const)('a written transaction is read unchanged: %s', ([, transaction]) => {
  const vault = vaultOf()
  const receipt = transaction.status === 'pending' ? null : RECEIPT
  const row = rowOf(vault, { transaction, receipt })
  expect(openTransaction(row, vault)).toEqual({ transaction, receipt, refunded: null })
  expect(openAmount(row, vault)).toBe('1.5')
})

const CHANGES: Partial<{ -readonly [Name in keyof TransactionRow]: TransactionRow[Name] }> = {
  shard_id: 8,
  txn_id: 'txn_9',
  type: 'debit',
  token_id: 'GOLD',
  received_token_id: null,
  group_id: null,
  status: 'failed',
  failure_code: 'expired',
  origin: 'ledger',
  created_at: new Date(5),
  processed_at: new Date(5),
  sequence: '4',
  previous_hash: Buffer.alloc(32),
  audit_hash: Buffer.alloc(32),
  receipt_key_id: 'another',
  amount_bucket: 1,
  idempotency_key: 'another',
}

test.for(Object.entries(CHANGES))('D1: a document does not open with another %s', ([name, value]) => {
  const vault = vaultOf()
  const row = rowOf(vault, { transaction: COMPLETED, receipt: RECEIPT })
  expect(() => openTransaction({ ...row, [name]: value }, vault)).toThrow('it does not open')
})

test('D1: a document is bound to every column except those that change later', () => {
  const row = rowOf(vaultOf(), { transaction: COMPLETED, receipt: RECEIPT })
  const others = ['account_id', 'compensated_by', 'document', 'refunded']
  expect(Object.keys(row).toSorted()).toEqual([...Object.keys(CHANGES), ...others].toSorted())
})

test('the sum of refunds is bound to its transaction', () => {
  const vault = vaultOf()
  const row = rowOf(vault, { transaction: COMPLETED, receipt: RECEIPT })
  const sealedFor = (txnId: string): Buffer =>
    Buffer.from(vault.seal(accountKeyName(row.account_id), PLACES.refunded(7, row.account_id, txnId), '2.5'), 'hex')
  expect(openTransaction({ ...row, refunded: sealedFor(row.txn_id) }, vault).refunded).toBe('2.5')
  expect(() => openTransaction({ ...row, refunded: sealedFor('txn_9') }, vault)).toThrow('it does not open')
})

test('a row whose account, key or group differs from its document is reported', () => {
  const vault = vaultOf()
  const elsewhere = { ...vault, accountRef: () => 'x', keyRef: () => 'y', groupRef: () => 'z' }
  const row = rowOf(vault, { transaction: COMPLETED, receipt: RECEIPT })
  expect(() => openTransaction(row, { ...vault, accountRef: elsewhere.accountRef })).toThrow('it is of another account')
  expect(() => openTransaction(row, { ...vault, keyRef: elsewhere.keyRef })).toThrow('it is of another idempotency key')
  expect(() => openTransaction(row, { ...vault, groupRef: elsewhere.groupRef })).toThrow('it is of another group')
})
