/** A small ledger for tests of reads: accounts and transactions as the domain would decide them, at given times. */
import { Balances } from '../../../actors/account/balances.ts'
import { chained } from '../../support/chain.ts'
import { NO_ROWS, openAccount, type Rows, SALT, transactionOf } from '../../support/postgres/ledger-rows.ts'
import { eventRows } from '../../support/postgres/ledger-rows-nfts.ts'
import { actorRows, endActor, legHold } from '../../support/postgres/ledger-rows-values.ts'
import type { TransactionType } from '../../../actors/account/commands.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { type AccountState, type Balance, balanceOf, type Hold, holdId } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { type ActorState, addressOfState } from '../../../actors/actor-state.ts'
import { actorKey } from '../../../actors/address.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import type { ExchangeSide } from '../../../actors/message.ts'
import { parseQuantity, type Quantity, ZERO } from '../../../actors/money.ts'
import { isNft } from '../../../actors/nft-id.ts'
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { AuditEntryWrite, ReceiptWrite } from '../../../runtime/ports/ledger-store.ts'

export interface Order {
  readonly type?: TransactionType
  readonly amount?: string
  readonly atMs: number
  readonly failed?: boolean
  readonly tokenId?: string
  readonly groupId?: string
  readonly idempotencyKey?: string
  readonly metadata?: JsonObject
  readonly toAccountId?: string
  readonly fromAccountId?: string
  readonly receive?: ExchangeSide
  readonly compensates?: string
  readonly refunds?: string
  readonly holdId?: string
  /** The number of its leg while it is pending; its account then holds the leg instead of the transaction. */
  readonly leg?: number
}

/** Keeps the accounts; each call returns the rows of one commit of one shard. */
export interface Book {
  readonly account: (accountId: string) => AccountState
  /** Their present states, in the order of creation. */
  readonly transactions: readonly Transaction[]
  readonly compensatedBy: ReadonlyMap<string, string>
  /** Sums of completed refunds. */
  readonly refunded: ReadonlyMap<string, string>
  readonly open: (accountId: string, atMs: number) => ShardSeed
  /** Final at once. Whatever its type, the balance grows by the amount. */
  readonly decide: (accountId: string, order: Order) => ShardSeed
  /** Pending: the amount is reserved until the end. */
  readonly pend: (accountId: string, order: Order) => ShardSeed
  /** Ends a pending transaction: the amount is debited, or free again. */
  readonly finish: (txnId: string, end: { readonly atMs: number; readonly failed?: boolean }) => ShardSeed
  readonly compensate: (txnId: string, by: string) => ShardSeed
  readonly refund: (txnId: string, sum: string) => ShardSeed
  /** Replaces balances, and adds holds. */
  readonly keep: (
    accountId: string,
    balances: Readonly<Record<string, Partial<Balance>>>,
    ...holds: readonly Hold[]
  ) => ShardSeed
  /** Writes an actor's next version at its home, with events if it is an NFT. */
  readonly put: (state: ActorState, ...events: readonly NftEvent[]) => ShardSeed
  /** Removes the actor. */
  readonly end: (state: ActorState) => ShardSeed
}

export interface ShardSeed {
  readonly shardId: number
  readonly rows: Rows
}

/** The state of a book. */
interface Pages {
  readonly accounts: Map<string, AccountState>
  readonly transactions: Transaction[]
  readonly sign: (transaction: Transaction) => ReceiptWrite
  serial: number
}

