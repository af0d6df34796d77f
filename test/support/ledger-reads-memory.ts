/**
 * LedgerReads without a database, for tests of what stands on it: arrays of the rows that batches wrote, filtered and
 * sorted whole for each answer. Rows are taken as they come: fences and versions are the store's to check.
 * Held to test/contract/ledger-reads.contract.ts.
 */
import { expectationsOf } from '../../actors/account/legs.ts'
import type { AccountState } from '../../actors/account/state.ts'
import type { GroupState } from '../../actors/group/state.ts'
import { availableOf } from '../../actors/account/state.ts'
import { viewOf } from '../../actors/account/outcome.ts'
import { receiptPayload } from '../../actors/account/receipt.ts'
import type { Transaction } from '../../actors/account/transaction.ts'
import type { ActorState } from '../../actors/actor-state.ts'
import { type ActorAddress, actorKey, groupAddress, tokenAddress } from '../../actors/address.ts'
import { type GroupView, groupViewOf } from '../../actors/group/state.ts'
import { BASE_DECIMALS, BASE_UNIT, formatQuantity, parseQuantity } from '../../actors/money.ts'
import { isNft } from '../../actors/nft-id.ts'
import { type TokenState, tokenFactsOf, tokenViewOf } from '../../actors/token/state.ts'
import {
  type AccountsPage,
  type AuditChainPage,
  type BalanceView,
  type LedgerReads,
  ReadsUnavailable,
  type SignedReceipt,
  type TokensPage,
  type TransactionCursor,
  type TransactionPage,
  type TransactionQuery,
  type TransactionView,
} from '../../runtime/ports/ledger-reads.ts'
import type {
  AuditEntryWrite,
  BalanceWrite,
  CommitBatch,
  NftEventWrite,
  ShardBatch,
  TransactionChange,
  TransactionWrite,
} from '../../runtime/ports/ledger-store.ts'
import { nftReadsOf } from './ledger-reads-memory-nfts.ts'

export interface MemoryLedgerReads extends LedgerReads {
  /** One commit: its rows are seen together, its shards are owned from now on. */
  readonly commit: (batch: CommitBatch) => void
  /** Nobody owns the shard until something commits to it again. */
  readonly disown: (shardId: number) => void
}

export interface MemoryLedgerReadsOptions {
  readonly ledgerId: string
  /** Matches are counted up to here; beyond, the count is a lower bound, unless only account and status are asked for. */
  readonly countLimit?: number
}

const COUNT_LIMIT = 10_000

interface Committed extends TransactionWrite {
  /** Number of the commit that it came with, from 1. */
  readonly commit: number
  readonly compensatedBy: string | null
}

interface Rows {
  commits: number
  readonly accounts: Map<string, AccountState>
  readonly balances: BalanceWrite[]
  readonly entries: AuditEntryWrite[]
  readonly transactions: Committed[]
  /** By `actorKey`. */
  readonly actors: Map<string, ActorState>
  readonly nftEvents: NftEventWrite[]
  readonly owned: Set<number>
}

