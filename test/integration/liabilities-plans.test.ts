/** Goal: A4 of liability-accounts.ts: what accounts are owed is the same whatever plan PostgreSQL joins their rows by. */
import type postgres from 'postgres'
import { afterEach, describe, expect, test } from 'vitest'
import { comingOf, eachOwed, RowsApart } from '../../infra/assertions/liability-accounts.ts'
import { readRange } from '../../infra/assertions/liability-range.ts'
import { createLiabilitiesLedger, type LiabilitiesLedger } from './liabilities-ledger.ts'

const ALL = { first: 0, end: 16 }
const TOKENS = ['BASE', 'GOLD']
const OWNERS = ['alice', 'bob', 'carol']

let ledger: LiabilitiesLedger
afterEach(() => ledger.close())

/** Two balances an account, none beside the other, and something that is held. */
async function create(encryption: 'on' | 'off'): Promise<void> {
  ledger = await createLiabilitiesLedger(encryption)
  for (const token of TOKENS) for (const owner of OWNERS) await ledger.balance(owner, token, '10')
  await ledger.hold('alice', 'GOLD', '7')
  await ledger.hold('alice', 'SILVER', '7')
}

function within<T>(plan: Plan, work: (sql: postgres.TransactionSql) => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined
  return ledger.sql
    .begin(async (sql) => {
      await plan(sql)
      result = work(sql)
      await result
      // The planner's numbers are put back.
      throw new PlanOver()
    })
    .catch((error: unknown) => {
      if (!(error instanceof PlanOver) || result === undefined) throw error
      return result
    })
}

class PlanOver extends Error {}

type Plan = (sql: postgres.TransactionSql) => Promise<unknown>

/** Of so few accounts that balances are walked, and accounts looked up in a table in memory. */
const byBalances: Plan = async (sql) => {
  for (const way of ['nestloop', 'mergejoin', 'indexscan', 'bitmapscan'])
    await sql.unsafe(`SET LOCAL enable_${way} = off`)
  await sql`UPDATE pg_class SET reltuples = 1, relpages = 1000 WHERE relname IN ('accounts', 'data_keys')`
  await sql`UPDATE pg_class SET reltuples = 1000000, relpages = 1 WHERE relname = 'balances'`
}

const byAccounts: Plan = (sql) => sql`SET LOCAL enable_mergejoin = off`

async function owedIn(sql: postgres.TransactionSql, capacity = 8): Promise<readonly string[]> {
  const task = { shards: ALL, moving: new Map(), capacity, sharesEach: 1, seed: new Uint8Array(32) }
  const { book, counts } = await readRange(sql, ledger.vault, task)
  const totals = book.tokens.map((token, number) => `${token} ${book.totals[number]}`)
  return [...totals.toSorted(), `${counts.balances} balances`, `${counts.holds} holds`]
}

async function readJoined(sql: postgres.TransactionSql): Promise<unknown> {
  const coming = await comingOf(sql, ALL)
  expect(coming.kind).toBe('joined')
  return eachOwed(sql, ledger.vault, ALL, coming, () => undefined)
}

describe.for(['on', 'off'] as const)('with encryption %s', (encryption) => {
  test('rows that come apart are noticed', async () => {
    await create(encryption)
    await expect(within(byBalances, readJoined)).rejects.toThrow(RowsApart)
    expect(await within(byAccounts, readJoined)).toMatchObject({ balances: 6, holds: 2 })
  })

  test('where accounts have many balances they are gathered at once', async () => {
    await create(encryption)
    for (const owner of OWNERS) for (const token of ['IRON', 'LEAD', 'ZINC']) await ledger.balance(owner, token, '1')
    expect(await within(byAccounts, (sql) => comingOf(sql, ALL))).toEqual({ kind: 'gathered' })
    expect(await within(byBalances, (sql) => owedIn(sql, 17))).toEqual(
      await within(byAccounts, (sql) => owedIn(sql, 17)),
    )
  })

  test('each balance and hold counts once by either plan', async () => {
    await create(encryption)
    const units = 10n ** 18n
    const owed = [`BASE ${30n * units}`, `GOLD ${37n * units}`, `SILVER ${7n * units}`, '6 balances', '2 holds']
    expect(await within(byAccounts, (sql) => owedIn(sql))).toEqual(owed)
    expect(await within(byBalances, (sql) => owedIn(sql))).toEqual(owed)
  })
})