/** `sign`: the receipt of the transaction. */
export function createBook(shardOf: (text: string) => number, sign: Pages['sign']): Book {
  const pages: Pages = { accounts: new Map(), transactions: [], sign, serial: 0 }
  const compensatedBy = new Map<string, string>()
  const refunded = new Map<string, string>()
  return {
    account: (accountId) => accountIn(pages, accountId),
    transactions: pages.transactions,
    compensatedBy,
    refunded,
    open: (accountId, atMs) => {
      const { account, rows } = openAccount(shardOf(accountId), accountId, atMs)
      pages.accounts.set(accountId, account)
      return { shardId: account.shardId, rows }
    },
    decide: (accountId, order) => decide(pages, accountId, order),
    pend: (accountId, order) => pend(pages, accountId, order),
    finish: (txnId, end) => finish(pages, txnId, end),
    compensate: (txnId, by) => {
      const { shardId } = transactionIn(pages, txnId)
      compensatedBy.set(txnId, by)
      return { shardId, rows: { ...NO_ROWS, transactionChanges: [{ txnId, finished: null, compensatedBy: by }] } }
    },
    refund: (txnId, sum) => {
      const { shardId, accountId } = transactionIn(pages, txnId)
      refunded.set(txnId, sum)
      return { shardId, rows: { ...NO_ROWS, refunds: [{ txnId, accountId, refunded: sum }] } }
    },
    keep: (accountId, balances, ...holds) => {
      const before = accountIn(pages, accountId)
      const kept = Object.entries(balances).map(
        ([tokenId, part]) => [tokenId, { ...balanceOf(before, tokenId), ...part }] as const,
      )
      const named = holds.map((hold) => [holdId(hold), hold] as const)
      const changes = {
        balances: Balances.of([...before.balances, ...kept]),
        holds: Holds.of([...before.holds, ...named]),
      }
      return turned(pages, before, changes, {
        holds: named.map(([name, hold]) => ({ accountId, holdId: name, hold })),
      })
    },
    put: (state, ...events) => ({
      shardId: shardOf(actorKey(addressOfState(state))),
      rows: { ...NO_ROWS, ...actorRows(state), ...eventRows(state.id, ...events) },
    }),
    end: (state) => ({ shardId: shardOf(actorKey(addressOfState(state))), rows: { ...NO_ROWS, ...endActor(state) } }),
  }
}

function accountIn({ accounts }: Pages, accountId: string): AccountState {
  const found = accounts.get(accountId)
  if (found === undefined) throw new Error(`${accountId} was not opened`)
  return found
}

function transactionIn({ transactions }: Pages, txnId: string): Transaction {
  const found = transactions.find((transaction) => transaction.txnId === txnId)
  if (found === undefined) throw new Error(`${txnId} was never decided`)
  return found
}

/** The account in its next version, with its accompanying rows. */
function turned(
  { accounts }: Pages,
  before: AccountState,
  changes: Partial<AccountState>,
  rows: Partial<Rows>,
): ShardSeed {
  const account = { ...before, version: before.version + 1, ...changes }
  const { accountId, shardId } = account
  accounts.set(accountId, account)
  const balances = [...(changes.balances ?? [])].map(([tokenId, balance]) => ({ accountId, tokenId, balance }))
  return {
    shardId,
    rows: { ...NO_ROWS, accounts: [{ previousVersion: before.version, account }], balances, ...rows },
  }
}

function decide(pages: Pages, accountId: string, order: Order): ShardSeed {
  const before = accountIn(pages, accountId)
  const ordered = orderedBy(before, order, (pages.serial += 1))
  const moved = { balance: parseQuantity(ordered.amount) }
  const { transaction, changes, entries } = ended(before, ordered, order.atMs, order.failed === true, moved)
  pages.transactions.push(transaction)
  return turned(pages, before, changes, {
    entries,
    transactions: [{ transaction, receipt: pages.sign(transaction) }],
  })
}

function pend(pages: Pages, accountId: string, order: Order): ShardSeed {
  const before = accountIn(pages, accountId)
  const ordered = orderedBy(before, order, (pages.serial += 1))
  const transaction: Transaction = { ...ordered, status: 'pending', processedAtMs: null, counterTxnId: null }
  pages.transactions.push(transaction)
  const hold = order.leg === undefined ? pendingHold(transaction) : holdingLeg(transaction, order.leg)
  const reserved = { reserved: parseQuantity(transaction.amount) }
  const changes = {
    balances: moving(before, transaction.tokenId, reserved, order.atMs),
    holds: before.holds.with(holdId(hold), hold),
  }
  return turned(pages, before, changes, {
    transactions: [{ transaction, receipt: null }],
    holds: [{ accountId, holdId: holdId(hold), hold }],
  })
}

