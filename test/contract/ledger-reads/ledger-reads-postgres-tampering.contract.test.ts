/** Changes of PostgreSQL's tables without keys, which the reads must detect. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLedgerReads, type PostgresLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'
import { vaultOf } from '../../support/postgres/ledger-database.ts'
import {
  createPostgresSubject,
  homeOf,
  LEDGER_ID,
  type PostgresSubject,
  shardOf,
} from './ledger-reads-postgres-subject.ts'
import { createBook } from './ledger-reads-rows.ts'
import { aQuery, receiptSignatureOf, SEED_START_MS } from './ledger-reads-scene.ts'

describe('LedgerReads: PostgreSQL, tables changed without keys', () => {
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

  test('a balance that is reverted, deleted or copied from elsewhere is an error', async () => {
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
      `UPDATE balances SET document = (SELECT lasting FROM accounts WHERE account_id = '${ref}')`,
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

  test('an account whose row differs from its sealed content is an error', async () => {
    const { reads } = subject
    await writeAccount('row')
    const asked = [() => reads.account('row'), () => reads.balances('row'), () => reads.accounts(null, 10)]
    for (const change of [
      "status = 'frozen'",
      'sequence = sequence + 1',
      "tip = '\\x00'::bytea || substr(tip, 2)",
      'version = version + 1',
      'completed_count = 0',
      'failed_count = failed_count + 1',
      'nft_count = nft_count + 1',
      'nft_room = nft_room + 1',
      "created_at = created_at + '1 ms'",
      "updated_at = updated_at + '1 ms'",
      "last_time = last_time + '1 ms'",
      'lasting_version = lasting_version + 1',
      "lasting = convert_to('{}', 'UTF8')",
      "digest = convert_to('{}', 'UTF8')",
      'digest = lasting',
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

  test('entries of a chain that were moved or changed are an error', async () => {
    const { reads, vault } = subject
    await writeAccount('chained')
    const chain = await reads.auditChain('chained', -1, 10)
    expect(chain?.entries).toHaveLength(3)
    const of = (sequence: number): string => `account_id = '${vault.accountRef('chained')}' AND sequence = ${sequence}`
    const first = chain?.entries.slice(0, 2)
    const changes = [
      `UPDATE transactions SET document = (SELECT document FROM transactions WHERE ${of(1)}) WHERE ${of(2)}`,
      `UPDATE transactions SET sequence = 3 WHERE ${of(2)}`,
      `UPDATE transactions SET previous_hash = audit_hash WHERE ${of(2)}`,
      `UPDATE transactions SET audit_hash = previous_hash WHERE ${of(2)}`,
      `UPDATE transactions SET processed_at = processed_at + '1 ms' WHERE ${of(2)}`,
      `INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload)
       SELECT shard_id, account_id, 3, previous_hash, audit_hash, payload FROM audit_entries WHERE ${of(0)}`,
    ]
    await sql`CREATE TABLE transactions_kept AS SELECT * FROM transactions`
    for (const change of changes) {
      const { count } = await sql.unsafe(change)
      expect([change, count]).toEqual([change, 1])
      await expect(reads.auditChain('chained', -1, 10), change).rejects.toThrow(ReadsUnavailable)
      expect((await reads.auditChain('chained', -1, 2))?.entries).toEqual(first)
      await sql.unsafe(`DELETE FROM transactions; INSERT INTO transactions SELECT * FROM transactions_kept;
                        DELETE FROM audit_entries WHERE ${of(3)}`)
    }
    expect(await reads.auditChain('chained', -1, 10)).toEqual(chain)
    await sql`DROP TABLE kept, transactions_kept`
  })

  test('rows of a deleted key are an error, and all others are served', async () => {
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
