/**
 * Goal: what an order and a transfer write is bounded: bytes of the log and of sealed texts, entries of indexes, and no new
 * entries of indexes where a row only changes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedLedger, createAuditedLedger, Parties, type Party } from '../support/audited-ledger.ts'
import { until } from '../support/ledger-store-postgres.ts'

const ACCOUNTS = 60
const ROUNDS = 10
const COUNT = ACCOUNTS * ROUNDS

/**
 * Bytes that a commit may write beside its orders: its rows in the log of commits and of counts, a lock on each of 16 shards, its end.
 * How many orders share one depends on the machine.
 */
const COMMIT_BYTES = 2_500
const ORDER = { logBytes: 2_300, sealedBytes: 1_024, indexEntries: 4 }
const TRANSFER = { logBytes: 9_000, sealedBytes: 2_048, indexEntries: 10 }

let ledger: AuditedLedger
let parties: Parties
let accounts: readonly Party[]

beforeAll(async () => {
  ledger = await createAuditedLedger()
  parties = new Parties(ledger)
  accounts = await Promise.all(Array.from({ length: ACCOUNTS }, (_, number) => parties.open(`account-${number}`)))
  await ledger.sql`CHECKPOINT`
  await everyAccount((party) => parties.submit(party, { type: 'credit', amount: '1000' }))
  await parties.atRest()
}, 120_000)
afterAll(() => ledger.close())

function everyAccount(work: (party: Party, number: number) => Promise<unknown>): Promise<unknown> {
  return Promise.all(accounts.map(work))
}

interface Written {
  readonly log_bytes: number
  readonly commits: number
  readonly transactions: number
}

/** Of the log without whole pages, of which the first change of each after a checkpoint adds one. */
async function soFar(): Promise<Written> {
  const [row] = await ledger.sql<Written[]>`
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 - 8192 * wal_fpi AS log_bytes,
           (SELECT count(*)::integer FROM commits) AS commits, (SELECT count(*)::integer FROM transactions) AS transactions
      FROM pg_stat_wal`
  if (row === undefined) throw new Error('a sum has one row')
  return row
}

/** Of each of COUNT; commits apart. */
async function written(work: (party: Party, round: number) => Promise<unknown>, rows: number) {
  const before = await soFar()
  for (let round = 0; round < ROUNDS; round += 1) await everyAccount((party, number) => work(party, number + round))
  await parties.atRest()
  const after = await soFar()
  expect(after.transactions - before.transactions).toBe(COUNT * rows)
  const ofCommits = COMMIT_BYTES * (after.commits - before.commits)
  return (after.log_bytes - before.log_bytes - ofCommits) / COUNT
}

/** Of the last `rows` transactions: entries of indexes, and sealed bytes with those of what they changed. */
async function ofEach(rows: number) {
  const { sql } = ledger
  const indexes = await sql<{ condition: string }[]>`
    SELECT coalesce(pg_get_expr(indpred, indrelid), 'true') AS condition FROM pg_index
     WHERE indrelid = 'transactions'::regclass`
  const conditions = indexes.map(({ condition }) => `(CASE WHEN ${condition} THEN 1 ELSE 0 END)`)
  const [row] = await sql.unsafe<{ entries: number; sealed: number }[]>(`
    SELECT sum(${conditions.join(' + ')})::integer AS entries, sum(octet_length(document))::integer AS sealed
      FROM (SELECT * FROM transactions ORDER BY txn_id DESC LIMIT ${rows}) latest`)
  const [parts] = await sql<{ sealed: number }[]>`
    SELECT (SELECT max(octet_length(digest)) FROM accounts) + (SELECT max(octet_length(document)) FROM balances) AS sealed`
  return { entries: row?.entries, sealed: (row?.sealed ?? 0) + rows * (parts?.sealed ?? 0) }
}

test('an order', async () => {
  const bytes = await written((party) => parties.submit(party, { type: 'credit', amount: '12.5' }), 1)
  const { entries, sealed } = await ofEach(1)
  expect(bytes).toBeLessThan(ORDER.logBytes)
  expect(sealed).toBeLessThan(ORDER.sealedBytes)
  expect(entries).toBe(ORDER.indexEntries)
})

test('a transfer', async () => {
  const receiverOf = (number: number) => accounts[(number + 1) % ACCOUNTS]?.accountId ?? ''
  const bytes = await written(
    (party, number) => parties.submit(party, { type: 'transfer', amount: '1', to_account_id: receiverOf(number) }),
    2,
  )
  const { entries, sealed } = await ofEach(2)
  expect(bytes).toBeLessThan(TRANSFER.logBytes)
  expect(sealed).toBeLessThan(TRANSFER.sealedBytes)
  expect(entries).toBe(TRANSFER.indexEntries)
})

test('accounts and balances change in place: their indexes get no entries', async () => {
  const changes = () => ledger.sql<{ changed: number; in_place: number }[]>`
    SELECT n_tup_upd::integer AS changed, n_tup_hot_upd::integer AS in_place FROM pg_stat_user_tables
     WHERE relname IN ('accounts', 'balances')`
  await until(async () => (await changes()).every(({ changed }) => changed >= COUNT))
  const shares = (await changes()).map(({ changed, in_place: inPlace }) => inPlace / changed)
  expect(Math.min(...shares)).toBeGreaterThan(0.9)
})