export function createMemoryLedgerReads(options: MemoryLedgerReadsOptions): MemoryLedgerReads {
  const { ledgerId, countLimit = COUNT_LIMIT } = options
  const rows: Rows = {
    commits: 0,
    accounts: new Map(),
    balances: [],
    entries: [],
    transactions: [],
    actors: new Map(),
    nftEvents: [],
    owned: new Set(),
  }
  return {
    commit: (batch) => apply(rows, batch),
    disown: (shardId) => void rows.owned.delete(shardId),
    transaction: async (txnId) => {
      const row = transactionRow(rows, txnId)
      return row === undefined ? undefined : transactionViewOf(row)
    },
    receipt: async (txnId) => receiptOf(transactionRow(rows, txnId), ledgerId),
    transactions: async (query) => pageOf(rows, query, countLimit),
    account: async (accountId) => {
      const account = rows.accounts.get(accountId)
      return account === undefined ? undefined : viewOf(account)
    },
    accounts: async (after, limit) => accountsPage(rows, after, limit),
    expectations: async (accountId) => {
      const account = rows.accounts.get(accountId)
      return account === undefined ? undefined : expectationsOf(account)
    },
    balances: async (accountId) => (rows.accounts.has(accountId) ? balancesOf(rows, accountId) : undefined),
    auditChain: async (accountId, afterSequence, limit) => chainPage(rows, accountId, afterSequence, limit),
    token: async (tokenId) => {
      const token = registeredTokens(rows).find((candidate) => candidate.tokenId === tokenId)
      return token === undefined ? undefined : tokenViewOf(token)
    },
    tokens: async (after, limit) => tokensPage(rows, after, limit),
    group: async (groupId) => groupOf(rows, groupAddress(groupId)),
    openGroups: async (clientId) => openGroupsOf(rows, clientId),
    ...nftReadsOf(rows),
    anyShardOwned: async () => rows.owned.size > 0,
  }
}

function apply(rows: Rows, { shards }: CommitBatch): void {
  rows.commits += 1
  const commit = rows.commits
  for (const part of shards) {
    rows.owned.add(part.token.shardId)
    for (const { account } of part.accounts) rows.accounts.set(account.accountId, account)
    rows.entries.push(...part.entries)
    rows.nftEvents.push(...part.nftEvents)
    rows.transactions.push(...part.transactions.map((write) => ({ ...write, commit, compensatedBy: null })))
    for (const change of part.transactionChanges) applyChange(rows, change)
    applyBalances(rows, part)
    applyActors(rows, part)
  }
}

function applyBalances(rows: Rows, { balances }: ShardBatch): void {
  for (const write of balances) {
    const held = rows.balances.findIndex(
      ({ accountId, tokenId }) => accountId === write.accountId && tokenId === write.tokenId,
    )
    if (held === -1) rows.balances.push(write)
    else rows.balances[held] = write
  }
}

function applyActors(rows: Rows, { actors }: ShardBatch): void {
  for (const { address, state } of actors) {
    if (state === null) rows.actors.delete(actorKey(address))
    else rows.actors.set(actorKey(address), state)
  }
}

/** It stays where it was in the feed. */
function applyChange(rows: Rows, { txnId, finished, compensatedBy }: TransactionChange): void {
  const place = rows.transactions.findIndex(({ transaction }) => transaction.txnId === txnId)
  const row = rows.transactions[place]
  if (row === undefined) throw new Error(`${txnId} is changed and was never written`)
  rows.transactions[place] = {
    ...row,
    transaction: { ...row.transaction, ...finished?.transaction },
    receipt: finished?.receipt ?? row.receipt,
    compensatedBy: compensatedBy ?? row.compensatedBy,
  }
}

function transactionRow(rows: Rows, txnId: string): Committed | undefined {
  return rows.transactions.find(({ transaction }) => transaction.txnId === txnId)
}

function receiptOf(row: Committed | undefined, ledgerId: string): SignedReceipt | undefined {
  const receipt = row?.receipt ?? null
  if (row === undefined || receipt === null) return undefined
  return { payload: receiptPayload(row.transaction, ledgerId, receipt.keyId), signature: receipt.signature }
}

function transactionViewOf({ transaction, compensatedBy }: Committed): TransactionView {
  return {
    txnId: transaction.txnId,
    accountId: transaction.accountId,
    shardId: transaction.shardId,
    type: transaction.type,
    amount: transaction.amount,
    tokenId: transaction.tokenId,
    groupId: transaction.groupId,
    status: transaction.status,
    failure: transaction.failure,
    origin: transaction.origin,
    metadata: transaction.metadata,
    toAccountId: transaction.toAccountId,
    fromAccountId: transaction.fromAccountId,
    receive: transaction.receive,
    compensates: transaction.compensates,
    compensatedBy,
    createdAtMs: transaction.createdAtMs,
    processedAtMs: transaction.processedAtMs,
    auditHash: transaction.auditHash,
  }
}

