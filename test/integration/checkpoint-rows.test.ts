/** Goal: what a checkpoint is made of is read whole, whoever is slow, and commit by commit. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addPiece } from '../../infra/audit/checkpoint-rows.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'

/** More than one look takes in (20,000), of which the first fill most. */
const OF_FIRST = 19_000
const OF_SECOND = 2_500
const OF_THIRD = 10
const TIMEOUT_MS = 400

let database: LedgerDatabase
let sql: postgres.Sql

beforeAll(async () => {
  database = await createLedgerDatabase()
  sql = postgres(database.url, { max: 1, connection: { statement_timeout: TIMEOUT_MS }, onnotice: () => undefined })
})
afterAll(async () => {
  await sql?.end()
  await database?.drop()
})

/** In one commit. Gives its number. */
async function append(entries: number, accountId: string): Promise<string> {
  const rows = await sql<{ commit_xid: string }[]>`
    WITH appended AS (
      INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload)
      SELECT 0, ${accountId}, n, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), ''
        FROM generate_series(1, ${entries}::integer) n
      RETURNING commit_xid)
    SELECT DISTINCT commit_xid::text AS commit_xid FROM appended`
  return rows[0]?.commit_xid ?? ''
}

/** As one who is slow reads on: so long that two such batches take longer than a statement may. */
function dawdle(): void {
  const untilMs = performance.now() + TIMEOUT_MS * 0.6
  while (performance.now() < untilMs);
}

test('a commit is taken whole, in more time than a statement has, and the next look begins behind it', async () => {
  const first = await append(OF_FIRST, 'first')
  const second = await append(OF_SECOND, 'second')
  const third = await append(OF_THIRD, 'third')
  const until = String(BigInt(third) + 1n)
  const read = async (from: string) => {
    const counts = new Map<string, number>()
    const piece = await addPiece(sql, { from, until }, (_, entry) => {
      const [account = '', sequence] = entry.split(' ')
      counts.set(account, (counts.get(account) ?? 0) + 1)
      if (account === 'second' && Number(sequence) % 1_000 === 0) dawdle()
    })
    return { ...piece, counts: Object.fromEntries(counts) }
  }
  const whole = { first: OF_FIRST, second: OF_SECOND }
  const behind = String(BigInt(second) + 1n)
  expect(await read(first)).toEqual({ position: behind, entries: OF_FIRST + OF_SECOND, counts: whole })
  expect(await read(behind)).toEqual({ position: until, entries: OF_THIRD, counts: { third: OF_THIRD } })
})
