/** The log of a database that came to another PostgreSQL cluster, or that may not be used. */
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compareRows } from '../../../infra/log/compared-rows.ts'
import { type EntryPlace, placeOfEntry } from '../../../infra/log/entry-place.ts'
import { readLogRows } from '../../../infra/log/log-rows.ts'
import type { PostgresLogStore } from '../../../infra/log/log-store-postgres.ts'
import { keepLog, type KeptLog } from '../../support/log/kept-log.ts'
import { createTampered, type Tampered } from '../../support/postgres/tampering.ts'

const LOG_KEY = Buffer.alloc(32, 5)
const EVERYTHING = { from: 0n, until: 10n ** 15n }

let tampered: Tampered
beforeAll(async () => {
  tampered = await createTampered()
})
afterAll(() => tampered?.close())

async function chainEntries(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM chain_entries`
  return row?.count ?? 0
}

/** Works until the log is as long as the chains. */
async function catchUp({ workUntil, store }: KeptLog, sql: postgres.Sql): Promise<number> {
  const entries = await chainEntries(sql)
  await workUntil(async () => (await store.head()).edge.size >= entries)
  return entries
}

/** The places of the entries of all rows. */
async function placesIn(sql: postgres.Sql, store: PostgresLogStore): Promise<readonly EntryPlace[]> {
  const rows: { entry: Buffer; xid: string }[] = []
  await readLogRows(sql, EVERYTHING, LOG_KEY, ({ entry, xid }) => rows.push({ entry, xid: String(xid) }) > 0)
  const places: EntryPlace[] = []
  for (const row of rows) places.push(await placeOfEntry(sql, store, row))
  return places.toSorted((left, right) => Number(left) - Number(right))
}

/** Moves the newest commits with entries to numbers below those in the log, as if another cluster had given them out. */
async function commitLower(sql: postgres.Sql, commits: number): Promise<void> {
  const newest = await sql<{ xid: string }[]>`
    SELECT DISTINCT commit_xid::text::bigint AS xid FROM audit_entries ORDER BY xid DESC LIMIT ${commits}`
  for (const [index, { xid }] of newest.entries()) {
    const lower = String(index + 1)
    await sql`UPDATE audit_entries SET commit_xid = ${lower}::xid8 WHERE commit_xid = ${xid}::xid8`
    await sql`UPDATE commits SET commit_xid = ${lower}::xid8 WHERE commit_xid = ${xid}::xid8`
  }
}

test('entries that another cluster committed below the log are added once, and each entry is found', async () => {
  await tampered.onCopy(async ({ url, sql }) => {
    const hidden = await sql`DELETE FROM audit_entries WHERE commit_xid >= (
      SELECT commit_xid FROM audit_entries ORDER BY commit_xid DESC OFFSET 2 LIMIT 1) RETURNING *`
    await keepLog(url, LOG_KEY, (log) => catchUp(log, sql))
    for (const row of hidden) await sql`INSERT INTO audit_entries ${sql(row)}`
    await commitLower(sql, 2)
    await sql`UPDATE log_head SET position = 'another.' || split_part(position, '.', 2)`
    const before = await sql`SELECT level, number, content FROM log_tiles WHERE length(content) = 256 * 48`
    await keepLog(url, LOG_KEY, async (log) => {
      const entries = await catchUp(log, sql)
      expect(await placesIn(sql, log.store)).toEqual(Array.from({ length: entries }, (_, index) => index))
      expect(await compareRows(sql, 0n, LOG_KEY)).toMatchObject({ lacking: [], gone: [], entries })
      expect(log.logged).toEqual([])
    })
    expect(await sql`SELECT level, number, content FROM log_tiles WHERE length(content) = 256 * 48`).toEqual(before)
    const [head] = await sql<{ is_own: boolean }[]>`
      SELECT split_part(position, '.', 1) = system_identifier::text AS is_own FROM log_head, pg_control_system()`
    expect(head?.is_own).toBe(true)
  })
})

test('the log of a database that was brought to another cluster is as it was if it lacks nothing', async () => {
  await tampered.onCopy(async ({ url, sql }) => {
    await keepLog(url, LOG_KEY, (log) => catchUp(log, sql))
    const before = await sql`SELECT size, root FROM log_head`
    await sql`UPDATE log_head SET position = 'another.' || split_part(position, '.', 2)`
    await keepLog(url, LOG_KEY, async ({ store }) => {
      let piece = await store.since((await store.head()).position)
      expect(piece.entries).toEqual([])
      piece = await store.since(piece.position)
      expect(piece.entries).toEqual([])
    })
    expect(await sql`SELECT size, root FROM log_head`).toEqual(before)
    const [head] = await sql<{ position: string }[]>`SELECT position FROM log_head`
    expect(head?.position).toMatch(/^[0-9]+\.0$/)
  })
})

test.for(['audit_entries', 'commits'])(
  'the log waits while %s have numbers that the cluster has not reached, and says so once',
  async (table) => {
    await tampered.onCopy(async ({ url, sql }) => {
      const newest = sql`(SELECT commit_xid FROM ${sql(table)} ORDER BY commit_xid DESC LIMIT 1)`
      const [row] = await sql<{ xid: string }[]>`SELECT ${newest}::text AS xid`
      await sql`UPDATE ${sql(table)} SET commit_xid = '900000000000' WHERE commit_xid = ${newest}`
      await keepLog(url, LOG_KEY, async (log) => {
        await log.workUntil(() => log.logged.length > 0)
        let rounds = 0
        await log.workUntil(async () => {
          await expect(log.store.since('')).rejects.toThrow('are below those in the ledger')
          return (rounds += 1) > 5
        })
        expect(log.logged).toEqual(['log_paused'])
        await sql`UPDATE ${sql(table)} SET commit_xid = ${row?.xid ?? ''}::xid8 WHERE commit_xid = '900000000000'`
        await catchUp(log, sql)
        await log.workUntil(() => log.logged.length > 1)
        expect(log.logged).toEqual(['log_paused', 'log_resumed'])
      })
    })
  },
)

test('the log waits while the cluster has not reached the numbers in the log', async () => {
  await tampered.onCopy(async ({ url, sql }) => {
    await keepLog(url, LOG_KEY, (log) => catchUp(log, sql))
    await sql`UPDATE log_batches SET until_xid = '900000000000' WHERE first = (SELECT max(first) FROM log_batches)`
    await keepLog(url, LOG_KEY, async ({ store }) => {
      const { position } = await store.head()
      await expect(store.since(position)).rejects.toThrow('are below those in the log')
    })
  })
})

test('G6: the log of a server that went back or was not accepted is neither extended nor published', async () => {
  await tampered.onCopy(async ({ url, sql }) => {
    await keepLog(url, LOG_KEY, (log) => catchUp(log, sql))
    await keepLog(url, LOG_KEY, async ({ store }) => {
      const head = await store.head()
      const batch = { ...head, entries: [], tiles: [] }
      const refused = async (message: string) => {
        await expect(store.head()).rejects.toThrow(message)
        await expect(store.since(head.position)).rejects.toThrow(message)
        await expect(store.append(head, batch)).rejects.toThrow(message)
        await expect(store.publish({ size: 1, note: 'one' })).rejects.toThrow(message)
      }
      await sql`UPDATE accepted_servers SET went_back_at = now()`
      await refused('older copy of the database')
      await sql`DELETE FROM accepted_servers`
      await refused('was not accepted on')
    })
  })
})
