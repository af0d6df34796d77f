/** Rows for tests of ledger stores: what value moves write beside accounts, as the domain would, without the domain. */
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { chained } from '../chain.ts'
import { sha256Hex } from '../../../actors/audit-chain.ts'
import { accountAddress } from '../../../actors/address.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import { type AccountState, balanceOf, type Hold, holdId, type LegHold } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import type { ExchangeState } from '../../../actors/exchange/state.ts'
import type { GroupState } from '../../../actors/group/state.ts'
import type { CarriedValue, LegTerms } from '../../../actors/message.ts'
import { BASE_UNIT, parseQuantity } from '../../../actors/money.ts'
import type { TokenState } from '../../../actors/token/state.ts'
import type { OutboxWrite, WrittenEnvelope } from '../../../runtime/ports/ledger-store.ts'
import {
  type Change,
  NO_ROWS,
  nextTxnId,
  RECEIPT,
  type Rows,
  ROWS_START_MS,
  SALT,
  transactionOf,
  writeOf,
} from './ledger-rows.ts'

export const GROUP_ID = '4a1c1b1e-6a38-4a9e-8f58-0c8b1e1d2f3a'
export const TERMS_HASH = 'ab'.repeat(32)

/** The account on its next version. */
function turned(before: AccountState, changes: Partial<AccountState>): AccountState {
  return { ...before, version: before.version + 1, lastTimeMs: before.lastTimeMs + 1, ...changes }
}

/** A transfer that its receiver has not decided: the amount is reserved, room is kept for what an exchange would bring. */
export function pendTransfer(before: AccountState, idempotencyKey: string, amount = '1'): Change {
  const atMs = before.lastTimeMs + 1
  const txnId = nextTxnId(before.shardId)
  const { payload: plain, ...rest } = transactionOf(before, txnId, idempotencyKey, amount, atMs)
  const payload = JSON.stringify({ ...(JSON.parse(plain) as object), terms_hash: `sha256:${TERMS_HASH}` })
  const transaction: Transaction = {
    ...rest,
    payload,
    payloadHash: sha256Hex(payload),
    type: 'transfer',
    status: 'pending',
    groupId: GROUP_ID,
    toAccountId: 'receiver@elsewhere',
    receive: { tokenId: 'EUR', amount: '0.000000000000000001' },
    processedAtMs: null,
  }
  const hold: Hold = {
    kind: 'pending',
    transaction,
    reserves: true,
    room: { tokenId: 'EUR', amount: '0.000000000000000001' },
    reportsOn: null,
  }
  const held = balanceOf(before, BASE_UNIT)
  const reserved = { ...held, reserved: held.reserved + parseQuantity(amount), updatedAtMs: atMs }
  const kept = balanceOf(before, 'EUR')
  const room = { ...kept, room: kept.room + parseQuantity('0.000000000000000001') }
  const account = turned(before, {
    balances: Balances.of([...before.balances, [BASE_UNIT, reserved], ['EUR', room]]),
    holds: Holds.of([...before.holds, [txnId, hold]]),
  })
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [writeOf(before, account)],
      balances: [
        { accountId: before.accountId, tokenId: BASE_UNIT, balance: reserved },
        { accountId: before.accountId, tokenId: 'EUR', balance: room },
      ],
      transactions: [{ transaction, receipt: null }],
      holds: [{ accountId: before.accountId, holdId: txnId, hold }],
    },
  }
}

export interface Conclusion extends Change {
  readonly record: Transaction
}

/** The end of a transfer that `pendTransfer` began: completed with an entry, its hold gone. */
export function concludeTransfer(before: AccountState, txnId: string): Conclusion {
  const counterTxnId = nextTxnId(before.shardId)
  const atMs = before.lastTimeMs + 1
  const { transaction, entry } = chained(before, { ...pendingOf(before, txnId), counterTxnId }, atMs, SALT)
  const { sequence, auditHash: tip } = entry
  const completedCount = before.completedCount + 1
  return endOf(before, txnId, transaction, { sequence, tip, completedCount, updatedAtMs: atMs }, [
    { accountId: before.accountId, ...entry },
  ])
}

/** The end of a transfer that its receiver refused. */
export function failTransfer(before: AccountState, txnId: string): Conclusion {
  const failure = { code: 'incoming_refused', detail: 'of "them"' } as const
  return endOf(before, txnId, { status: 'failed', failure }, { failedCount: before.failedCount + 1 }, [])
}

function pendingOf(before: AccountState, txnId: string): Transaction {
  const pending = before.holds.get(txnId)
  if (pending?.kind !== 'pending') throw new Error('the account has no such transfer')
  return pending.transaction
}

function endOf(
  before: AccountState,
  txnId: string,
  end: Partial<Transaction>,
  changes: Partial<AccountState>,
  entries: Rows['entries'],
): Conclusion {
  const record = { ...pendingOf(before, txnId), processedAtMs: before.lastTimeMs + 1, ...end }
  const account = turned(before, { holds: before.holds.without(txnId), ...changes })
  return {
    account,
    record,
    rows: {
      ...NO_ROWS,
      accounts: [writeOf(before, account)],
      entries,
      transactionChanges: [{ txnId, finished: { transaction: record, receipt: RECEIPT }, compensatedBy: null }],
      removedHolds: [{ accountId: before.accountId, holdId: txnId }],
    },
  }
}

