/** The log reads all rows of each commit, in the order of commits, also if the consumer of the rows is slow. */
import { hash } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { administrativeLogKey, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { LOG_ROWS, type LogRow, readLogRows } from '../../../infra/log/log-rows.ts'
import { readLogServer } from '../../../infra/log/log-server.ts'
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

test('administrative entries are rows of the log, with salts of their own chain', async () => {
  await owner`
    INSERT INTO administrative_entries (sequence, previous_hash, audit_hash, document, commit_xid)
    VALUES (0, decode(repeat('00', 32), 'hex'), sha256('0'), '', '200'), (1, sha256('0'), sha256('1'), '', '201')`
  const rows: LogRow[] = []
  const logKey = Buffer.alloc(32, 7)
  await readLogRows(sql, { from: 200n, until: 202n }, logKey, (row) => rows.push(row) > 0)
  const salts = new EntrySalts(administrativeLogKey(logKey))
  expect(rows).toEqual(
    [0, 1].map((sequence) => ({
      chain: { kind: 'administrative' },
      sequence,
      xid: 200n + BigInt(sequence),
      entry: logEntry(salts.of(sequence), hash('sha256', String(sequence), 'buffer')),
    })),
  )
})

test('the query for entries reads them in index order, without a sort', async () => {
  await owner`ANALYZE audit_entries, commits`
  const plan = await sql.unsafe(`EXPLAIN (COSTS OFF) ${LOG_ROWS}`, ['0', '101'])
  const text = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
  expect(text).not.toMatch(/-> {2}Sort|Seq Scan|Bitmap/)
  const scans = [
    'audit_entries_by_commit',
    'commits_pkey',
    'transactions_pkey',
    'administrative_entries_by_commit',
    'log_statements_by_commit',
  ]
  expect(text.match(/(?<=Index Scan using )\w+/g)).toEqual(scans)
})

test('an administrative entry that was committed after the start of an open transaction holds the log back', async () => {
  await owner.begin(async (open) => {
    await open`SELECT pg_current_xact_id()`
    expect((await readLogServer(sql)).isHeldBack).toBe(false)
    await sql`
      INSERT INTO administrative_entries (sequence, previous_hash, audit_hash, document)
      VALUES (2, sha256('1'), sha256('2'), '')`
    expect((await readLogServer(sql)).isHeldBack).toBe(true)
  })
  expect((await readLogServer(sql)).isHeldBack).toBe(false)
})