function finish(
  pages: Pages,
  txnId: string,
  { atMs, failed = false }: { readonly atMs: number; readonly failed?: boolean },
): ShardSeed {
  const pending = transactionIn(pages, txnId)
  const { accountId } = pending
  const before = accountIn(pages, accountId)
  const amount = -parseQuantity(pending.amount)
  const moved = failed ? { reserved: amount } : { balance: amount, reserved: amount }
  const counterTxnId = failed ? null : `txn_opposite_${txnId}`
  const end = ended(before, { ...pending, processedAtMs: atMs, counterTxnId }, atMs, failed, moved)
  pages.transactions[pages.transactions.indexOf(pending)] = end.transaction
  const { transaction } = end
  const hold = [...before.holds.values()].find((candidate) => isOf(candidate, txnId))
  if (hold === undefined) throw new Error(`${txnId} has no hold`)
  const left = endOfHold(hold, failed)
  const others = [...before.holds].filter(([name]) => name !== holdId(hold))
  const changes = {
    ...end.changes,
    balances: moving(before, pending.tokenId, moved, atMs),
    holds: Holds.of(left === undefined ? others : [...others, [holdId(hold), left]]),
  }
  const finished = { transaction, receipt: pages.sign(transaction) }
  return turned(pages, before, changes, {
    entries: end.entries,
    transactionChanges: [{ txnId, finished, compensatedBy: null }],
    ...(left === undefined
      ? { removedHolds: [{ accountId, holdId: holdId(hold) }] }
      : { holds: [{ accountId, holdId: holdId(hold), hold: left }] }),
  })
}

interface Ended {
  readonly transaction: Transaction
  readonly changes: Partial<AccountState>
  readonly entries: readonly AuditEntryWrite[]
}

type Moved = { readonly [Part in 'balance' | 'reserved']?: Quantity }

/** A failure moves no value except a reservation, and has no audit entry. */
function ended(before: AccountState, transaction: Transaction, atMs: number, failed: boolean, moved: Moved): Ended {
  if (failed) {
    const failure = { code: 'insufficient_funds' as const, detail: 'The amount is larger than the available balance.' }
    const changes = { failedCount: before.failedCount + 1 }
    return { changes, entries: [], transaction: { ...transaction, status: 'failed', failure } }
  }
  const { accountId } = before
  const completed = chained(before, transaction, atMs, SALT)
  const { entry } = completed
  const changes = {
    completedCount: before.completedCount + 1,
    sequence: entry.sequence,
    tip: entry.auditHash,
    balances: moving(before, transaction.tokenId, moved, atMs),
    updatedAtMs: atMs,
    lastTimeMs: atMs,
  }
  return { changes, entries: [{ accountId, ...entry }], transaction: completed.transaction }
}

function moving(
  before: AccountState,
  tokenId: string,
  { balance = ZERO, reserved = ZERO }: Moved,
  atMs: number,
): Balances {
  if (isNft(tokenId)) return before.balances
  const held = balanceOf(before, tokenId)
  return before.balances.with(tokenId, {
    ...held,
    balance: held.balance + balance,
    reserved: held.reserved + reserved,
    updatedAtMs: atMs,
  })
}

function pendingHold(transaction: Transaction): Hold {
  return { kind: 'pending', transaction, reserves: true, room: null, reportsOn: null }
}

function holdingLeg(transaction: Transaction, leg: number): Hold {
  const { accountId, groupId, tokenId, txnId } = transaction
  const terms = { ...legHold().terms, accountId, type: 'transfer', amount: '1', tokenId } as const
  return legHold({ groupId: groupId ?? '', leg, terms, state: 'holding', txnId, transaction })
}

function isOf(hold: Hold, txnId: string): boolean {
  if (hold.kind === 'leg') return hold.txnId === txnId
  return hold.kind === 'pending' && hold.transaction.txnId === txnId
}

/** A leg stays held until its group has ended. */
function endOfHold(hold: Hold, failed: boolean): Hold | undefined {
  return hold.kind === 'leg' ? { ...hold, state: failed ? 'failed' : 'completed' } : undefined
}

function orderedBy(account: AccountState, order: Order, serial: number): Transaction {
  const { atMs, amount = '1', idempotencyKey = `key-${serial}`, failed: _failed, leg: _leg, ...given } = order
  const time = { timeMs: atMs, counter: serial % 65_536, shardId: account.shardId, random: serial }
  return {
    ...transactionOf(account, `txn_${encodeUlid(time)}`, idempotencyKey, amount, atMs),
    metadata: null,
    ...given,
    counterTxnId: order.toAccountId === undefined ? null : `txn_opposite_${serial}`,
    processedAtMs: atMs + 1,
  }
}
