/** Goal: whoever can write the ledger's row cannot have processes take plain rows for its own. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import postgres from 'postgres'
import { openLedgerSecrets } from '../../infra/main/ledger-secrets.ts'
import { readLedgerAt } from '../../infra/postgres/migrate.ts'
import { createLedgerDatabase, type LedgerDatabase, TEST_MASTER_KEYS } from '../support/ledger-database.ts'

let database: LedgerDatabase
let sql: postgres.Sql

async function made(encryption: 'on' | 'off'): Promise<void> {
  database = await createLedgerDatabase({ encryption })
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
}

/** What a process does when it starts. */
async function opened(): Promise<boolean> {
  const ledger = await readLedgerAt(database.url)
  if (ledger === undefined) throw new Error('there is no ledger')
  return openLedgerSecrets(TEST_MASTER_KEYS, ledger).vault.encrypts
}

beforeEach(() => made('on'))
afterEach(async () => {
  await sql.end()
  await database.drop()
})

test('a ledger that is encrypted opens as that', async () => {
  expect(await opened()).toBe(true)
})

test.for(['off', 'converting'])('said to be %s it opens no more', async (stage) => {
  await sql`UPDATE ledger SET encryption = ${stage}, encrypted_shards = 0`
  await expect(opened()).rejects.toThrow(/is not the one that seals/)
})

test('one that is not encrypted does not open as one that is', async () => {
  await sql.end()
  await database.drop()
  await made('off')
  expect(await opened()).toBe(false)
  await sql`UPDATE ledger SET encryption = 'on'`
  await expect(opened()).rejects.toThrow(/is not the one that seals/)
})
