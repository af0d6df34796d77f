/** Searches by amount and the audit have the same results with each setting of the amount index. */
import postgres from 'postgres'
import { expect, test } from 'vitest'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { createLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { AMOUNT_INDEXES } from '../../../infra/vault/row-vault.ts'
import { runSpotPass } from '../../../infra/audit/spot-pass.ts'
import { createAuditedLedger, everythingOnce, Parties } from '../../support/audited-ledger.ts'
import { aQuery } from '../../contract/ledger-reads/ledger-reads-scene.ts'
import { chained } from '../../support/chain.ts'
import { createLedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { openAccount, RECEIPT, SALT, transactionOf } from '../../support/postgres/ledger-rows.ts'
import { insertRows } from '../../support/postgres/sealed-rows.ts'

const ACCOUNTS = ['alice', 'bob'].map((accountId) => openAccount(0, accountId))
const AMOUNTS = ['0.5', '5', '50', '55', '500']

function transactionsOf({ account }: (typeof ACCOUNTS)[number]): Transaction[] {
  return AMOUNTS.map((amount, n) => {
    const txnId = `txn_${`${account.accountId}${n}`.padStart(26, '0')}`
    const credit = transactionOf(account, txnId, `key-${n}`, amount, 0)
    return chained({ sequence: n + 1, tip: account.tip }, credit, 0, SALT).transaction
  })
}

test.each(AMOUNT_INDEXES)('searches by amount find all matches with the amount index %s', async (amountIndex) => {
  const database = await createLedgerDatabase()
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  await sql`UPDATE ledger SET amount_index = ${amountIndex}`
  const vault = await vaultOf(database.url)
  const reads = createLedgerReads({
    url: database.url,
    ledgerId: 'ledger-under-test',
    shardOf: () => 0,
    homeOf: () => 0,
    vault,
  })
  try {
    const transactions = ACCOUNTS.flatMap(transactionsOf).map((transaction) => ({ transaction, receipt: RECEIPT }))
    await insertRows(sql, vault, 0, ...ACCOUNTS.map(({ rows }) => rows), { transactions })
    const [row] = await sql<{ buckets: number }[]>`
      SELECT count(DISTINCT amount_bucket)::integer AS buckets FROM transactions`
    expect(row?.buckets).toBe({ account: 8, ledger: 4, off: 1 }[amountIndex])
    const found = async (accountId: string | null, amountMin: string | null, amountMax: string | null) => {
      const page = await reads.transactions(aQuery({ accountId, amountMin, amountMax }))
      return [page.transactions.map(({ amount }) => amount).toSorted(), page.count]
    }
    expect(await found('alice', '5', '50')).toEqual([['5', '50'], { total: 2, exact: true }])
    expect(await found('bob', '51', null)).toEqual([['500', '55'], { total: 2, exact: true }])
    expect(await found(null, null, '5')).toEqual([['0.5', '0.5', '5', '5'], { total: 4, exact: true }])
    expect(await found(null, '56', '499')).toEqual([[], { total: 0, exact: true }])
  } finally {
    await reads.close()
    await sql.end()
    await database.drop()
  }
})

test.each(AMOUNT_INDEXES)(
  'an audit accepts the rows that a node writes with the amount index %s',
  async (amountIndex) => {
    const ledger = await createAuditedLedger(amountIndex)
    try {
      await everythingOnce(new Parties(ledger), 'one')
      const { url, ledgerId, vault } = ledger
      const { checked, failed } = await runSpotPass({ url, ledgerId, kind: 'compliance' }, vault)
      expect(checked.chains_verify).toBeGreaterThan(0)
      expect(Object.values(failed).filter((count) => count > 0)).toEqual([])
    } finally {
      await ledger.close()
    }
  },
)
