/** Bounds on the bytes and index entries that an order and a transfer write to PostgreSQL. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedLedger, createAuditedLedger, Parties, type Party } from '../../support/audited-ledger.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'

const ACCOUNTS = 60
const ROUNDS = 10
const COUNT = ACCOUNTS * ROUNDS

const ORDER = { logBytes: 2_350, sealedBytes: 1_024, indexEntries: 5 }
/** The log bytes if no two changes of an account share a commit; about 8,100 if they do. */
const TRANSFER = { logBytes: 9_200, sealedBytes: 2_048, indexEntries: 12 }

let ledger: AuditedLedger
let parties: Parties
let accounts: readonly Party[]

beforeAll(async () => {
  ledger = await createAuditedLedger()
  parties = new Parties(ledger)
  accounts = await Promise.all(Array.from({ length: ACCOUNTS }, (_, number) => parties.open(`account-${number}`)))
  await ledger.sql`CREATE EXTENSION pg_walinspect`
  await ledger.sql`CHECKPOINT`
  await everyAccount((party) => parties.submit(party, { type: 'credit', amount: '1000' }))
  await parties.atRest()
}, 120_000)
afterAll(() => ledger.close())

function everyAccount(work: (party: Party, number: number) => Promise<unknown>): Promise<unknown> {
  return Promise.all(accounts.map(work))
}

async function logEnd(): Promise<string> {
  const [row] = await ledger.sql<{ lsn: string }[]>`SELECT pg_current_wal_insert_lsn()::text AS lsn`
  if (row === undefined) throw new Error('PostgreSQL has a log')
  return row.lsn
}

/**
 * Bytes of the log since a position for rows, their locks and their index entries. Left out are bytes that depend on the
 * machine: images, splits and pruning of pages, and the rows that a commit of many orders has once.
 */
async function logBytesSince(lsn: string): Promise<number> {
  const [row] = await ledger.sql<{ bytes: number }[]>`
    SELECT sum(record_length - fpi_length)::integer AS bytes
      FROM pg_get_wal_records_info(${lsn}, 'FFFFFFFF/FFFFFFFF')
           JOIN pg_class ON relfilenode = substring(block_ref FROM 'rel [0-9]+/[0-9]+/([0-9]+)')::oid
     WHERE (resource_manager, left(record_type, 5)) NOT IN (('Heap2', 'PRUNE'), ('Btree', 'SPLIT'))
       AND relnamespace = 'public'::regnamespace AND relname !~ '^(commits|shards)'`
  return row?.bytes ?? 0
}

/** Log bytes of one of COUNT actions, each of which writes `rows` transactions. */
async function written(work: (party: Party, round: number) => Promise<unknown>, rows: number) {
  const count = async () =>
    (await ledger.sql<{ rows: number }[]>`SELECT count(*)::integer AS rows FROM transactions`)[0]?.rows
  const before = await count()
  const lsn = await logEnd()
  for (let round = 0; round < ROUNDS; round += 1) await everyAccount((party, number) => work(party, number + round))
  await parties.atRest()
  expect(await count()).toBe((before ?? 0) + COUNT * rows)
  return (await logBytesSince(lsn)) / COUNT
}

/** Index entries of the last `rows` transactions, and their sealed bytes with those of the changed accounts and balances. */
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

test('an order stays within its bounds', async () => {
  const bytes = await written((party) => parties.submit(party, { type: 'credit', amount: '12.5' }), 1)
  const { entries, sealed } = await ofEach(1)
  expect(bytes).toBeLessThan(ORDER.logBytes)
  expect(sealed).toBeLessThan(ORDER.sealedBytes)
  expect(entries).toBe(ORDER.indexEntries)
})

test('a transfer stays within its bounds', async () => {
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

test('updates of accounts and balances write no index entries', async () => {
  const changes = () => ledger.sql<{ changed: number; in_place: number }[]>`
    SELECT n_tup_upd::integer AS changed, n_tup_hot_upd::integer AS in_place FROM pg_stat_user_tables
     WHERE relname IN ('accounts', 'balances')`
  // PostgreSQL counts late. The orders change each row COUNT times, and so do the transfers, if both changes share a commit.
  await until(async () => (await changes()).every(({ changed }) => changed >= 2 * COUNT))
  const shares = (await changes()).map(({ changed, in_place: inPlace }) => inPlace / changed)
  expect(Math.min(...shares)).toBeGreaterThan(0.9)
})