function accountsPage(rows: Rows, after: string | null, limit: number): AccountsPage {
  const following = [...rows.accounts.values()]
    .filter(({ accountId }) => accountId > (after ?? ''))
    .sort((left, right) => compare(left.accountId, right.accountId))
  const accounts = following.slice(0, limit).map(viewOf)
  return {
    accounts,
    next: following.length > limit ? (accounts.at(-1)?.accountId ?? null) : null,
    count: after === null ? { total: rows.accounts.size, exact: true } : null,
  }
}

/** What was never moved only keeps room. */
function balancesOf(rows: Rows, accountId: string): readonly BalanceView[] {
  return rows.balances
    .filter((row) => row.accountId === accountId && row.balance.updatedAtMs > 0)
    .sort((left, right) => compare(left.tokenId, right.tokenId))
    .map(({ tokenId, balance }) => ({
      tokenId,
      tokenClass: 'fungible',
      balance: formatQuantity(balance.balance),
      available: formatQuantity(availableOf(balance)),
      incoming: formatQuantity(balance.incoming),
      decimals: decimalsOf(rows, tokenId),
      updatedAtMs: balance.updatedAtMs,
    }))
}

function decimalsOf(rows: Rows, tokenId: string): number {
  if (tokenId === BASE_UNIT) return BASE_DECIMALS
  const token = rows.actors.get(actorKey(tokenAddress(tokenId)))
  if (token?.kind !== 'token') throw new ReadsUnavailable('A balance is of a token that is not registered.')
  return token.decimals
}

function registeredTokens(rows: Rows): readonly TokenState[] {
  return [...rows.actors.values()].flatMap((state) =>
    state.kind === 'token' && tokenFactsOf(state) !== undefined ? [state] : [],
  )
}

function tokensPage(rows: Rows, after: string | null, limit: number): TokensPage {
  const registered = registeredTokens(rows)
  const from = after === null ? '' : tokenAddress(after).id
  const following = registered.filter(({ id }) => id > from).sort((left, right) => compare(left.id, right.id))
  const tokens = following.slice(0, limit).map(tokenViewOf)
  return {
    tokens,
    next: following.length > limit ? (tokens.at(-1)?.tokenId ?? null) : null,
    count: after === null ? { total: registered.length, exact: true } : null,
  }
}

function groupOf(rows: Rows, address: ActorAddress): GroupView | undefined {
  const state = rows.actors.get(actorKey(address))
  const registered = state?.kind === 'group' ? groupViewOf(state) : undefined
  if (registered !== undefined) return registered
  if (!rows.transactions.some(({ transaction }) => transaction.groupId === address.id)) return undefined
  return {
    groupId: address.id,
    status: 'linked',
    termsHash: null,
    legs: [],
    compensations: [],
    partialFailures: [],
    createdAtMs: null,
    dueAtMs: null,
    finishedAtMs: null,
    failure: null,
  }
}

const FINAL: readonly GroupState['status'][] = ['settled', 'reverted', 'linked']

function openGroupsOf(rows: Rows, clientId: string): number {
  return [...rows.actors.values()].filter(
    (state) => state.kind === 'group' && state.clientId === clientId && !FINAL.includes(state.status),
  ).length
}

function chainPage(rows: Rows, accountId: string, afterSequence: number, limit: number): AuditChainPage | undefined {
  const account = rows.accounts.get(accountId)
  if (account === undefined) return undefined
  const following = rows.entries
    .filter((entry) => entry.accountId === accountId && entry.sequence > afterSequence)
    .sort((left, right) => left.sequence - right.sequence)
  const entries = following.slice(0, limit).map(({ sequence, txnId, previousHash, auditHash, payload }) => ({
    sequence,
    txnId,
    previousHash,
    auditHash,
    payload,
  }))
  return {
    entries,
    next: following.length > limit ? (entries.at(-1)?.sequence ?? null) : null,
    total: account.sequence + 1,
  }
}

