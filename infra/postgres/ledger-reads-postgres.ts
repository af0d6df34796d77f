/**
 * The read model: PostgreSQL itself, the tables that the commits write. Each answer is one statement, so one moment:
 * what was seen final before it began was committed, and it shows all of that (D8).
 * A pool of its own, in which every statement has a bound on its time and none may write.
 */
import type { ActorAddress } from '../../actors/address.ts'
import { type AuditEntry } from '../../actors/audit-chain.ts'
import { isAccountId, shardOfTransactionId } from '../../actors/identifiers.ts'
import type { AccountView } from '../../actors/account/outcome.ts'
import { receiptPayload } from '../../actors/account/receipt.ts'
import {
  type AccountsPage,
  type AuditChainPage,
  type LedgerReads,
  ReadsUnavailable,
  type SignedReceipt,
  type TransactionView,
} from '../../runtime/ports/ledger-reads.ts'
import { type AccountPlace, readBalances } from './balance-reads.ts'
import { readGroup, readOpenGroups } from './group-reads.ts'
import { readClass, readClasses, readInstance, readInstances, readNftHistory, readOwnedNfts } from './nft-reads.ts'
import { createQueryPool, type QueryPool } from './query-pool.ts'
import { readToken, readTokens } from './token-reads.ts'
import {
  known,
  processedOf,
  RECEIPT_COLUMNS,
  type TransactionReceiptRow,
  transactionViewOf,
  type TransactionViewRow,
  UnreadableRow,
  VIEW_COLUMNS,
} from './transaction-rows.ts'
import { readTransactionPage } from './transactions-query.ts'

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
  const { shardOf, homeOf, ledgerId } = options
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
    isAccountId(accountId) ? { shardId: shardOf(accountId), accountId } : undefined

  return {
    transaction: (txnId) => readable(() => readTransaction(pool, txnId)),
    receipt: (txnId) => readable(() => readReceipt(pool, txnId, ledgerId)),
    transactions: (query) => readable(() => pool.run((sql) => readTransactionPage(sql, query, { shardOf }))),
    account: (accountId) => readable(() => readAccount(pool, placeOf(accountId))),
    accounts: (after, limit) => readable(() => readAccounts(pool, after, limit)),
    balances: (accountId) => readable(() => readBalances(pool, placeOf(accountId))),
    auditChain: (accountId, afterSequence, limit) => readAuditChain(pool, placeOf(accountId), afterSequence, limit),
    token: (tokenId) => readable(() => readToken(pool, tokenId, homeOf)),
    tokens: (after, limit) => readable(() => readTokens(pool, after, limit)),
    group: (groupId) => readable(() => readGroup(pool, groupId, homeOf)),
    nftClass: (classId) => readable(() => readClass(pool, classId)),
    nftClasses: (after, limit) => readable(() => readClasses(pool, after, limit)),
    instance: (classId, instanceId) => readable(() => readInstance(pool, { classId, instanceId }, homeOf)),
    instances: (classId, after, limit) => readable(() => readInstances(pool, classId, after, limit)),
    ownedNfts: (accountId, after, limit) => readable(() => readOwnedNfts(pool, placeOf(accountId), after, limit)),
    nftHistory: (classId, instanceId, afterNumber, limit) =>
      readable(() => readNftHistory(pool, { classId, instanceId }, { afterNumber, limit }, homeOf)),
    openGroups: (clientId) => readOpenGroups(pool, clientId),
    shardOf,
    shardOwned: (accountId) => readOwned(pool, shardOf(accountId)),
    close: pool.close,
  }
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof UnreadableRow) throw new ReadsUnavailable('The database holds what cannot be read.', { cause })
    throw cause
  }
}

async function readTransaction(pool: QueryPool, txnId: string): Promise<TransactionView | undefined> {
  const shardId = shardOfTransactionId(txnId)
  if (shardId === undefined) return undefined
  const [row] = await pool.run(
    (sql) => sql<TransactionViewRow[]>`
      SELECT ${sql(VIEW_COLUMNS)} FROM transactions WHERE shard_id = ${shardId} AND txn_id = ${txnId}`,
  )
  return row === undefined ? undefined : transactionViewOf(row)
}

/** Made anew from the row: where the row was changed, the signature no longer fits. */
async function readReceipt(pool: QueryPool, txnId: string, ledgerId: string): Promise<SignedReceipt | undefined> {
  const shardId = shardOfTransactionId(txnId)
  if (shardId === undefined) return undefined
  const [row] = await pool.run(
    (sql) => sql<TransactionReceiptRow[]>`
      SELECT ${sql(RECEIPT_COLUMNS)} FROM transactions WHERE shard_id = ${shardId} AND txn_id = ${txnId}`,
  )
  const processed = row === undefined ? undefined : processedOf(row)
  if (processed === undefined) return undefined
  const { transaction, receipt } = processed
  return { payload: receiptPayload(transaction, ledgerId, receipt.keyId), signature: receipt.signature }
}

