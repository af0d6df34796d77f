/**
 * The read model: PostgreSQL itself, the tables that the commits write. Each answer is one look at one moment: what was
 * seen final before it began was committed, and it shows all of that (D8). Keys that rows are opened with, and what never
 * changes, may be looked up beside it.
 *   R1. A row that does not open, or differs from its columns, is an error: it is neither served nor treated as absent.
 * A pool of its own, in which every statement has a bound on its time and none may write.
 */
import { expectationsOf } from '../../../actors/account/legs.ts'
import type { LegHold } from '../../../actors/account/state.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import { isAccountId, shardOfTransactionId } from '../../../actors/identifiers.ts'
import { invariant } from '../../../actors/result.ts'
import { receiptPayload } from '../../../actors/account/receipt.ts'
import {
  type LedgerReads,
  ReadsUnavailable,
  type SignedReceipt,
  type TransactionView,
} from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { type AccountPlace, readAccount, readAccounts, readAuditChain } from './account-reads.ts'
import { createBalanceReads, readWholeAccount } from './balance-reads.ts'
import { fetchKeysOfAccounts } from '../rows/erased-accounts.ts'
import { createNames, namingReads } from './erased-names.ts'
import { readGroup, readOpenGroups } from './group-reads.ts'
import { readClass, readClasses, readInstance, readInstances, readNftHistory, readOwnedNfts } from './nft-reads.ts'
import { createQueryPool, type QueryPool } from '../connection/query-pool.ts'
import { readToken, readTokens } from './token-reads.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../rows/transaction-document.ts'
import { transactionViewOf } from '../rows/transaction-rows.ts'
import { readTransactionPage } from './transactions-query.ts'
import type { TransactionPlaces } from './transactions-query-filters.ts'
import { createKnownAmounts } from '../rows/known-amounts.ts'
import { takeRows } from '../connection/prepared.ts'

export interface PostgresLedgerReads extends LedgerReads {
  readonly close: () => Promise<void>
}

export interface LedgerReadsOptions {
  readonly url: string
  readonly ledgerId: string
  /** As `createShardHash` gives it. */
  readonly shardOf: (accountId: string) => number
  /** The shard that an actor's key hashes to. */
  readonly homeOf: (actor: ActorAddress) => number
  readonly vault: RowVault
  readonly poolSize?: number
}

const STATEMENT_TIMEOUT_MS = 5_000
/**
 * No statement may write. Every one of them is meant to walk an index and stop early: what statistics say of a table
 * that has just grown or was just restored must not turn that into reading and sorting all of it.
 */
export const READ_SETTINGS = {
  default_transaction_read_only: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
} as const

export function createLedgerReads(options: LedgerReadsOptions): PostgresLedgerReads {
  const { shardOf, ledgerId, vault } = options
  const pool = createQueryPool({
    url: options.url,
    name: 'ledger reads',
    readsOnly: true,
    size: options.poolSize ?? 8,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: READ_SETTINGS,
    unavailable: (message, cause) => new ReadsUnavailable(message, cause),
  })
  const placeOf = (accountId: string): AccountPlace | undefined =>
    isAccountId(accountId) ? { shardId: shardOf(accountId), accountId, ref: vault.accountRef(accountId) } : undefined
  const balancesOf = createBalanceReads(pool, vault)
  const places: TransactionPlaces = { shardOf, vault, amounts: createKnownAmounts() }

  const named = namingReads(readsOfOthers(pool, options), createNames(pool, vault))

  return {
    transaction: (txnId) => readable(() => readTransaction(pool, txnId, vault)),
    receipt: (txnId) => readable(() => readReceipt(pool, txnId, ledgerId, vault)),
    transactions: (query) =>
      readable(() => {
        invariant(query.accountId !== null || query.idempotencyKey === null, 'a key is one of an account')
        return pool.run((sql) => readTransactionPage(sql, query, places))
      }),
    account: (accountId) => readable(() => readAccount(pool, placeOf(accountId), vault)),
    accounts: (after, limit) => readable(() => readAccounts(pool, after, limit, vault)),
    expectations: (accountId) => readable(() => readExpectations(pool, placeOf(accountId), vault)),
    balances: (accountId) => readable(() => balancesOf(placeOf(accountId))),
    auditChain: (accountId, afterSequence, limit) =>
      readable(() => readAuditChain(pool, placeOf(accountId), { afterSequence, limit }, vault)),
    token: (tokenId) => readable(() => named.token(tokenId)),
    tokens: (after, limit) => readable(() => named.tokens(after, limit)),
    group: (groupId) => readable(() => named.group(groupId)),
    nftClass: (classId) => readable(() => named.nftClass(classId)),
    nftClasses: (after, limit) => readable(() => named.nftClasses(after, limit)),
    instance: (classId, instanceId) => readable(() => named.instance(classId, instanceId)),
    instances: (classId, after, limit) => readable(() => named.instances(classId, after, limit)),
    ownedNfts: (accountId, after, limit) =>
      readable(() => readOwnedNfts(pool, placeOf(accountId), after, limit, vault)),
    nftHistory: (classId, instanceId, afterNumber, limit) =>
      readable(() => named.nftHistory(classId, instanceId, afterNumber, limit)),
    openGroups: (clientId) => readOpenGroups(pool, clientId),
    anyShardOwned: () => readAnyOwned(pool),
    close: pool.close,
  }
}

