/** A4 of liability-accounts.ts: both ways to join balances with accounts yield the same liabilities. */
import { afterEach, expect, test } from 'vitest'
import { eachOwed, hasLoneBalances } from '../../../infra/liabilities/liability-accounts.ts'
import { copyRows } from '../../../infra/liabilities/copy-rows.ts'
import { createLiabilitiesLedger, type LiabilitiesLedger } from './liabilities-ledger.ts'

const ALL = { first: 0, end: 16 }
const UNITS = 10n ** 18n

let ledger: LiabilitiesLedger
afterEach(() => ledger.close())

function named(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `owner-${number}`)
}

/** Whether every account has at most one balance, the liabilities, and the number of balances and holds. */
async function owed(): Promise<readonly [areLone: boolean, ...lines: string[]]> {
  return ledger.sql.begin('isolation level repeatable read read only', async (sql) => {
    const totals = new Map<string, bigint>()
    const counts = await eachOwed(sql, ledger.vault, ALL, (_, tokenId, units) => {
      totals.set(tokenId, (totals.get(tokenId) ?? 0n) + units)
    })
    return [
      await hasLoneBalances(sql, ALL),
      ...[...totals].map(([tokenId, units]) => `${tokenId} ${units}`).sort(),
      `${counts.balances} balances`,
      `${counts.holds} holds`,
    ] as const
  })
}

test('liabilities are complete if every account has at most one balance', async () => {
  ledger = await createLiabilitiesLedger()
  await ledger.balances(named(30).map((owner) => [owner, 'BASE', '10'] as const))
  await ledger.hold('owner-1', 'GOLD', '7')
  await ledger.hold('holder', 'GOLD', '5')
  const expected = [true, `BASE ${300n * UNITS}`, `GOLD ${12n * UNITS}`, '30 balances', '2 holds']
  expect(await owed()).toEqual(expected)
})

test('liabilities are complete if an account has two balances', async () => {
  ledger = await createLiabilitiesLedger()
  await ledger.balances(named(30).map((owner) => [owner, 'BASE', '10'] as const))
  await ledger.balances([['owner-7', 'GOLD', '1']])
  await ledger.hold('owner-7', 'GOLD', '7')
  await ledger.hold('owner-7', 'SILVER', '7')
  const expected = [false, `BASE ${300n * UNITS}`, `GOLD ${8n * UNITS}`, `SILVER ${7n * UNITS}`]
  expect(await owed()).toEqual([...expected, '31 balances', '2 holds'])
})

test.for([1, 20, 60, 500])('the connection is usable after a copy of %d kB whose reader throws', async (kilobytes) => {
  ledger = await createLiabilitiesLedger()
  await ledger.sql.begin(async (sql) => {
    const read = copyRows(sql, `SELECT repeat('x', 1000) FROM generate_series(1, ${kilobytes})`, 1, () => {
      throw new Error('refused')
    })
    await expect(read).rejects.toThrow('refused')
    const [row] = await sql<{ one: number }[]>`SELECT 1 AS one`
    expect(row?.one).toBe(1)
  })
})