export const LEG_TERMS: LegTerms = {
  accountId: 'alice',
  type: 'debit',
  amount: '2.5',
  tokenId: BASE_UNIT,
  toAccountId: null,
  boundary: false,
}

export function legHold(changes: Partial<LegHold> = {}): LegHold {
  return {
    kind: 'leg',
    groupId: GROUP_ID,
    leg: 0,
    role: 'own',
    termsHash: TERMS_HASH,
    terms: LEG_TERMS,
    clientId: 'client-a',
    dueAtMs: 900_000,
    state: 'completed',
    txnId: 'txn_1',
    ...changes,
  }
}

/** The account with these holds in place of those of the same names. */
export function keepHolds(before: AccountState, ...holds: readonly Hold[]): Change {
  const named = holds.map((hold) => [holdId(hold), hold] as const)
  const account = turned(before, { holds: Holds.of([...before.holds, ...named]) })
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [writeOf(before, account)],
      holds: named.map(([name, hold]) => ({ accountId: before.accountId, holdId: name, hold })),
    },
  }
}

/** The account without these holds, whether they were written or not. */
export function dropHolds(before: AccountState, ...holdIds: readonly string[]): Change {
  const account = turned(before, { holds: Holds.of([...before.holds].filter(([name]) => !holdIds.includes(name))) })
  return {
    account,
    rows: {
      ...NO_ROWS,
      accounts: [writeOf(before, account)],
      removedHolds: holdIds.map((name) => ({ accountId: before.accountId, holdId: name })),
    },
  }
}

export function groupState(changes: Partial<GroupState> = {}): GroupState {
  return {
    kind: 'group',
    format: 1,
    id: GROUP_ID,
    version: 1,
    status: 'registering',
    termsHash: TERMS_HASH,
    timeoutSeconds: 900,
    legs: [
      {
        terms: LEG_TERMS,
        parts: [{ role: 'own', state: 'asked', txnId: null, metadata: null, compensationTxnId: null, failed: false }],
      },
    ],
    clientId: 'client "one"',
    registrationKey: 'key \\ {1}',
    refused: null,
    failure: null,
    compensationsAsked: {},
    compensations: [],
    partialFailures: [],
    createdAtMs: ROWS_START_MS,
    dueAtMs: ROWS_START_MS + 900_000,
    timeoutAtMs: ROWS_START_MS + 900_000,
    finishedAtMs: null,
    lastTimeMs: ROWS_START_MS,
    ...changes,
  }
}

export function exchangeState(changes: Partial<ExchangeState> = {}): ExchangeState {
  return {
    kind: 'exchange',
    status: 'waiting',
    format: 1,
    id: GROUP_ID,
    version: 1,
    offers: [
      {
        txnId: 'txn_1',
        accountId: 'alice',
        toAccountId: 'bob',
        gives: { tokenId: 'EUR', amount: '1' },
        receives: { tokenId: 'USD', amount: '1.1' },
        expiresAtMs: ROWS_START_MS + 900_000,
      },
    ],
    lastTimeMs: ROWS_START_MS,
    dueAtMs: ROWS_START_MS + 900_000,
    ...changes,
  }
}

export function tokenState(changes: Partial<TokenState> = {}): TokenState {
  return {
    kind: 'token',
    format: 1,
    id: 'eur',
    version: 1,
    status: 'preparing',
    tokenId: 'EUR',
    decimals: 2,
    issuer: 'issuer@bank',
    totalSupply: '1000000.01',
    initialSupply: '1000000.01',
    held: {},
    clientId: 'client "one"',
    registrationKey: 'key \\ {1}',
    createdAtMs: ROWS_START_MS,
    lastTimeMs: ROWS_START_MS,
    dueAtMs: null,
    ...changes,
  }
}

/** The rows that write an actor on top of a version. */
export function actorRows(state: ActorState, previousVersion = state.version - 1): Partial<Rows> {
  return { actors: [{ address: addressOfState(state), previousVersion, state }] }
}

export function endActor(state: ActorState): Partial<Rows> {
  return { actors: [{ address: addressOfState(state), previousVersion: state.version, state: null }] }
}

export function envelopeTo(accountId: string, txnId: string, ...carries: readonly CarriedValue[]): WrittenEnvelope {
  const message = { type: 'conclude_transfer', txnId, failure: null, counterTxnId: `"${txnId}" \\ back` } as const
  return { version: 1, to: accountAddress(accountId), message, carries }
}

/** The rows that send messages with these numbers to one shard. */
export function sendRows(target: number, first: number, last: number, atMs = ROWS_START_MS): Partial<Rows> {
  const outbox: OutboxWrite[] = []
  for (let number = first; number <= last; number += 1) {
    const carried = number % 2 === 0 ? [{ tokenId: BASE_UNIT, quantity: `${number}.5` }] : []
    outbox.push({ target, number, envelope: envelopeTo(`receiver-${number}`, `txn_${number}`, ...carried), atMs })
  }
  return { outbox, sent: [{ target, sent: last }] }
}
