/** A small ledger for tests of reads: accounts and transactions as the domain would decide them, at times that are given. */
import { chainEntry } from '../support/chain.ts'
import { GENESIS, sha256Hex } from '../../actors/audit-chain.ts'
import type { TransactionType } from '../../actors/account/commands.ts'
import type { Transaction } from '../../actors/account/outcome.ts'
import { type AccountState, balanceOf } from '../../actors/account/state.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { encodeUlid } from '../../actors/identifiers.ts'
import { BASE_UNIT, parseQuantity, ZERO } from '../../actors/money.ts'
import type { AccountWrite, AuditEntryWrite, ShardBatch, TransactionWrite } from '../../runtime/ports/ledger-store.ts'

export type SeedRows = Omit<ShardBatch, 'token'>

const SALT = '00112233445566778899aabbccddeeff'

export interface Order {
  readonly type?: TransactionType
  readonly amount?: string
  readonly atMs: number
  readonly failed?: boolean
  readonly tokenId?: string
  readonly groupId?: string
  readonly idempotencyKey?: string
  readonly metadata?: JsonObject
}

/** Keeps the accounts; each call gives the rows of one commit of one shard. */
export interface Book {
  readonly account: (accountId: string) => AccountState
  readonly transactions: readonly Transaction[]
  readonly open: (accountId: string, atMs: number) => ShardSeed
  readonly decide: (accountId: string, order: Order) => ShardSeed
}

export interface ShardSeed {
  readonly shardId: number
  readonly rows: SeedRows
}

/** `sign`: the receipt's signature over the transaction. */
export function createBook(
  shardOf: (accountId: string) => number,
  sign: (transaction: Transaction) => Pick<TransactionWrite, 'receiptKeyId' | 'receiptSignature'>,
): Book {
  const accounts = new Map<string, AccountState>()
  const transactions: Transaction[] = []
  let serial = 0

  function account(accountId: string): AccountState {
    const found = accounts.get(accountId)
    if (found === undefined) throw new Error(`${accountId} was not opened`)
    return found
  }

  return {
    account,
    transactions,
    open: (accountId, atMs) => {
      const key = { keyId: `key-${accountId}`, publicKey: `point-${accountId}` }
      const entry = chainEntry(GENESIS, 0, null, SALT, { kind: 'registration', account_id: accountId })
      const opened = newAccount(accountId, shardOf(accountId), key, entry.auditHash, atMs)
      accounts.set(accountId, opened)
      const write: AccountWrite = { previousVersion: 0, account: opened }
      const keys = [{ accountId, key, fromSequence: 0, atMs }]
      return seedOf(opened, { accounts: [write], keys, entries: [{ accountId, ...entry }] })
    },
    decide: (accountId, order) => {
      serial += 1
      const before = account(accountId)
      const { transaction, after, entries } = decide(before, order, serial)
      accounts.set(accountId, after)
      transactions.push(transaction)
      return seedOf(after, {
        accounts: [{ previousVersion: before.version, account: after }],
        balances:
          entries.length === 0
            ? []
            : [...after.balances].map(([tokenId, balance]) => ({ accountId, tokenId, balance })),
        entries,
        transactions: [{ transaction, ...sign(transaction) }],
      })
    },
  }
}

function seedOf(account: AccountState, rows: Partial<SeedRows>): ShardSeed {
  const none: SeedRows = { accounts: [], balances: [], keys: [], entries: [], transactions: [], operations: [] }
  return { shardId: account.shardId, rows: { ...none, ...rows } }
}

function newAccount(
  accountId: string,
  shardId: number,
  key: AccountState['key'],
  tip: string,
  atMs: number,
): AccountState {
  return {
    accountId,
    shardId,
    status: 'active',
    incoming: 'accept',
    key,
    version: 1,
    sequence: 0,
    tip,
    balances: new Map(),
    completedCount: 0,
    failedCount: 0,
    registeredBy: 'client',
    createdAtMs: atMs,
    updatedAtMs: atMs,
    lastTimeMs: atMs,
  }
}

interface Decided {
  readonly transaction: Transaction
  readonly after: AccountState
  readonly entries: readonly AuditEntryWrite[]
}

function decide(before: AccountState, order: Order, serial: number): Decided {
  const { accountId } = before
  const transaction = transactionOf(before, order, serial)
  if (order.failed === true) {
    const after = { ...before, version: before.version + 1, failedCount: before.failedCount + 1 }
    const failure = { code: 'insufficient_funds' as const, detail: 'The amount is larger than the available balance.' }
    return { after, entries: [], transaction: { ...transaction, status: 'failed', failure } }
  }
  const sequence = before.sequence + 1
  const entry = chainEntry(before.tip, sequence, transaction.txnId, SALT, { kind: 'transaction' })
  const held = balanceOf(before, transaction.tokenId)
  const balance = { balance: held.balance.plus(parseQuantity(transaction.amount)), reserved: ZERO, incoming: ZERO }
  const after: AccountState = {
    ...before,
    version: before.version + 1,
    completedCount: before.completedCount + 1,
    sequence,
    tip: entry.auditHash,
    balances: new Map(before.balances).set(transaction.tokenId, { ...balance, updatedAtMs: order.atMs }),
    updatedAtMs: order.atMs,
    lastTimeMs: order.atMs,
  }
  const chain = { sequence, previousHash: entry.previousHash, auditHash: entry.auditHash }
  return { after, entries: [{ accountId, ...entry }], transaction: { ...transaction, ...chain } }
}

function transactionOf(account: AccountState, order: Order, serial: number): Transaction {
  const payload = `{"serial":${serial}}`
  return {
    txnId: `txn_${encodeUlid({ timeMs: order.atMs, counter: serial % 65_536, shardId: account.shardId, random: serial })}`,
    accountId: account.accountId,
    shardId: account.shardId,
    type: order.type ?? 'credit',
    amount: order.amount ?? '1',
    tokenId: order.tokenId ?? BASE_UNIT,
    groupId: order.groupId ?? null,
    status: 'completed',
    failure: null,
    origin: 'client',
    metadata: order.metadata ?? null,
    createdAtMs: order.atMs,
    processedAtMs: order.atMs + 1,
    sequence: null,
    previousHash: null,
    auditHash: null,
    idempotencyKey: order.idempotencyKey ?? `key-${serial}`,
    payload,
    payloadHash: sha256Hex(payload),
    signature: 'signature',
    keyId: account.key?.keyId ?? '',
  }
}
