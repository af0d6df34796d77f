/** What PostgreSQL's reads do not take from whoever can write its tables and has no keys. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLedgerReads, type PostgresLedgerReads } from '../../infra/postgres/ledger-reads-postgres.ts'
import { ReadsUnavailable } from '../../runtime/ports/ledger-reads.ts'
import { vaultOf } from '../support/ledger-database.ts'
import {
  createPostgresSubject,
  homeOf,
  LEDGER_ID,
  type PostgresSubject,
  shardOf,
} from './ledger-reads-postgres-subject.ts'
import { createBook } from './ledger-reads-rows.ts'
import { aQuery, receiptSignatureOf, SEED_START_MS } from './ledger-reads-scene.ts'

describe('LedgerReads: PostgreSQL, whoever can write its tables and has no keys', () => {
  let subject: PostgresSubject
  let sql: postgres.Sql
  beforeAll(async () => {
    subject = await createPostgresSubject()
    sql = postgres(subject.database.url, { max: 3, onnotice: () => undefined })
  })
  afterAll(async () => {
    await sql.end()
    await subject.close()
  })

  async function writeAccount(accountId: string): Promise<void> {
    const book = createBook(shardOf, receiptSignatureOf)
    const order = { atMs: SEED_START_MS + 1, amount: '7', idempotencyKey: accountId }
    await subject.write([book.open(accountId, SEED_START_MS), book.decide(accountId, order)])
    await sql`CREATE TABLE kept AS SELECT * FROM balances`
    await subject.write([book.decide(accountId, { ...order, atMs: SEED_START_MS + 2, idempotencyKey: 'second' })])
  }

  test('a balance that is put back, taken away or brought in from elsewhere is no answer', async () => {
    const { reads, vault } = subject
    await writeAccount('holder')
    const ref = vault.accountRef('holder')
    const served = await reads.balances('holder')
    expect(served).toMatchObject([{ balance: '14' }])
    await sql`CREATE TABLE newest AS SELECT * FROM balances`
    const changes = [
      'UPDATE balances SET document = kept.document, updated_at = kept.updated_at FROM kept',
      'DELETE FROM balances',
      'INSERT INTO balances SELECT (b).* FROM (SELECT jsonb_populate_record(b, \'{"token_id": "EUR"}\') AS b FROM balances b) more',
      `UPDATE balances SET document = (SELECT document FROM accounts WHERE account_id = '${ref}')`,
      "UPDATE balances SET token_id = 'EUR'",
    ]
    for (const change of changes) {
      await sql.unsafe(change)
      await expect(reads.balances('holder'), change).rejects.toThrow(ReadsUnavailable)
      await sql.unsafe('DELETE FROM balances; INSERT INTO balances SELECT * FROM newest')
    }
    expect(await reads.balances('holder')).toEqual(served)
    await sql`DROP TABLE kept, newest`
  })

  test('an account whose row says another thing than what was sealed is no answer', async () => {
    const { reads } = subject
    await writeAccount('row')
    const asked = [() => reads.account('row'), () => reads.balances('row'), () => reads.accounts(null, 10)]
    for (const change of [
      "status = 'frozen'",
      'sequence = sequence + 1',
      "tip = '\\x00'::bytea || substr(tip, 2)",
      'version = version + 1',
      'completed_count = 0',
      "document = convert_to('{}', 'UTF8')",
    ]) {
      await sql.unsafe(`CREATE TABLE accounts_kept AS SELECT * FROM accounts; UPDATE accounts SET ${change}`)
      for (const read of asked) await expect(read(), change).rejects.toThrow(ReadsUnavailable)
      await sql.unsafe(
        'DELETE FROM accounts; INSERT INTO accounts SELECT * FROM accounts_kept; DROP TABLE accounts_kept',
      )
    }
    expect(await reads.account('row')).toMatchObject({ accountId: 'row', sequence: 2 })
    await sql`DROP TABLE kept`
  })

  test('entries of a chain that were moved or changed are no answer', async () => {
    const { reads, vault } = subject
    await writeAccount('chained')
    const chain = await reads.auditChain('chained', -1, 10)
    expect(chain?.entries).toHaveLength(3)
    const ref = vault.accountRef('chained')
    await sql`
      UPDATE audit_entries SET payload = (SELECT payload FROM audit_entries WHERE account_id = ${ref} AND sequence = 1)
      WHERE account_id = ${ref} AND sequence = 2`
    await expect(reads.auditChain('chained', -1, 10)).rejects.toThrow(ReadsUnavailable)
    expect((await reads.auditChain('chained', -1, 2))?.entries).toEqual(chain?.entries.slice(0, 2))
    await sql`DROP TABLE kept`
  })

  test('what a key that is gone would open is no answer, and everything else is served', async () => {
    const { vault, database } = subject
    for (const accountId of ['lost', 'found']) {
      await writeAccount(accountId)
      await sql`DROP TABLE kept`
    }
    const { url } = database
    const asking = (of: PostgresLedgerReads, accountId: string) => [
      () => of.account(accountId),
      () => of.balances(accountId),
      () => of.auditChain(accountId, -1, 10),
      () => of.transactions(aQuery({ accountId })),
      () => of.transactions(aQuery({ accountId, amountMin: '1' })),
    ]
    await sql`DELETE FROM data_keys WHERE ref = ${vault.accountRef('lost')}`
    const fresh = createLedgerReads({ url, ledgerId: LEDGER_ID, shardOf, homeOf, vault: await vaultOf(url) })
    for (const read of asking(fresh, 'lost')) await expect(read()).rejects.toThrow(ReadsUnavailable)
    for (const read of asking(fresh, 'found')) expect(await read()).toBeDefined()
    await fresh.close()
  })
})
