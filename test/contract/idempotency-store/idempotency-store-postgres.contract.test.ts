/** The idempotency store in PostgreSQL: the contract, and properties of its tables. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createIdempotencyStore,
  type PostgresIdempotencyStore,
} from '../../../infra/postgres/access/idempotency-store-postgres.ts'
import {
  type AnsweredRequest,
  IdempotencyStoreUnavailable,
  KEPT_FOR_MS,
  type RequestKey,
} from '../../../runtime/ports/idempotency-store.ts'
import { createLedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { idempotencyStoreContract, type IdempotencyStoreSubject } from './idempotency-store.contract.ts'

interface Postgres extends IdempotencyStoreSubject {
  readonly store: PostgresIdempotencyStore
  readonly sql: postgres.Sql
}

async function createSubject(): Promise<Postgres> {
  const database = await createLedgerDatabase()
  const vault = await vaultOf(database.url)
  const [store, other] = [
    createIdempotencyStore({ url: database.url, vault }),
    createIdempotencyStore({ url: database.url, vault: await vaultOf(database.url) }),
  ]
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  return {
    store,
    other,
    sql,
    age: async ({ clientId, path, idempotencyKey }, byMs) => {
      const ref = vault.keyRef(clientId, JSON.stringify([path, idempotencyKey]))
      const { count } = await sql`
        UPDATE idempotent_requests SET created_at = created_at - ${byMs} * interval '1 millisecond'
        WHERE client_id = ${clientId} AND key_ref = ${ref}`
      expect(count).toBe(1)
    },
    close: async () => {
      await Promise.all([store.close(), other.close(), sql.end()])
      await database.drop()
    },
  }
}

idempotencyStoreContract('PostgreSQL', createSubject)

const KEY: RequestKey = { clientId: 'c', path: '/v1/accounts/alice@bank/status', idempotencyKey: 'order-of-bob' }
const HASH = 'a'.repeat(64)
const ANSWER: AnsweredRequest = {
  payloadHash: HASH,
  answer: {
    status: 200,
    contentType: 'application/json',
    headers: {},
    content: { kind: 'text', text: '{"account_id":"alice@bank"}' },
  },
}

describe('IdempotencyStore: PostgreSQL, its tables', () => {
  let subject: Postgres
  beforeAll(async () => {
    subject = await createSubject()
  })
  afterAll(() => subject.close())

  test('H7: neither paths, keys, hashes nor replies are readable in the rows', async () => {
    const { store, sql } = subject
    await store.begin(KEY, HASH)
    await store.finish(KEY, ANSWER)
    await store.keepPart(KEY, 'attempt', 0, Buffer.from('alice@bank'))
    const rows = await sql`SELECT r::text AS text FROM idempotent_requests r
      UNION ALL SELECT p::text FROM idempotent_answer_parts p`
    expect(rows).toHaveLength(2)
    const hex = (text: string): string => Buffer.from(text).toString('hex')
    for (const { text } of rows) {
      for (const secret of ['alice', 'order-of-bob', 'status', HASH]) {
        expect(text).not.toContain(secret)
        expect(text).not.toContain(hex(secret))
      }
    }
  })

  test('H6: a reply that was moved to another key, or reverted, is an error', async () => {
    const { store, sql } = subject
    const other = { ...KEY, idempotencyKey: 'another' }
    await store.begin(KEY, HASH)
    await store.finish(KEY, ANSWER)
    await store.begin(other, HASH)
    await store.finish(other, ANSWER)
    const [first, second] = await sql`SELECT key_ref, document FROM idempotent_requests WHERE status = 'answered'`
    await sql`UPDATE idempotent_requests SET document = ${second?.['document']} WHERE key_ref = ${first?.['key_ref']}`
    await sql`UPDATE idempotent_requests SET status = 'begun', attempts = 1 WHERE key_ref = ${second?.['key_ref']}`
    await expect(store.begin(KEY, HASH)).rejects.toThrow(IdempotencyStoreUnavailable)
    await expect(store.begin(other, HASH)).rejects.toThrow(IdempotencyStoreUnavailable)
  })

  test('H5: expired rows are deleted, parts included', async () => {
    const { store, sql } = subject
    await sql`DELETE FROM idempotent_requests`
    await sql`DELETE FROM idempotent_answer_parts`
    const keys = ['old', 'new'].map((idempotencyKey) => ({ ...KEY, idempotencyKey }))
    for (const key of keys) {
      await store.begin(key, HASH)
      await store.keepPart(key, 'attempt', 0, Buffer.from('part'))
    }
    const aged = KEPT_FOR_MS + 1_000
    await sql`UPDATE idempotent_answer_parts SET created_at = now() - ${aged} * interval '1 millisecond' WHERE number = 0
      AND key_ref = (SELECT min(key_ref) FROM idempotent_requests)`
    await sql`UPDATE idempotent_requests SET created_at = now() - ${aged} * interval '1 millisecond'
      WHERE key_ref = (SELECT min(key_ref) FROM idempotent_requests)`
    expect(await store.cleanUp()).toBe(2)
    expect(await store.cleanUp()).toBe(0)
    const [left] = await sql`SELECT (SELECT count(*) FROM idempotent_requests) AS requests,
      (SELECT count(*) FROM idempotent_answer_parts) AS parts`
    expect(left).toEqual({ requests: '1', parts: '1' })
  })
})
