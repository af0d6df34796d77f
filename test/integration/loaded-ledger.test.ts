/** An audit finds nothing wrong with a ledger that the loader of tests and benchmarks wrote. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import postgres from 'postgres'
import { createOrMigrate } from '../../infra/ledger/ledger-creation.ts'
import {
  createLedgerDatabase,
  type LedgerDatabase,
  secretsOf,
  TEST_MASTER_KEY,
  TEST_MASTER_KEYS,
} from '../support/postgres/ledger-database.ts'
import { loadLedger } from '../support/loader/ledger-load.ts'
import { walkLedger } from '../support/postgres/tampering.ts'

const SHAPE = { accounts: 12, transactions: 30, keys: 3 }

let database: LedgerDatabase
let sql: postgres.Sql
beforeEach(async () => {
  database = await createLedgerDatabase({ migrated: false })
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
})
afterEach(async () => {
  await sql.end()
  await database.drop()
})

test('an audit of a loaded ledger finds nothing, and a second load is refused', async () => {
  const { ledgerId } = await createOrMigrate(database.url, TEST_MASTER_KEYS, { shards: 16 })
  const { sums, keys } = await loadLedger({ url: database.url, masterKey: TEST_MASTER_KEY, ...SHAPE })
  expect(sums).toMatchObject({ accounts: SHAPE.accounts })
  expect(sums.completed + sums.failed).toBe(SHAPE.accounts * SHAPE.transactions)
  expect(keys).toHaveLength(SHAPE.keys)
  const [{ entries } = { entries: 0 }] = await sql<{ entries: number }[]>`
    SELECT count(*)::integer AS entries FROM chain_entries`
  expect(entries).toBe(sums.completed + SHAPE.accounts)
  const { vault } = await secretsOf(database.url)
  expect((await walkLedger(database.url, ledgerId, vault)).findings).toEqual([])
  await expect(loadLedger({ url: database.url, masterKey: TEST_MASTER_KEY, ...SHAPE })).rejects.toThrow('not empty')
})
