/** A checkpoint reads all rows of each commit, in the order of commits, also if the consumer of the rows is slow. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addPiece, ENTRIES } from '../../infra/checkpoints/checkpoint-rows.ts'
import { PLAN_SETTINGS } from '../../infra/postgres/connection/plan-settings.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/postgres/ledger-database.ts'

/** Together the first two commits have more rows than one piece of a checkpoint (20,000). */
const OF_FIRST = 19_000
const OF_SECOND = 2_500
const OF_THIRD = 10
const TIMEOUT_MS = 2_000

let database: LedgerDatabase
let owner: postgres.Sql
/** The connection has the settings of the checkpointer. */
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
  const read = async (from: string) => {
    const counts = new Map<string, number>()
    const piece = await addPiece(sql, { from, until: '101' }, (_, entry) => {
      const [, commit = '', sequence] = entry.split(' ')
      counts.set(commit, (counts.get(commit) ?? 0) + 1)
      // Blocks the thread: two such batches take longer than the statement timeout.
      const slow = commit === '99' && Number(sequence) % 1_000 === 0
      if (slow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUT_MS * 0.6)
    })
    return { ...piece, counts: Object.fromEntries(counts) }
  }
  const whole = { 98: OF_FIRST, 99: OF_SECOND }
  expect(await read('98')).toEqual({ position: '100', entries: OF_FIRST + OF_SECOND, counts: whole })
  expect(await read('100')).toEqual({ position: '101', entries: OF_THIRD, counts: { 100: OF_THIRD } })
})

test('the query for entries reads them in index order, without a sort', async () => {
  await owner`ANALYZE audit_entries, commits`
  const plan = await sql.unsafe(`EXPLAIN (COSTS OFF) ${ENTRIES}`, ['0', '101'])
  const text = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
  expect(text).not.toMatch(/-> {2}Sort|Seq Scan|Bitmap/)
  const scans = ['audit_entries_by_commit', 'commits_pkey', 'transactions_pkey']
  expect(text.match(/(?<=Index Scan using )\w+/g)).toEqual(scans)
})
