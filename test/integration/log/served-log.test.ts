/** Reads of the published log: they cannot stop those who extend it, nor be stopped by them, and are few. */
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLedgerLog, type PostgresLedgerLog } from '../../../infra/log/ledger-log-postgres.ts'
import { createNoteSigner } from '../../../infra/log/log-signer.ts'
import { createLogStore, type PostgresLogStore } from '../../../infra/log/log-store-postgres.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { batchOn, someEntries } from '../../contract/log-store/log-store-scene.ts'

const LOG_KEY = Buffer.alloc(32, 5)
/** Requests that strangers make at once. */
const REQUESTS = 1_100

let database: LedgerDatabase
let sql: postgres.Sql
let store: PostgresLogStore
let log: PostgresLedgerLog
let clock: ManualClock
beforeAll(async () => {
  database = await createLedgerDatabase()
  sql = postgres(database.url, { max: 3, onnotice: () => undefined })
  store = createLogStore({ url: database.url, logKey: LOG_KEY })
  const head = await store.head()
  await store.append(head, batchOn(head, someEntries(300)))
  await store.publish({ size: 299, note: 'a head of 299' })
})
afterAll(async () => {
  await Promise.all([store.close(), sql.end()])
  await database.drop()
})
beforeEach(async () => {
  clock = createManualClock(0)
  const { key } = await createNoteSigner('ledger/test', 'log', Buffer.alloc(32, 1))
  const vault = await vaultOf(database.url)
  log = createLedgerLog({ url: database.url, logKey: LOG_KEY, key, vault, shardOf: () => 0, clock, log: console })
  return () => log.close()
})

/** While the work runs, reads of this table wait. */
async function locked(table: string, work: () => Promise<void>): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`LOCK TABLE ${transaction(table)} IN ACCESS EXCLUSIVE MODE`
    await work()
  })
}

/** Number of connections to the log that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'ledger log%' AND wait_event_type = 'Lock'`
  return row?.count ?? 0
}

test('while more tiles are requested than PostgreSQL can read, the log is extended and published', async () => {
  let requests: readonly Promise<unknown>[] = []
  await locked('log_tiles', async () => {
    requests = Array.from({ length: REQUESTS }, () =>
      log.tile({ level: 0, number: 0, width: 7 }).catch(() => 'refused'),
    )
    await until(async () => (await waiting()) > 0)
    expect(await store.claim('sequencer')).toBe(true)
    expect((await store.since('')).entries).toEqual([])
    expect(await store.publish({ size: 300, note: 'a head of 300' })).toBe(true)
  })
  const refused = (await Promise.all(requests)).filter((reply) => reply === 'refused')
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(REQUESTS)
})

test('while those who extend the log wait for PostgreSQL, it is read', async () => {
  let pieces: readonly Promise<unknown>[] = []
  await locked('audit_entries', async () => {
    pieces = [store.since(''), store.since('')]
    await until(async () => (await waiting()) === pieces.length)
    expect((await log.tile({ level: 0, number: 0, width: 256 }))?.length).toBe(256 * 32)
    expect(await log.checkpoint()).toBe('a head of 300')
  })
  await Promise.all(pieces)
})

test('a complete tile is read once, and the head twice a second', async () => {
  const tile = { level: 'entries', number: 0, width: 256 } as const
  const [first, note] = [await log.tile(tile), await log.checkpoint()]
  await sql.begin(async (transaction) => {
    await transaction`LOCK TABLE log_tiles, log_published IN ACCESS EXCLUSIVE MODE`
    expect(await log.tile(tile)).toEqual(first)
    expect(await log.checkpoint()).toBe(note)
  })
  const head = await store.head()
  await store.append(head, batchOn(head, someEntries(1)))
  await store.publish({ size: 301, note: 'a head of 301' })
  expect(await log.checkpoint()).toBe('a head of 300')
  await clock.pass(500)
  expect(await log.checkpoint()).toBe('a head of 301')
})

test('a tile of a head that another edge has shown is found at once', async () => {
  expect(await log.checkpoint()).toBe('a head of 301')
  const head = await store.head()
  await store.append(head, batchOn(head, someEntries(1)))
  await store.publish({ size: 302, note: 'a head of 302' })
  expect((await log.tile({ level: 0, number: 1, width: 302 - 256 }))?.length).toBe(46 * 32)
  expect(await log.tile({ level: 0, number: 1, width: 47 })).toBeUndefined()
})

test('a head that could not be read is not kept', async () => {
  await sql`ALTER TABLE log_published RENAME TO moved_away`
  await expect(log.checkpoint()).rejects.toThrow('The database did not answer this query.')
  await sql`ALTER TABLE moved_away RENAME TO log_published`
  expect(await log.checkpoint()).toBe('a head of 302')
})
