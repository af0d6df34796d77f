/** A list of a group with many accounts has every transaction once, and a page reads a bounded number of rows. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../../actors/account/transaction.ts'
import { createKnownAmounts } from '../../infra/postgres/rows/known-amounts.ts'
import { createLedgerReads, type PostgresLedgerReads } from '../../infra/postgres/reads/ledger-reads-postgres.ts'
import { readTransactionPage } from '../../infra/postgres/reads/transactions-query.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { aQuery, walk } from '../contract/ledger-reads/ledger-reads-scene.ts'
import { chained } from '../support/chain.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../support/postgres/ledger-database.ts'
import { openAccount, RECEIPT, SALT, transactionOf } from '../support/postgres/ledger-rows.ts'
import { insertRows } from '../support/postgres/sealed-rows.ts'

const GROUP_ID = '00000000-0000-4000-8000-00000000000a'
const ACCOUNTS = 60
/** The first account has more transactions than a page reads of one account. */
const OF_FIRST = 1_500
const OF_OTHERS = 40
const RARE_EVERY = 100

const accounts = Array.from({ length: ACCOUNTS }, (_, number) => openAccount(0, `member-${number}`))
const owners = [
  ...Array.from({ length: OF_FIRST }, () => 0),
  ...Array.from({ length: OF_OTHERS * (ACCOUNTS - 1) }, (_, n) => 1 + (n % (ACCOUNTS - 1))),
]
// Transactions of the first account alternate with those of the others.
const order = owners
  .map((owner, n) => ({ owner, at: owner === 0 ? n * 2.5 : (n - OF_FIRST) * 1.5 }))
  .toSorted((a, b) => a.at - b.at)

function idOf(n: number): string {
  return `txn_${String(n + 1).padStart(26, '0')}`
}

function transactionAt(n: number): Transaction {
  const owner = accounts[order[n]?.owner ?? 0]
  if (owner === undefined) throw new RangeError(`transaction ${n} has no owner`)
  const { account } = owner
  const credit: Transaction = {
    ...transactionOf(account, idOf(n), `key-${n}`, n % RARE_EVERY === 0 ? '7' : '20', 0),
    groupId: GROUP_ID,
  }
  return chained({ sequence: n + 1, tip: account.tip }, credit, 0, SALT).transaction
}

let database: LedgerDatabase
let vault: RowVault
let reads: PostgresLedgerReads
let sql: postgres.Sql
const all = order.map((_, n) => idOf(n))

beforeAll(async () => {
  database = await createLedgerDatabase()
  vault = await vaultOf(database.url)
  reads = createLedgerReads({
    url: database.url,
    ledgerId: 'ledger-under-test',
    shardOf: () => 0,
    homeOf: () => 0,
    vault,
  })
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  await insertRows(sql, vault, 0, ...accounts.map(({ rows }) => rows))
  for (let from = 0; from < order.length; from += 500) {
    const numbers = order.slice(from, from + 500).map((_, index) => from + index)
    const transactions = numbers.map((n) => ({ transaction: transactionAt(n), receipt: RECEIPT }))
    await insertRows(sql, vault, 0, { transactions })
  }
  await sql`VACUUM ANALYZE transactions`
})
afterAll(async () => {
  await Promise.all([reads.close(), sql.end()])
  await database.drop()
})

const idsOf = (pages: Awaited<ReturnType<typeof walk>>) =>
  pages.flatMap((page) => page.transactions.map(({ txnId }) => txnId))

test.each([7, 250])('pages of %i have every transaction once, in descending and ascending order', async (limit) => {
  const query = aQuery({ groupId: GROUP_ID, counted: false, limit })
  expect(idsOf(await walk(reads, query))).toEqual(all.toReversed())
  expect(idsOf(await walk(reads, { ...query, order: 'asc' })).toSorted()).toEqual(all)
})

test('a filter with few matches finds each once', async () => {
  const rare = all.filter((_, n) => n % RARE_EVERY === 0)
  const byAmount = aQuery({ groupId: GROUP_ID, amountMax: '9', counted: false, limit: 10 })
  expect(idsOf(await walk(reads, byAmount))).toEqual(rare.toReversed())
  const none = aQuery({ groupId: GROUP_ID, type: 'burn', counted: false, limit: 10 })
  expect(idsOf(await walk(reads, none))).toEqual([])
  const ofOne = aQuery({ groupId: GROUP_ID, accountId: 'member-0', counted: false, limit: 100 })
  expect(idsOf(await walk(reads, ofOne))).toEqual(all.filter((_, n) => order[n]?.owner === 0).toReversed())
})

/** Counts rows and index entries that a page reads. `sql` has one connection, which flushes its counts before each look. */
async function rowsReadFor(changes: Parameters<typeof aQuery>[0]): Promise<number> {
  const returned = async (): Promise<number> => {
    await sql`SELECT pg_stat_force_next_flush()`
    const [row] = await sql<{ rows: string }[]>`
      SELECT sum(pg_stat_get_tuples_returned(oid)) AS rows FROM pg_class
       WHERE oid = 'transactions'::regclass
          OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'transactions'::regclass)`
    return Number(row?.rows)
  }
  const before = await returned()
  const places = { shardOf: () => 0, vault, amounts: createKnownAmounts() }
  await readTransactionPage(sql, aQuery({ groupId: GROUP_ID, ...changes }), places)
  return (await returned()) - before
}

test('a page reads at most about a page of rows of each account', async () => {
  const limit = 10
  expect(await rowsReadFor({ limit, counted: false })).toBeLessThan(2 * ACCOUNTS * (limit + 1))
  const burns = await rowsReadFor({ limit, counted: false, type: 'burn' })
  expect(burns).toBeLessThan(2 * (OF_OTHERS * ACCOUNTS + 128) + ACCOUNTS)
})

test('a count within dates reads no rows outside them', async () => {
  const dates = { createdFromMs: 8_000_000_000_000, createdToMs: 8_000_000_000_001 }
  expect(await rowsReadFor({ limit: 10, counted: true, ...dates })).toBeLessThan(10)
})
