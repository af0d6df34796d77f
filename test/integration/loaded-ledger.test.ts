/** Audits and `ledger verify` find nothing wrong with a ledger that the loader of tests and benchmarks wrote. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import postgres from 'postgres'
import { main } from '../../infra/main/ledger.ts'
import { createOrMigrate } from '../../infra/ledger/ledger-creation.ts'
import {
  createLedgerDatabase,
  type LedgerDatabase,
  secretsOf,
  TEST_MASTER_KEY,
  TEST_MASTER_KEY_TEXT,
  TEST_MASTER_KEYS,
} from '../support/postgres/ledger-database.ts'
import { loadLedger } from '../support/loader/ledger-load.ts'
import { walkLedger } from '../support/postgres/tampering.ts'
import { silentIo } from '../unit/cli/silent-io.ts'

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

test('ledger verify finds each entry of a loaded ledger in its log', async () => {
  await createOrMigrate(database.url, TEST_MASTER_KEYS, { shards: 16 })
  const { sums } = await loadLedger({ url: database.url, masterKey: TEST_MASTER_KEY, ...SHAPE })
  const directory = mkdtempSync(join(tmpdir(), 'ledger-loaded-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  let text = ''
  const add = (more: string): void => void (text += more)
  const env = { LEDGER_DATABASE_URL: database.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT }
  const io = silentIo({ env, cwd: directory, out: add, err: add })
  expect([await main(['checkpoint', 'checkpoint'], io), text]).toEqual([0, expect.any(String)])
  expect([await main(['verify', '--checkpoint', 'checkpoint'], io), text]).toEqual([0, expect.any(String)])
  // The statement of the checkpoint is newer.
  const entries = sums.completed + SHAPE.accounts
  expect(text).toContain(`ok: log of ${entries} entries, as the rows have them; 1 rows are newer`)
  const [published] = await sql<{ size: string }[]>`SELECT size FROM log_published`
  expect(published).toEqual({ size: String(entries) })
})
