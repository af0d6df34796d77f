/** How much PostgreSQL's reads look at, open and count; what every reads must show is in the contract. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { createKnownAmounts } from '../../../infra/postgres/rows/known-amounts.ts'
import { BALANCE_AT, BALANCES_AT, BEYOND, MOVEMENTS } from '../../../infra/postgres/reads/balance-history.ts'
import { ACCOUNTS } from '../../../infra/postgres/reads/account-reads.ts'
import {
  createLedgerReads,
  type PostgresLedgerReads,
  READ_SETTINGS,
} from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { readTransactionPage } from '../../../infra/postgres/reads/transactions-query.ts'
import { EXAMINED_ROWS } from '../../../infra/postgres/reads/transactions-query-walk.ts'
import { COUNT_PENDING } from '../../../infra/postgres/reads/transactions-query-count.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { UnreadableRow } from '../../../infra/vault/unreadable-row.ts'
import { chained } from '../../support/chain.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { openAccount, RECEIPT, SALT, transactionOf } from '../../support/postgres/ledger-rows.ts'
import { NFT_ID } from '../../support/postgres/ledger-rows-nfts.ts'
import { insertRows } from '../../support/postgres/sealed-rows.ts'
import { aQuery, walk } from './ledger-reads-scene.ts'

const LEDGER_ID = 'ledger-under-test'
/** Rows without the domain: all of one shard, one transaction a millisecond, every 4,000th the mint of an NFT. */
const MANY = 22_000
const RARE_EVERY = 4_000
const GROUP_ID = '00000000-0000-4000-8000-000000000000'
const RARE = openAccount(0, 'rare')
const COMMON = openAccount(0, 'common')

function idOf(n: number): string {
  return `txn_${String(n).padStart(26, '0')}`
}

/** The only one of this amount. */
const SINGLE = 15_001
const SINGLE_AMOUNT = '71.5'

/** Most amounts are from 10 to 99; every hundredth is below, every thousandth above. */
function amountOf(n: number): string {
  if (n === SINGLE) return SINGLE_AMOUNT
  if (n % 1_000 === 0) return '500'
  return n % 100 === 0 ? '5.5' : String(10 + (n % 90))
}

function transactionAt(n: number): Transaction {
  const isRare = n % RARE_EVERY === 0
  const { account } = isRare ? RARE : COMMON
  const credit: Transaction = {
    ...transactionOf(account, idOf(n), `key-${n}`, amountOf(n), 0),
    type: isRare ? 'mint' : 'credit',
    tokenId: isRare ? NFT_ID : 'BASE',
    groupId: n % 2 === 0 ? GROUP_ID : null,
  }
  return chained({ sequence: n, tip: account.tip }, credit, 0, SALT).transaction
}

async function insertMany(sql: postgres.ISql, vault: RowVault, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const transactions = numbers.map((n) => ({ transaction: transactionAt(n), receipt: RECEIPT }))
  await insertRows(sql, vault, 0, { transactions })
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}

/** Rows that the scans of a plan gave. */
function rowsScanned(node: PlanNode): number {
  const own = node['Node Type'].includes('Scan') ? node['Actual Rows'] * node['Actual Loops'] : 0
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsScanned(child), own)
}