/** Reads that show IDs of other accounts. */
function readsOfOthers(pool: QueryPool, { homeOf, vault }: LedgerReadsOptions): Parameters<typeof namingReads>[0] {
  return {
    token: (tokenId) => readToken(pool, tokenId, homeOf, vault),
    tokens: (after, limit) => readTokens(pool, after, limit, vault),
    group: (groupId) => readGroup(pool, groupId, homeOf, vault),
    nftClass: (classId) => readClass(pool, classId, vault),
    nftClasses: (after, limit) => readClasses(pool, after, limit, vault),
    instance: (classId, instanceId) => readInstance(pool, { classId, instanceId }, homeOf, vault),
    instances: (classId, after, limit) => readInstances(pool, classId, after, limit, vault),
    nftHistory: (classId, instanceId, afterNumber, limit) =>
      readNftHistory(pool, { classId, instanceId }, { afterNumber, limit }, homeOf, vault),
  }
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const cause = error instanceof ReadsUnavailable ? error.cause : error
    if (cause instanceof UnreadableRow) throw new ReadsUnavailable('The database holds what cannot be read.', { cause })
    throw error
  }
}

async function findTransaction(pool: QueryPool, txnId: string, vault: RowVault): Promise<TransactionRow | undefined> {
  const shardId = shardOfTransactionId(txnId)
  if (shardId === undefined) return undefined
  return pool.run(async (sql) => {
    const [row] = await takeRows(sql<TransactionRow[]>`
      SELECT ${sql(TRANSACTION_ROW_COLUMNS)} FROM all_transactions WHERE shard_id + 0 = ${shardId} AND txn_id = ${txnId}`)
    if (row === undefined) return undefined
    const erased = await fetchKeysOfAccounts(sql, [row.account_id], vault)
    return erased.has(row.account_id) ? undefined : row
  })
}

async function readTransaction(pool: QueryPool, txnId: string, vault: RowVault): Promise<TransactionView | undefined> {
  const row = await findTransaction(pool, txnId, vault)
  return row === undefined ? undefined : transactionViewOf(row, openTransaction(row, vault))
}

/** Made anew from what was sealed with the transaction. */
async function readReceipt(
  pool: QueryPool,
  txnId: string,
  ledgerId: string,
  vault: RowVault,
): Promise<SignedReceipt | undefined> {
  const row = await findTransaction(pool, txnId, vault)
  if (row === undefined) return undefined
  const { transaction, receipt } = openTransaction(row, vault)
  if (receipt === null) return undefined
  return { payload: receiptPayload(transaction, ledgerId, receipt.keyId), signature: receipt.signature }
}

async function readExpectations(
  pool: QueryPool,
  place: AccountPlace | undefined,
  vault: RowVault,
): Promise<readonly LegHold[] | undefined> {
  const account = place === undefined ? undefined : await readWholeAccount(pool, place, vault)
  return account === undefined ? undefined : expectationsOf(account)
}

async function readAnyOwned(pool: QueryPool): Promise<boolean> {
  const rows = await pool.run((sql) => sql`SELECT FROM shards WHERE session IS NOT NULL LIMIT 1`)
  return rows.length > 0
}
