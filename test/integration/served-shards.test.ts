/** Shards count as served only while the owner of one proves that it can commit. */
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { countShards } from '../../infra/postgres/store/ownership.ts'
import { GIVEN_UP_AFTER_MS } from '../../runtime/node/ownership/shard-state.ts'
import { createLedgerDatabase } from '../support/postgres/ledger-database.ts'

const SESSION = 'a'.repeat(32)
let sql: postgres.Sql

beforeAll(async () => {
  const database = await createLedgerDatabase({ shardCount: 4 })
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
})

afterAll(() => sql.end())

beforeEach(async () => {
  await sql`DELETE FROM sessions`
  await sql`UPDATE shards SET node_id = NULL, session = NULL, updated_at = now() - interval '1 hour'`
})

/** Gives one shard an owner that proved this long ago that it could commit. */
async function own(provedAgoMs: number): Promise<void> {
  const ago = sql`now() - ${provedAgoMs}::float8 * interval '1 ms'`
  await sql`
    INSERT INTO sessions (session, node_id, started_at, probed_at) VALUES (${SESSION}, 'node', now(), ${ago})`
  await sql`UPDATE shards SET node_id = 'node', session = ${SESSION} WHERE shard_id = 2`
}

test('shards without an owner are not served, even if a node has just proved that it can commit', async () => {
  await own(0)
  await sql`UPDATE shards SET node_id = NULL, session = NULL, updated_at = now()`
  expect(await countShards(sql)).toEqual({ total: 4, served: 0 })
})

test.for([
  [0, 1],
  [GIVEN_UP_AFTER_MS - 2_000, 1],
  [GIVEN_UP_AFTER_MS + 1, 0],
] as const)(
  'shards whose owner proved %i ms ago that it can commit count as served: %i',
  async ([provedAgoMs, served]) => {
    await own(provedAgoMs)
    expect(await countShards(sql)).toEqual({ total: 4, served })
  },
)

test('before its first proof an owner counts from when it took the shard', async () => {
  await sql`UPDATE shards SET node_id = 'node', session = ${SESSION} WHERE shard_id = 2`
  expect(await countShards(sql)).toEqual({ total: 4, served: 0 })
  await sql`UPDATE shards SET updated_at = now() WHERE shard_id = 2`
  expect(await countShards(sql)).toEqual({ total: 4, served: 1 })
})