describe('LedgerReads: PostgreSQL, bounds', () => {
  let database: LedgerDatabase
  let vault: RowVault
  let reads: PostgresLedgerReads
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    const { url } = database
    vault = await vaultOf(url)
    const ofReads = await vaultOf(url)
    reads = createLedgerReads({ url, ledgerId: LEDGER_ID, shardOf: () => 0, homeOf: () => 0, vault: ofReads })
    sql = postgres(database.url, { max: 3, onnotice: () => undefined })
    await insertRows(sql, vault, 0, RARE.rows, COMMON.rows)
    for (let from = 1; from <= MANY; from += 1_000) await insertMany(sql, vault, from, from + 999)
    await sql`ANALYZE transactions`
  })
  afterAll(async () => {
    await Promise.all([reads.close(), sql.end()])
    await database.drop()
  })
  const rare = Array.from({ length: Math.floor(MANY / RARE_EVERY) }, (_, index) => (index + 1) * RARE_EVERY)

  test('L1: a rare filter: pages examine a bounded number of rows, may be empty, and find every match once', async () => {
    for (const filter of [{ type: 'mint' }, { tokenClass: 'nft' }] as const) {
      const pages = await walk(reads, aQuery({ ...filter, limit: 10, counted: false }))
      expect(pages.flatMap((page) => page.transactions.map((view) => view.txnId))).toEqual(rare.toReversed().map(idOf))
      expect(pages).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
      expect(pages[0]?.next?.txnId).toBe(idOf(MANY - EXAMINED_ROWS + 1))
    }
    const none = await walk(reads, aQuery({ type: 'burn', counted: false }))
    expect(none).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
  })

  test('L1: the last row examined is on this page, the one behind it on the next', async () => {
    const single = aQuery({ counted: false, limit: 10, amountMin: SINGLE_AMOUNT, amountMax: SINGLE_AMOUNT })
    const from = (n: number) => reads.transactions({ ...single, after: { txnId: idOf(n), position: null } })
    const page = await from(SINGLE + EXAMINED_ROWS)
    expect(page.transactions.map((view) => view.txnId)).toEqual([idOf(SINGLE)])
    const empty = await from(SINGLE + EXAMINED_ROWS + 1)
    expect(empty.transactions).toEqual([])
    const next = await reads.transactions({ ...single, after: empty.next })
    expect(next.transactions.map((view) => view.txnId)).toEqual([idOf(SINGLE)])
  })

  test('a page that gives fewer rows than asked for has ended only where it examined all there are', async () => {
    for (const filter of [{ type: 'mint' }, { type: 'burn' }, { amountMin: '1000000000' }] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const query = aQuery({ ...filter, limit: 1_000, counted: false, order })
        const first = await reads.transactions(query)
        expect([first.ended, first.transactions.length < query.limit]).toEqual([false, true])
        const pages = await walk(reads, query)
        expect(pages.map((page) => page.ended).indexOf(true)).toBe(Math.ceil(MANY / EXAMINED_ROWS) - 1)
      }
    }
  })

  test('an account or group with few rows is found in one page, whatever the ledger holds', async () => {
    const account = aQuery({ accountId: 'rare', counted: false })
    const found = await reads.transactions(account)
    expect(found).toMatchObject({ next: null, transactions: rare.toReversed().map((n) => ({ txnId: idOf(n) })) })
    for (const filter of [{}, { type: 'mint' }] as const) {
      const feed = await reads.transactions({ ...account, ...filter, order: 'asc' })
      expect(feed.transactions.map((view) => view.txnId)).toEqual(rare.map(idOf))
    }
    const key = await reads.transactions(
      aQuery({ accountId: 'common', idempotencyKey: 'key-17', counted: false, order: 'asc' }),
    )
    expect(key.transactions.map((view) => view.txnId)).toEqual([idOf(17)])
  })

  test('an account with many rows: the feed walks, and still gives each row once', async () => {
    const pages = await walk(reads, aQuery({ accountId: 'common', limit: 1_000, counted: false, order: 'asc' }))
    const all = Array.from({ length: MANY }, (_, index) => index + 1).filter((n) => n % RARE_EVERY !== 0)
    expect(pages.flatMap((page) => page.transactions.map((view) => view.txnId))).toEqual(all.map(idOf))
    const none = await walk(reads, aQuery({ accountId: 'common', type: 'burn', counted: false, order: 'asc' }))
    expect(none).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
  })

  test('accounts are counted up to a bound', async () => {
    const before = await reads.accounts(null, 1)
    expect(before.count).toEqual({ total: 2, exact: true })
    const names = await sql<{ name: string }[]>`
      SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'accounts' ORDER BY ordinal_position`
    const values = names.map(({ name }) => (name === 'account_id' ? `'~' || n` : name))
    await sql.unsafe(`INSERT INTO accounts (${names.map(({ name }) => name).join(', ')})
      SELECT ${values.join(', ')} FROM (SELECT * FROM accounts LIMIT 1) a CROSS JOIN generate_series(1, 9999) n`)
    expect(await reads.accounts(null, 1)).toMatchObject({
      accounts: before.accounts,
      count: { total: 10_000, exact: false },
    })
    await sql`DELETE FROM accounts WHERE account_id = '~1'`
    expect((await reads.accounts(null, 1)).count).toEqual({ total: 10_000, exact: true })
    expect((await reads.accounts(before.next, 1)).count).toBeNull()
    const { enable_seqscan, enable_bitmapscan } = READ_SETTINGS
    const connection = { enable_seqscan, enable_bitmapscan, plan_cache_mode: 'force_generic_plan' }
    const asRead = postgres(database.url, { max: 1, connection })
    await asRead.unsafe(`PREPARE listed (text, integer) AS ${ACCOUNTS}`)
    const plan = await asRead.unsafe(`EXPLAIN EXECUTE listed ('', 1)`)
    await asRead.end()
    expect(plan.map((row) => String(row['QUERY PLAN'])).join('\n')).toContain('Tid Range Scan on accounts')
  })

  test.each(['force_generic_plan', 'force_custom_plan'])(
    'B1: balances at a time and movements read as many rows as they need, with %s',
    async (mode) => {
      const { enable_seqscan, enable_bitmapscan } = READ_SETTINGS
      const connection = { enable_seqscan, enable_bitmapscan, plan_cache_mode: mode }
      const asRead = postgres(database.url, { max: 1, connection })
      const upTo = `0, '${vault.accountRef('common')}', '1970-01-01', 9000`
      const scanned = async (name: string, types: string, text: string, more: string): Promise<number> => {
        await asRead.unsafe(`PREPARE ${name} (integer, text, timestamptz, bigint, ${types}) AS ${text}`)
        const [row] = await asRead.unsafe<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }[]>(
          `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name} (${upTo}, ${more})`,
        )
        if (row === undefined) throw new Error('there is no plan')
        return rowsScanned(row['QUERY PLAN'][0].Plan)
      }
      // Of each asset and of the arrival: one place in each of three indexes, and the entry.
      expect(await scanned('one_balance', 'text', BALANCE_AT, `'BASE'`)).toBeLessThan(20)
      expect(await scanned('balances', 'text, integer', BALANCES_AT, `'', 11`)).toBeLessThan(40)
      expect(await scanned('moves', 'text, timestamptz, integer', MOVEMENTS, `'BASE', '2100-01-01', 101`)).toBeLessThan(
        500,
      )
      expect(await scanned('beyond', 'text', BEYOND, `'BASE'`)).toBeLessThan(20)
      await asRead.end()
    },
  )

  test('counts beyond the bound are lower bounds and say so', async () => {
    const count = async (changes: Parameters<typeof aQuery>[0]) => (await reads.transactions(aQuery(changes))).count
    expect(await count({ type: 'credit' })).toEqual({ total: 10_000, exact: false })
    expect(await count({ type: 'mint' })).toEqual({ total: rare.length, exact: true })
    expect(await count({ tokenClass: 'nft' })).toEqual({ total: rare.length, exact: true })
    expect(await count({ tokenClass: 'fungible' })).toEqual({ total: 10_000, exact: false })
    expect(await count({ tokenClass: 'another' })).toEqual({ total: 0, exact: true })
    expect(await count({ createdFromMs: 1 })).toEqual({ total: 0, exact: true })
    const groupId = GROUP_ID
    expect(await count({ groupId })).toEqual({ total: 10_000, exact: false })
    expect(await count({ groupId, accountId: 'rare' })).toEqual({ total: rare.length, exact: true })
  })

  test('counts by amount: of an account exact while few rows need be opened, else lower bounds', async () => {
    const count = async (changes: Parameters<typeof aQuery>[0]) => (await reads.transactions(aQuery(changes))).count
    const ofCommon = (amountMin: string | null, amountMax: string | null = null) =>
      count({ accountId: 'common', amountMin, amountMax })
    const numbers = Array.from({ length: MANY }, (_, index) => index + 1).filter((n) => n % RARE_EVERY !== 0)
    const matching = (least: number, most: number, last = MANY) =>
      numbers.slice(-last).filter((n) => least <= Number(amountOf(n)) && Number(amountOf(n)) <= most).length
    expect(await ofCommon('0')).toEqual({ total: 1_000, exact: false })
    expect(await ofCommon('100')).toEqual({ total: matching(100, 500), exact: true })
    expect(await ofCommon('500', '500')).toEqual({ total: matching(500, 500), exact: true })
    expect(await ofCommon('501')).toEqual({ total: 0, exact: true })
    expect(await ofCommon('5.5', '9')).toEqual({ total: matching(5.5, 9), exact: true })
    expect(await ofCommon(null, '0.001')).toEqual({ total: 0, exact: true })
    // More rows than may be opened have amounts of this magnitude.
    expect(await ofCommon('99', '99')).toEqual({ total: matching(99, 99, EXAMINED_ROWS), exact: false })
    expect(await ofCommon('10', '90')).toEqual({ total: 1_000, exact: false })
    expect(await count({ accountId: 'rare', amountMin: '500' })).toEqual({ total: rare.length, exact: true })
    // Of all accounts any row may match, and each must be opened.
    const ofAll = Array.from({ length: EXAMINED_ROWS }, (_, index) => amountOf(MANY - index))
    expect(await count({ amountMin: '100' })).toEqual({
      total: ofAll.filter((one) => one === '500').length,
      exact: false,
    })
  })

  test('L4: by amount: pages open a bounded number of rows, may be short or empty, and find every match once', async () => {
    const numbers = Array.from({ length: MANY }, (_, index) => index + 1)
    const few = numbers.filter((n) => amountOf(n) === '99')
    for (const order of ['desc', 'asc'] as const) {
      const query = aQuery({ amountMin: '98.5', amountMax: '99', limit: 100, counted: false, order })
      const pages = await walk(reads, query)
      const found = pages.flatMap((page) => page.transactions.map((view) => view.txnId))
      expect(found).toEqual((order === 'asc' ? few : few.toReversed()).map(idOf))
      const none = await walk(reads, { ...query, amountMin: '99.5', amountMax: '99.9' })
      expect(none.flatMap((page) => page.transactions)).toEqual([])
      expect(none).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
    }
    const page = await reads.transactions(aQuery({ amountMin: '98.5', amountMax: '99', limit: 1_000, counted: false }))
    expect(page.transactions).toHaveLength(few.filter((n) => n > MANY - EXAMINED_ROWS).length)
    expect(page.next?.txnId).toBe(idOf(MANY - EXAMINED_ROWS + 1))
  })

  test('L4: a row beside another, with its ID in another shard, is never taken for it', async () => {
    let amounts = createKnownAmounts()
    const look = async (changes: Parameters<typeof aQuery>[0]) => {
      const places = { shardOf: () => 0, vault, amounts }
      const query = aQuery({ amountMin: '500', counted: false, limit: 100, ...changes })
      const { transactions } = await readTransactionPage(sql, query, places)
      return transactions.map(({ txnId, shardId }) => `${shardId} ${txnId}`)
    }
    const [id, all] = [idOf(RARE_EVERY), await look({ accountId: 'rare' })]
    await sql`
      INSERT INTO pending_transactions (shard_id, txn_id, account_id, type, token_id, group_id, origin, created_at,
                                        amount_bucket, idempotency_key, is_hold, document)
      SELECT 1, txn_id, account_id, type, token_id, group_id, origin, created_at, amount_bucket, idempotency_key, false,
             document
        FROM transactions WHERE txn_id = ${id}`
    try {
      expect(await look({ accountId: 'rare' })).toEqual(all)
      amounts = createKnownAmounts()
      expect(await look({ accountId: 'rare' })).toEqual(all)
      const after = { txnId: idOf(RARE_EVERY + 1), position: null }
      await expect(look({ after })).rejects.toThrow(UnreadableRow)
    } finally {
      await sql`DELETE FROM pending_transactions`
    }
  })

  /** Rows that are only counted. */
  function insertPending(accountId: string, prefix: string, transactions: number, isHold = true): Promise<unknown> {
    return sql`
      INSERT INTO pending_transactions (shard_id, txn_id, account_id, type, token_id, origin, created_at, amount_bucket,
                                        idempotency_key, is_hold, document)
      SELECT 0, ${prefix} || n, ${vault.accountRef(accountId)}, 'transfer', 'BASE', 'client', now(), 0, ${prefix} || n,
             ${isHold}, ''
        FROM generate_series(1, ${transactions}::integer) n`
  }

  /** Beside a page behind all rows: none of them is opened. */
  async function count(changes: Parameters<typeof aQuery>[0]) {
    return (await reads.transactions(aQuery({ after: { txnId: '', position: null }, ...changes }))).count
  }

  function insertHolds(accountId: string, prefix: string, holds: number): Promise<unknown> {
    return sql`
      INSERT INTO holds (shard_id, account_id, hold_id, document)
      SELECT 0, ${vault.accountRef(accountId)}, ${prefix} || n, '' FROM generate_series(1, ${holds}::integer) n`
  }

  async function emptied(): Promise<void> {
    await sql`DELETE FROM pending_transactions`
    await sql`DELETE FROM holds`
  }

  test('pending transactions are counted exactly for an account, and for the ledger up to a bound', async () => {
    await insertPending('many', 'many ', 4_000)
    await insertHolds('many', 'issue ', 10)
    await insertHolds('crowd', 'leg ', 100)
    for (const status of ['pending', null] as const) {
      expect(await count({ accountId: 'many', status })).toEqual({ total: 4_000, exact: true })
      expect(await count({ status })).toEqual({ total: 4_000, exact: true })
    }
    await insertPending('crowd', 'crowd ', COUNT_PENDING - 4_000)
    for (const status of ['pending', null] as const) {
      expect(await count({ status })).toEqual({ total: COUNT_PENDING, exact: true })
    }
    await insertPending('zealous', 'zealous ', 1)
    for (const status of ['pending', null] as const) {
      expect(await count({ accountId: 'many', status })).toEqual({ total: 4_000, exact: true })
      expect(await count({ status })).toEqual({ total: COUNT_PENDING, exact: false })
    }
    expect(await count({ status: 'completed' })).toEqual({ total: 0, exact: true })
    await emptied()
  })

  test('legs whose transactions are pending are counted as pending', async () => {
    await insertHolds('legs', 'group ', 100)
    await insertPending('legs', 'leg ', 10, false)
    for (const status of ['pending', null] as const) {
      expect(await count({ accountId: 'legs', status })).toEqual({ total: 10, exact: true })
      expect(await count({ status })).toEqual({ total: 10, exact: true })
    }
    await insertPending('crowd', 'crowd ', COUNT_PENDING, false)
    expect(await count({ status: 'pending' })).toMatchObject({ exact: false })
    expect(await count({ accountId: 'legs', status: 'pending' })).toEqual({ total: 10, exact: true })
    await emptied()
  })

  test('L3: commits in flight elsewhere hold the feed back, and no row appears behind a position', async () => {
    const start = (await walk(reads, aQuery({ order: 'asc', limit: 1_000, counted: false }))).at(-1)?.next ?? null
    let arrive: () => void = () => undefined
    let end: () => void = () => undefined
    const inserted = new Promise<void>((resolve) => (arrive = resolve))
    const mayEnd = new Promise<void>((resolve) => (end = resolve))
    const slow = sql.begin(async (transaction) => {
      await transaction`SELECT pg_current_xact_id()`
      arrive()
      await mayEnd
      await insertMany(transaction, vault, 50_001, 50_001)
    })
    await inserted
    await insertMany(sql, vault, 60_000, 60_001)
    const held = await reads.transactions(aQuery({ order: 'asc', after: start, counted: false }))
    expect(held.transactions).toEqual([])
    expect((await reads.transactions(aQuery({ limit: 1 }))).transactions[0]?.txnId).toBe(idOf(60_001))
    end()
    await slow
    const after = await reads.transactions(aQuery({ order: 'asc', after: held.next, counted: false }))
    expect(after.transactions.map((view) => view.txnId)).toEqual([idOf(50_001), idOf(60_000), idOf(60_001)])
  })
})
