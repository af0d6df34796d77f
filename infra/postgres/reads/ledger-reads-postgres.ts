/**
 * The read model: PostgreSQL itself, the tables that the commits write. Each answer is one look at one moment: what was
 * seen final before it began was committed, and it shows all of that (D8). Keys that rows are opened with, and what never
 * changes, may be looked up beside it.
 *   R1. A row that does not open, or differs from its columns, is an error: it is neither served nor treated as absent.
 * A pool of its own, in which every statement has a bound on its time and none may write.
 */
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
import { readMovements } from './balance-history.ts'
import { createBalanceReads, readExpectations } from './balance-reads.ts'
import { fetchKeysOfAccounts } from '../rows/erased-accounts.ts'
import { createNames } from './erased-names.ts'
import { readHold, readHolds } from './hold-reads.ts'
import { readGroup, readOpenGroups } from './group-reads.ts'
import { readClass, readClasses, readInstance, readInstances, readNftHistory, readOwnedNfts } from './nft-reads.ts'
import { createQueryPool } from '../connection/query-pool.ts'
import type { Reading } from './reading.ts'
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

/**
 * No statement may write. Every one of them is meant to walk an index and stop early: what statistics say of a table
 * that has just grown or was just restored must not turn that into reading and sorting all of it.
 */
export const READ_SETTINGS = {
  default_transaction_read_only: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
} as const

export function createLedgerReads({
  url,
  ledgerId,
  shardOf,
  homeOf,
  vault,
  poolSize = 8,
}: LedgerReadsOptions): PostgresLedgerReads {
  const pool = createQueryPool({
    url,
    name: 'ledger reads',
    readsOnly: true,
    size: poolSize,
    settings: READ_SETTINGS,
    unavailable: (message, cause) => new ReadsUnavailable(message, cause),
  })
  const placeOf = (accountId: string): AccountPlace | undefined =>
    isAccountId(accountId) ? { shardId: shardOf(accountId), accountId, ref: vault.accountRef(accountId) } : undefined
  const reading: Reading = { pool, ledgerId, vault, homeOf, placeOf, names: createNames(pool, vault) }
  const places: TransactionPlaces = { shardOf, vault, amounts: createKnownAmounts() }
  const balanceReads = createBalanceReads()
  const served =
    <Parameters extends readonly unknown[], Result>(
      read: (reading: Reading, ...parameters: Parameters) => Promise<Result>,
    ) =>
    (...parameters: Parameters): Promise<Result> =>
      readable(() => read(reading, ...parameters))

  return {
    transaction: served(readTransaction),
    receipt: served(readReceipt),
    transactions: served((_, query) => {
      invariant(query.accountId !== null || query.idempotencyKey === null, 'a key is one of an account')
      return pool.run((sql) => readTransactionPage(sql, query, places))
    }),
    account: served(readAccount),
    accounts: served(readAccounts),
    expectations: served(readExpectations),
    balances: served(balanceReads.balances),
    balancesAt: served(balanceReads.balancesAt),
    balanceAt: served(balanceReads.balanceAt),
    movements: served(readMovements),
    auditChain: served(readAuditChain),
    token: served(readToken),
    tokens: served(readTokens),
    group: served(readGroup),
    nftClass: served(readClass),
    nftClasses: served(readClasses),
    instance: served(readInstance),
    instances: served(readInstances),
    ownedNfts: served(readOwnedNfts),
    nftHistory: served(readNftHistory),
    hold: served(readHold),
    holds: served(readHolds),
    openGroups: served(readOpenGroups),
    anyShardOwned: served(readAnyOwned),
    close: pool.close,
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

async function findTransaction({ pool, vault }: Reading, txnId: string): Promise<TransactionRow | undefined> {
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

async function readTransaction(reading: Reading, txnId: string): Promise<TransactionView | undefined> {
  const row = await findTransaction(reading, txnId)
  return row && transactionViewOf(row, openTransaction(row, reading.vault))
}

/** Made anew from what was sealed with the transaction. */
async function readReceipt(reading: Reading, txnId: string): Promise<SignedReceipt | undefined> {
  const row = await findTransaction(reading, txnId)
  if (row === undefined) return undefined
  const { transaction, receipt } = openTransaction(row, reading.vault)
  if (receipt === null) return undefined
  return { payload: receiptPayload(transaction, reading.ledgerId, receipt.keyId), signature: receipt.signature }
}

async function readAnyOwned({ pool }: Reading): Promise<boolean> {
  const rows = await pool.run((sql) => sql`SELECT FROM shards WHERE session IS NOT NULL LIMIT 1`)
  return rows.length > 0
}
