/** A proof of liabilities beyond a limit is refused with this limit. A warning precedes the refusal. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { estimateBalances } from '../../../infra/liabilities/liability-limit-watch.ts'
import { createLiabilitiesLedger, type LiabilitiesLedger } from './liabilities-ledger.ts'

const ACCOUNTS = 9

let ledger: LiabilitiesLedger
beforeEach(async () => {
  ledger = await createLiabilitiesLedger()
  await ledger.balances(
    Array.from({ length: ACCOUNTS }, (_, index) => [`account-${index}`, 'BASE', '1']),
    { tokenId: 'BASE', credited: String(ACCOUNTS), debited: '0' },
  )
})
afterEach(() => ledger.close())

/** A server process reports its row counts with a delay: these polls wait for it. */
const REPORTED = { interval: 100 }

/** Locks the table against reads by other sessions during `work`. */
async function whileLocked(table: 'accounts' | 'balances', work: () => Promise<void>): Promise<void> {
  const locking = await ledger.sql.reserve()
  try {
    await locking`BEGIN`
    await locking.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    await work()
  } finally {
    await locking`ROLLBACK`
    locking.release()
  }
}

test('S3: a snapshot beyond the time limit is refused with the limit and the number of balances, and warns', async () => {
  const source = ledger.open({ limits: { snapshotTimeoutMs: 500 } })
  expect(source.warnings()).toEqual([])
  await whileLocked('accounts', async () => {
    await expect(source.liabilities()).rejects.toMatchObject({
      name: 'AssertionUnavailable',
      exceeded: { kind: 'time', balances: ACCOUNTS, limitMs: 500 },
    })
  })
  expect(ledger.logged).toEqual(['warn liability_time_limit_approached', 'error liability_limit_exceeded'])
  expect(source.warnings()).toMatchObject([{ code: 'liability_time_limit' }])
})

test('the estimate of balances comes from statistics without a read of balances, also after a crash', async () => {
  await expect.poll(() => estimateBalances(ledger.sql), REPORTED).toBe(ACCOUNTS)
  await whileLocked('balances', async () => {
    expect(await estimateBalances(ledger.sql)).toBe(ACCOUNTS)
  })
  await ledger.sql`ANALYZE balances`
  // A crash resets these statistics.
  await ledger.sql`SELECT pg_stat_reset()`
  expect(await estimateBalances(ledger.sql)).toBe(ACCOUNTS)
})

test('a source near the limit of balances warns, once in the log', async () => {
  const at = (maxRows: number) => ledger.open({ limits: { maxRows }, estimateEveryMs: 20 })
  const [far, near, over] = [at(12), at(11), at(8)]
  await expect.poll(() => over.warnings().length, REPORTED).toBe(1)
  await expect.poll(() => near.warnings().length, REPORTED).toBe(1)
  expect(far.warnings()).toEqual([])
  expect(near.warnings()).toEqual([
    {
      code: 'liability_balance_limit',
      detail: 'This edge makes proofs of liabilities for at most 11 balances. The ledger has more than 80 % of that.',
    },
  ])
  expect(over.warnings()[0]?.detail).toContain('has about that many or more')
  expect(await near.liabilities()).toMatchObject({ totalLiabilities: String(ACCOUNTS) })
  await expect(over.liabilities()).rejects.toMatchObject({ exceeded: { balances: ACCOUNTS, maxBalances: 8 } })
  const warned = ledger.logged.filter((line) => line === 'warn liability_balance_limit_approached')
  expect(warned).toHaveLength(2)
})