interface AccountRow {
  readonly shard_id: number
  readonly account_id: string
  readonly status: string
  readonly incoming: string
  readonly key_id: string | null
  readonly public_key: string | null
  readonly sequence: string
  readonly tip: Buffer
  readonly created_at: Date
  readonly updated_at: Date
}

const ACCOUNT_COLUMNS = [
  'shard_id',
  'account_id',
  'status',
  'incoming',
  'key_id',
  'public_key',
  'sequence',
  'tip',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AccountRow)[]

function accountViewOf(row: AccountRow): AccountView {
  return {
    accountId: row.account_id,
    status: known(['active', 'frozen', 'closed'] as const, row.status, 'account status'),
    incoming: known(['accept', 'refuse'] as const, row.incoming, 'policy'),
    key: row.key_id === null || row.public_key === null ? null : { keyId: row.key_id, publicKey: row.public_key },
    shardId: row.shard_id,
    sequence: Number(row.sequence),
    auditHash: row.tip.toString('hex'),
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
  }
}

async function readAccount(pool: QueryPool, place: AccountPlace | undefined): Promise<AccountView | undefined> {
  if (place === undefined) return undefined
  const [row] = await pool.run(
    (sql) => sql<AccountRow[]>`
      SELECT ${sql(ACCOUNT_COLUMNS)} FROM accounts
      WHERE shard_id = ${place.shardId} AND account_id = ${place.accountId}`,
  )
  return row === undefined ? undefined : accountViewOf(row)
}

async function readAccounts(pool: QueryPool, after: string | null, limit: number): Promise<AccountsPage> {
  const rows = await pool.run(
    (sql) => sql<((AccountRow | { readonly account_id: null }) & { readonly total: string })[]>`
      SELECT counting.total, page.*
      FROM (SELECT count(*) AS total FROM accounts) counting
      LEFT JOIN LATERAL (
        SELECT ${sql(ACCOUNT_COLUMNS)} FROM accounts WHERE account_id > ${after ?? ''}
        ORDER BY account_id LIMIT ${limit + 1}
      ) page ON true
      ORDER BY page.account_id`,
  )
  const found = rows.filter((row): row is AccountRow & { readonly total: string } => row.account_id !== null)
  const accounts = found.slice(0, limit).map(accountViewOf)
  return {
    accounts,
    next: found.length > limit ? (accounts.at(-1)?.accountId ?? null) : null,
    total: Number(rows[0]?.total ?? 0),
  }
}

interface EntryRow {
  readonly last: string
  readonly sequence: string | null
  readonly txn_id: string | null
  readonly previous_hash: Buffer
  readonly audit_hash: Buffer
  readonly payload: string
}

async function readAuditChain(
  pool: QueryPool,
  place: AccountPlace | undefined,
  afterSequence: number,
  limit: number,
): Promise<AuditChainPage | undefined> {
  if (place === undefined) return undefined
  const rows = await pool.run(
    (sql) => sql<EntryRow[]>`
      SELECT account.sequence AS last, entry.*
      FROM accounts account LEFT JOIN LATERAL (
        SELECT sequence, txn_id, previous_hash, audit_hash, payload FROM audit_entries
        WHERE shard_id = ${place.shardId} AND account_id = ${place.accountId} AND sequence > ${afterSequence}
        ORDER BY sequence LIMIT ${limit + 1}
      ) entry ON true
      WHERE account.shard_id = ${place.shardId} AND account.account_id = ${place.accountId}
      ORDER BY entry.sequence`,
  )
  const [first] = rows
  if (first === undefined) return undefined
  const found = rows.flatMap(entriesOf)
  const entries = found.slice(0, limit)
  return {
    entries,
    next: found.length > limit ? (entries.at(-1)?.sequence ?? null) : null,
    total: Number(first.last) + 1,
  }
}

function entriesOf(row: EntryRow): readonly AuditEntry[] {
  if (row.sequence === null) return []
  return [
    {
      sequence: Number(row.sequence),
      txnId: row.txn_id,
      previousHash: row.previous_hash.toString('hex'),
      auditHash: row.audit_hash.toString('hex'),
      payload: row.payload,
    },
  ]
}

async function readOwned(pool: QueryPool, shardId: number): Promise<boolean> {
  const rows = await pool.run((sql) => sql`SELECT FROM shards WHERE shard_id = ${shardId} AND session IS NOT NULL`)
  return rows.length > 0
}