function pageOf(rows: Rows, query: TransactionQuery, countLimit: number): TransactionPage {
  const matching = rows.transactions.filter(({ transaction }) => matches(transaction, query))
  const following = query.order === 'asc' ? feedFrom(matching, query) : newestFirst(matching, query)
  const shown = following.slice(0, query.limit)
  const last = following.length > shown.length ? shown.at(-1) : undefined
  return {
    transactions: shown.map(transactionViewOf),
    next: query.order === 'asc' ? feedNext(rows, query, last) : listNext(last),
    ended: last === undefined,
    count: query.counted ? countOf(matching.length, query, countLimit) : null,
  }
}

function newestFirst(matching: readonly Committed[], { after }: TransactionQuery): readonly Committed[] {
  return matching
    .filter(({ transaction }) => after === null || transaction.txnId < after.txnId)
    .sort((left, right) => compare(right.transaction.txnId, left.transaction.txnId))
}

function listNext(last: Committed | undefined): TransactionCursor | null {
  return last === undefined ? null : { position: null, txnId: last.transaction.txnId }
}

/** A place in the feed: the order of commits, then of IDs. */
interface Place {
  readonly commit: number
  readonly txnId: string
}

function feedFrom(matching: readonly Committed[], query: TransactionQuery): readonly Committed[] {
  const start = feedStart(query)
  return matching
    .filter((row) => comparePlaces(placeOf(row), start) > 0)
    .sort((left, right) => comparePlaces(placeOf(left), placeOf(right)))
}

/** At the feed's end: before whatever the next commit brings. A feed never goes back. */
function feedNext(rows: Rows, query: TransactionQuery, last: Committed | undefined): TransactionCursor {
  const start = feedStart(query)
  const reached = last === undefined ? { commit: rows.commits + 1, txnId: '' } : placeOf(last)
  const { commit, txnId } = comparePlaces(reached, start) < 0 ? start : reached
  return { position: String(commit), txnId }
}

function feedStart({ after }: TransactionQuery): Place {
  const position = after?.position ?? '0'
  return { commit: /^[0-9]{1,20}$/.test(position) ? Number(position) : 0, txnId: after?.txnId ?? '' }
}

function placeOf({ commit, transaction }: Committed): Place {
  return { commit, txnId: transaction.txnId }
}

function comparePlaces(left: Place, right: Place): number {
  return left.commit === right.commit ? compare(left.txnId, right.txnId) : left.commit - right.commit
}

function countOf(matched: number, query: TransactionQuery, limit: number): TransactionPage['count'] {
  const isCounter = [
    query.createdFromMs,
    query.createdToMs,
    query.type,
    query.tokenId,
    query.tokenClass,
    query.groupId,
    query.amountMin,
    query.amountMax,
    query.idempotencyKey,
  ].every((filter) => filter === null)
  return isCounter || matched <= limit ? { total: matched, exact: true } : { total: limit, exact: false }
}

function matches(transaction: Transaction, query: TransactionQuery): boolean {
  const { createdFromMs, createdToMs, amountMin, amountMax } = query
  const quantity = parseQuantity(transaction.amount)
  return (
    isAsked(query.accountId, transaction.accountId) &&
    isAsked(query.type, transaction.type) &&
    isAsked(query.tokenId, transaction.tokenId) &&
    isAsked(query.tokenClass, isNft(transaction.tokenId) ? 'nft' : 'fungible') &&
    isAsked(query.groupId, transaction.groupId) &&
    isAsked(query.status, transaction.status) &&
    isAsked(query.idempotencyKey, transaction.idempotencyKey) &&
    (createdFromMs === null || transaction.createdAtMs >= createdFromMs) &&
    (createdToMs === null || transaction.createdAtMs < createdToMs) &&
    (amountMin === null || quantity.gte(amountMin)) &&
    (amountMax === null || quantity.lte(amountMax))
  )
}

function isAsked(asked: string | null, value: string | null): boolean {
  return asked === null || asked === value
}

/** By code units. */
function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
