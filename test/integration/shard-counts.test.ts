/** The count of finished transactions of each shard is exact (C1), and a read of it reads no accounts (C2). */
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { countedRows, foldCounts } from '../../infra/postgres/rows/shard-counts.ts'
import { createShardHealth } from '../../infra/postgres/reads/shard-health-postgres.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/postgres/ledger-database.ts'
import { until } from '../support/postgres/ledger-store-postgres.ts'

let database: LedgerDatabase
let sql: postgres.Sql

beforeAll(async () => {
  database = await createLedgerDatabase()
  sql = postgres(database.url, { max: 8, onnotice: () => undefined })
})
beforeEach(() => sql`TRUNCATE commit_counts, shard_counts`)
afterAll(async () => {
  await sql.end()
  await database.drop()
})

const COMMITS = 40

async function insertCommits(): Promise<void> {
  for (let commit = 0; commit < COMMITS; commit += 1) {
    await sql`INSERT INTO commit_counts (shard_ids, completed, failed) VALUES ('{3,5}', '{1,2}', '{0,1}')`
  }
}

async function counts(): Promise<readonly unknown[]> {
  return [
    ...(await sql`
      SELECT shard_id, sum(completed)::integer AS completed, sum(failed)::integer AS failed
        FROM ${countedRows(sql)} counted GROUP BY shard_id ORDER BY shard_id`),
  ]
}

const EXPECTED = [
  { shard_id: 3, completed: COMMITS, failed: 0 },
  { shard_id: 5, completed: 2 * COMMITS, failed: COMMITS },
]

test('C1: a fold moves every row into the counts of its shards, and the sums stay', async () => {
  await insertCommits()
  expect(await counts()).toEqual(EXPECTED)
  await foldCounts(sql)
  expect(await counts()).toEqual(EXPECTED)
  expect(await sql`SELECT FROM commit_counts`).toHaveLength(0)
  expect(await sql`SELECT FROM shard_counts`).toHaveLength(2)
})

test('C1: concurrent folds and commits neither lose nor double a count', async () => {
  const folding = Array.from({ length: 4 }, async () => {
    for (let fold = 0; fold < COMMITS; fold += 1) await foldCounts(sql)
  })
  await Promise.all([insertCommits(), ...folding])
  expect(await counts()).toEqual(EXPECTED)
})

test('C1: while another session folds, a fold returns at once and moves nothing', async () => {
  await insertCommits()
  const other = await sql.reserve()
  await other`BEGIN`
  await other`SELECT pg_advisory_xact_lock(7810198402634810714)`
  await foldCounts(sql)
  expect(await sql`SELECT FROM commit_counts`).toHaveLength(COMMITS)
  await other`ROLLBACK`
  other.release()
})

test('C2: shards are listed, read and recorded without reading accounts or transactions', async () => {
  const health = createShardHealth({ url: database.url })
  await sql`SELECT pg_stat_reset()`
  await health.shards(-1, 1_000)
  await health.shard(3)
  await health.record({ shardId: 3, state: 'draining', minTxnCount: 0, recordedBy: 'ops' })
  // A server process reports its scans at its end, at the latest.
  await health.close()
  const scanned = async (): Promise<readonly string[]> => {
    await sql`SELECT pg_stat_clear_snapshot()`
    const rows = await sql<{ relname: string }[]>`
      SELECT relname FROM pg_stat_user_tables WHERE seq_scan + coalesce(idx_scan, 0) > 0 ORDER BY relname`
    return rows.map(({ relname }) => relname)
  }
  await until(async () => (await scanned()).includes('shard_counts'))
  const small = ['commit_counts', 'sessions', 'shard_counts', 'shard_health', 'shards']
  expect((await scanned()).filter((table) => !small.includes(table))).toEqual([])
})
