/** An attacker who can write rows but has no keys cannot make an account look erased, or restore an erased one (E1). */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createPostgresSubject,
  type PostgresSubject,
  shardOf,
} from '../contract/ledger-reads/ledger-reads-postgres-subject.ts'
import { createBook } from '../contract/ledger-reads/ledger-reads-rows.ts'
import { aQuery, receiptSignatureOf, SEED_START_MS } from '../contract/ledger-reads/ledger-reads-scene.ts'
import { ReadsUnavailable } from '../../runtime/ports/ledger-reads.ts'
import { createPostgresHarness, type PostgresHarness } from '../support/postgres/ledger-store-postgres.ts'
import { creditAccount, openAccount, partOf, questionOf } from '../support/postgres/ledger-rows.ts'
import { debitAll, eraseAccount } from '../support/postgres/ledger-rows-erasure.ts'
import { only, own } from './postgres/store-steps.ts'

describe('an account with only its status column set to erased', () => {
  let subject: PostgresSubject
  let sql: postgres.Sql
  beforeAll(async () => {
    subject = await createPostgresSubject()
    sql = postgres(subject.database.url, { max: 1, onnotice: () => undefined })
    const book = createBook(shardOf, receiptSignatureOf)
    const order = { atMs: SEED_START_MS + 1, amount: '7', idempotencyKey: 'k' }
    await subject.write([book.open('alice', SEED_START_MS), book.decide('alice', order)])
  })
  afterAll(async () => {
    await sql.end()
    await subject.close()
  })

  test('is unreadable: every read of it fails', async () => {
    const { reads } = subject
    const { transactions } = await reads.transactions(aQuery({ accountId: 'alice' }))
    const txnId = transactions[0]?.txnId ?? ''
    expect(await reads.transaction(txnId)).toMatchObject({ accountId: 'alice' })
    await sql`UPDATE accounts SET status = 'erased'`
    const queries = [
      () => reads.transaction(txnId),
      () => reads.receipt(txnId),
      () => reads.transactions(aQuery({})),
      () => reads.auditChain('alice', -1, 10),
      () => reads.account('alice'),
      () => reads.balances('alice'),
    ]
    for (const query of queries) await expect(query()).rejects.toThrow(ReadsUnavailable)
  })
})

describe('the store', () => {
  let harness: PostgresHarness
  beforeAll(async () => {
    harness = await createPostgresHarness()
  })
  afterAll(() => harness.close())

  const key = { shardId: 3, accountId: 'alice', idempotencyKey: 'k', operation: 'transaction' } as const

  test('stops a shard with such an account, whose idempotency keys would otherwise be new again', async () => {
    const { store } = await harness.open()
    const token = await own({ store }, 3)
    const open = openAccount(3, 'alice')
    const credit = creditAccount(open.account, 'k')
    await store.commit({ shards: [partOf(token, open)] })
    await store.commit({ shards: [partOf(token, credit)] })
    await harness.sql`UPDATE accounts SET status = 'erased'`
    const answer = await store.lookUp(questionOf({ keys: [key] }))
    expect([...answer.unreadable.keys()]).toEqual([3])
    await harness.sql`UPDATE accounts SET status = 'active'`
    expect((await store.lookUp(questionOf({ keys: [key] }))).keys.size).toBe(1)

    const emptied = debitAll(credit.account)
    await store.commit({ shards: [partOf(token, emptied)] })
    await harness.sql`CREATE TABLE kept AS SELECT * FROM accounts`
    expect(await store.commit({ shards: [partOf(token, eraseAccount(emptied.account))] })).toEqual(only(3))
    expect(await harness.sql`SELECT FROM data_keys WHERE scope = 'account'`).toHaveLength(0)
    expect(await harness.sql`SELECT FROM balances`).toHaveLength(0)

    // Restores the row from before the erasure.
    await harness.sql`
      UPDATE accounts SET status = kept.status, digest = kept.digest, lasting = kept.lasting,
             lasting_version = kept.lasting_version, last_time = kept.last_time, version = kept.version, tip = kept.tip,
             sequence = kept.sequence FROM kept`
    const back = await (await harness.open()).store.lookUp(questionOf({ accounts: [key] }))
    expect([back.accounts.size, ...back.unreadable.keys()]).toEqual([0, 3])
  })
})
