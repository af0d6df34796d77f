/** The log reads all rows of each commit, in the order of commits, also if the consumer of the rows is slow. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOG_ROWS, readLogRows } from '../../../infra/log/log-rows.ts'
import { PLAN_SETTINGS } from '../../../infra/postgres/connection/plan-settings.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../../support/postgres/ledger-database.ts'

const OF_FIRST = 19_000
const OF_SECOND = 2_500
const OF_THIRD = 10
const TIMEOUT_MS = 2_000

let database: LedgerDatabase
let owner: postgres.Sql
/** The connection has the settings of the log's pool. */
let sql: postgres.Sql

beforeAll(async () => {
  database = await createLedgerDatabase()
  owner = postgres(database.url, { max: 1, onnotice: () => undefined })
  sql = postgres(database.url, { max: 1, connection: { ...PLAN_SETTINGS, statement_timeout: TIMEOUT_MS } })
})
afterAll(async () => {
  await Promise.all([owner?.end(), sql?.end()])
  await database?.drop()
})

async function append(commit: string, entries: number): Promise<void> {
  await owner`
    INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload, commit_xid)
    SELECT 0, ${`of ${commit}`}, n, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), '', ${commit}::text::xid8
      FROM generate_series(1, ${entries}::integer) n`
}

test('commits are read whole in the order of their numbers, in more time than the statement timeout', async () => {
  await append('98', OF_FIRST)
  await append('99', OF_SECOND)
  await append('100', OF_THIRD)
  const read = async (from: bigint, until: bigint, most = Number.POSITIVE_INFINITY) => {
    const counts = new Map<string, number>()
    let read = 0
    const isWhole = await readLogRows(sql, { from, until }, Buffer.alloc(32), ({ sequence, xid }) => {
      read += 1
      if (read > most) return false
      counts.set(String(xid), (counts.get(String(xid)) ?? 0) + 1)
      // Blocks the thread: two such batches take longer than the statement timeout.
      const isSlow = xid === 99n && sequence % 1_000 === 0
      if (isSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUT_MS * 0.6)
      return true
    })
    return { isWhole, counts: Object.fromEntries(counts) }
  }
  expect(await read(98n, 101n)).toEqual({ isWhole: true, counts: { 98: OF_FIRST, 99: OF_SECOND, 100: OF_THIRD } })
  expect(await read(98n, 99n)).toEqual({ isWhole: true, counts: { 98: OF_FIRST } })
  expect(await read(100n, 101n, 3)).toEqual({ isWhole: false, counts: { 100: 3 } })
})

test('the query for entries reads them in index order, without a sort', async () => {
  await owner`ANALYZE audit_entries, commits`
  const plan = await sql.unsafe(`EXPLAIN (COSTS OFF) ${LOG_ROWS}`, ['0', '101'])
  const text = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
  expect(text).not.toMatch(/-> {2}Sort|Seq Scan|Bitmap/)
  const scans = ['audit_entries_by_commit', 'commits_pkey', 'transactions_pkey', 'log_statements_by_commit']
  expect(text.match(/(?<=Index Scan using )\w+/g)).toEqual(scans)
})
