/** Rows for tests of ledger stores: accounts that are opened and credited as the domain would, without the domain. */
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { chained, chainEntry } from '../chain.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import { GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { BASE_UNIT, formatQuantity, parseQuantity, ZERO } from '../../../actors/money.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import { balanceOf } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import type { AccountWrite, LookUpQuestion, ShardBatch, ShardToken } from '../../../runtime/ports/ledger-store.ts'

export const ROWS_START_MS = 1_790_000_000_123
export const RECEIPT = { keyId: 'receipt-key', signature: 'c2lnbmF0dXJl' }
export const SALT = '00112233445566778899aabbccddeeff'

export type Rows = Omit<ShardBatch, 'token'>

/** An account's next state and the rows that make it durable. */
export interface Change {
  readonly account: AccountState
  readonly rows: Rows
}

export const NO_ROWS: Rows = {
  accounts: [],
  balances: [],
  keys: [],
  entries: [],
  transactions: [],
  transactionChanges: [],
  refunds: [],
  operations: [],
  holds: [],
  removedHolds: [],
  erased: [],
  actors: [],
  nftEvents: [],
  outbox: [],
  sent: [],
  marks: [],
  boundary: [],
}

/** A shard's part of a batch: the rows of several changes of different accounts. */
export function partOf(token: ShardToken, ...changes: readonly Change[]): ShardBatch {
  return partWith(token, ...changes.map((change) => change.rows))
}

export function partWith(token: ShardToken, ...rows: readonly Partial<Rows>[]): ShardBatch {
  const all = <Name extends keyof Rows>(name: Name): Rows[Name][number][] => {
    const parts: readonly Rows[Name][] = rows.map((some) => some[name] ?? NO_ROWS[name])
    return parts.flat() as Rows[Name][number][]
  }
  return {
    token,
    accounts: all('accounts'),
    balances: all('balances'),
    keys: all('keys'),
    entries: all('entries'),
    transactions: all('transactions'),
    transactionChanges: all('transactionChanges'),
    refunds: all('refunds'),
    operations: all('operations'),
    holds: all('holds'),
    removedHolds: all('removedHolds'),
    erased: all('erased'),
    actors: all('actors'),
    nftEvents: all('nftEvents'),
    outbox: all('outbox'),
    sent: all('sent'),
    marks: all('marks'),
    boundary: all('boundary'),
  }
}

export function openAccount(shardId: number, accountId: string, atMs = ROWS_START_MS): Change {
  const key = { keyId: `key-of-${accountId}`, publicKey: `public-key-of-${accountId}` }
  const entry = chainEntry(GENESIS, 0, null, SALT, { type: 'registration', account_id: accountId })
  const account: AccountState = {
    kind: 'account',
    accountId,
    shardId,
    status: 'active',
    incoming: 'accept',
    key,
    version: 1,
    sequence: 0,
    tip: entry.auditHash,
    balances: Balances.NONE,
    holds: Holds.NONE,
    nftCount: 0,
    nftRoom: 0,
    completedCount: 0,
    failedCount: 0,
    registeredBy: 'client "one" \\ {2}',
    createdAtMs: atMs,
    updatedAtMs: atMs,
    lastTimeMs: atMs,
  }
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [{ previousVersion: 0, account }],
      keys: [{ accountId, key, fromSequence: 0, atMs }],
      entries: [{ accountId, ...entry }],
    },
  }
}

let serial = 0

export function nextTxnId(shardId: number): string {
  serial += 1
  return `txn_${encodeUlid({ timeMs: ROWS_START_MS + serial, counter: 0, shardId, random: serial })}`
}

/** A completed credit in the base unit. */
export function creditAccount(before: AccountState, idempotencyKey: string, amount = '1.5'): Change {
  const txnId = nextTxnId(before.shardId)
  const atMs = before.lastTimeMs + 1
  const credit = transactionOf(before, txnId, idempotencyKey, amount, atMs)
  const { transaction, entry } = chained(before, credit, atMs, SALT)
  const held = balanceOf(before, BASE_UNIT)
  const balance = { ...held, balance: held.balance + parseQuantity(amount), updatedAtMs: atMs }
  const account: AccountState = {
    ...before,
    version: before.version + 1,
    sequence: entry.sequence,
    tip: entry.auditHash,
    balances: Balances.of([...before.balances, [BASE_UNIT, balance]]),
    completedCount: before.completedCount + 1,
    updatedAtMs: atMs,
    lastTimeMs: atMs,
  }
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [writeOf(before, account)],
      balances: [{ accountId: before.accountId, tokenId: BASE_UNIT, balance }],
      entries: [{ accountId: before.accountId, ...entry }],
      transactions: [decided(transaction)],
    },
  }
}

/** A debit that the account could not pay: no entry, no balance. */
export function failAccount(before: AccountState, idempotencyKey: string): Change {
  const atMs = before.lastTimeMs + 1
  const account: AccountState = {
    ...before,
    version: before.version + 1,
    failedCount: before.failedCount + 1,
    lastTimeMs: atMs,
  }
  const transaction: Transaction = {
    ...transactionOf(before, nextTxnId(before.shardId), idempotencyKey, '1000', atMs),
    type: 'debit',
    status: 'failed',
    failure: { code: 'insufficient_funds', detail: 'available: "0"' },
  }
  return {
    account,
    rows: { ...NO_ROWS, accounts: [writeOf(before, account)], transactions: [decided(transaction)] },
  }
}

/** The key is replaced, and the answer to that recorded. */
export function rotateAccount(before: AccountState, idempotencyKey: string): Change {
  const atMs = before.lastTimeMs + 1
  const key = { keyId: `next-${before.key?.keyId}`, publicKey: `next-${before.key?.publicKey}` }
  const sequence = before.sequence + 1
  const entry = chainEntry(before.tip, sequence, null, SALT, { type: 'key_rotation', key_id: key.keyId })
  const account: AccountState = {
    ...before,
    key,
    version: before.version + 1,
    sequence,
    tip: entry.auditHash,
    updatedAtMs: atMs,
    lastTimeMs: atMs,
  }
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [writeOf(before, account)],
      keys: [{ accountId: before.accountId, key, fromSequence: sequence, atMs }],
      entries: [{ accountId: before.accountId, ...entry }],
      operations: [
        {
          accountId: before.accountId,
          operation: 'key_rotation',
          idempotencyKey,
          payloadHash: sha256Hex(idempotencyKey),
          keyId: before.key?.keyId ?? '',
          answer: {
            accountId: before.accountId,
            status: account.status,
            incoming: account.incoming,
            key,
            shardId: before.shardId,
            sequence,
            auditHash: entry.auditHash,
            createdAtMs: before.createdAtMs,
            updatedAtMs: atMs,
          },
          atMs,
        },
      ],
    },
  }
}

export function writeOf(before: AccountState, account: AccountState): AccountWrite {
  return { previousVersion: before.version, account }
}

function decided(transaction: Transaction): Rows['transactions'][number] {
  return { transaction, receipt: RECEIPT }
}

/** A completed credit of the base unit; its chain's fields are null. */
export function transactionOf(
  account: AccountState,
  txnId: string,
  idempotencyKey: string,
  amount: string,
  atMs: number,
): Transaction {
  const payload = JSON.stringify({ account_id: account.accountId, amount, idempotency_key: idempotencyKey })
  return {
    txnId,
    accountId: account.accountId,
    shardId: account.shardId,
    type: 'credit',
    amount,
    tokenId: BASE_UNIT,
    groupId: null,
    status: 'completed',
    failure: null,
    origin: 'client',
    metadata: { note: 'for "you", \\ and NULL' },
    toAccountId: null,
    fromAccountId: null,
    receive: null,
    compensates: null,
    refunds: null,
    counterTxnId: null,
    createdAtMs: atMs,
    processedAtMs: atMs,
    sequence: null,
    previousHash: null,
    auditHash: null,
    entry: null,
    idempotencyKey,
    payload,
    payloadHash: sha256Hex(payload),
    signature: 'signature',
    keyId: account.key?.keyId ?? '',
  }
}

/** The balance in the base unit, minimal form. */
export function baseBalanceOf(account: AccountState | undefined): string {
  return formatQuantity(account?.balances.get(BASE_UNIT)?.balance ?? ZERO)
}

/** A look-up of this and nothing else. */
export function questionOf(question: Partial<LookUpQuestion>): LookUpQuestion {
  return {
    accounts: [],
    keys: [],
    actors: [],
    transactions: [],
    credits: [],
    groupUses: [],
    tokens: [],
    existing: [],
    classes: [],
    instances: [],
    ...question,
  }
}
