/** A migration runs once, and refuses settings that differ from those of the ledger (M1-M4). */
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLedgerSecret } from '../../../infra/keys/ledger-seals.ts'
import {
  migrate,
  type MigrateOptions,
  MigrationRefused,
  readLedgerAt,
} from '../../../infra/postgres/migrations/migrate.ts'
import { type Migration, MIGRATIONS } from '../../../infra/postgres/migrations/migrations.ts'
import { sessionLockKey } from '../../../infra/postgres/store/sessions.ts'
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import { createLedgerDatabase, type LedgerDatabase, TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'

let database: LedgerDatabase
let sql: postgres.Sql

beforeEach(async () => {
  database = await createLedgerDatabase({ migrated: false })
  sql = postgres(database.url, { max: 2, onnotice: () => undefined })
})
afterEach(async () => {
  await sql.end()
  await database.drop()
})

const options: MigrateOptions = { shardCount: 8, masterKeys: TEST_MASTER_KEYS }

/** The steps of a later release: nodes of this release must not run beside the last one. */
const LATER: readonly Migration[] = [
  ...MIGRATIONS,
  { version: MIGRATIONS.length + 1, name: 'later', sql: 'CREATE TABLE later (held boolean)', alone: true },
]

async function newestStep(): Promise<unknown> {
  const [row] = await sql`SELECT max(version) AS version FROM schema_migrations`
  return row?.['version']
}

test('a migration creates the ledger of an empty database', async () => {
  expect(await readLedgerAt(database.url)).toBeUndefined()
  const made = await migrate(database.url, { ...options, ledgerId: 'ledger-1' })
  expect(made).toMatchObject({ ledgerId: 'ledger-1', shardCount: 8, amountIndex: 'account' })
  expect(openLedgerSecret(TEST_MASTER_KEYS, 'shard-secret', made.sealedShardSecret).secret).toHaveLength(32)
  expect(await readLedgerAt(database.url)).toEqual(made)
  const shards = await sql`SELECT shard_id FROM shards ORDER BY shard_id`
  expect(shards.map((row): unknown => row['shard_id'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('M1: concurrent migrations create one ledger, and all return it', async () => {
  const records = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url, options)))
  expect(new Set(records.map((record) => record.ledgerId)).size).toBe(1)
  for (const record of records) expect(record).toEqual(records[0])
  const applied = await sql`SELECT version FROM schema_migrations`
  expect(applied).toHaveLength(MIGRATIONS.length)
})

test('M2: another number of shards, ledger ID or amount index is refused and changes nothing', async () => {
  const made = await migrate(database.url, { ...options, amountIndex: 'ledger' })
  const refused = migrate(database.url, { ...options, amountIndex: 'off' })
  await expect(refused).rejects.toThrow(/LEDGER_AMOUNT_INDEX is off.*created with ledger/)
  await expect(migrate(database.url, { ...options, shardCount: 16 })).rejects.toThrow(/8 shards.*16/)
  await expect(migrate(database.url, { ...options, ledgerId: 'another' })).rejects.toThrow(MigrationRefused)
  expect(await migrate(database.url, options)).toEqual(made)
  const shards = await sql`SELECT 1 FROM shards`
  expect(shards).toHaveLength(8)
})

test('M2: other settings are refused before the first step of an upgrade', async () => {
  await migrate(database.url, { ...options, ledgerId: 'ledger-1' })
  await expect(migrate(database.url, { ...options, shardCount: 16 }, LATER)).rejects.toThrow(/8 shards.*16/)
  await expect(migrate(database.url, { ...options, ledgerId: 'another' }, LATER)).rejects.toThrow(/ledger-1/)
  expect(await newestStep()).toBe(MIGRATIONS.length)
  expect(await migrate(database.url, options, LATER)).toMatchObject({ ledgerId: 'ledger-1', shardCount: 8 })
  expect(await newestStep()).toBe(LATER.length)
})

test('an upgrade is refused and changes nothing while a node of an earlier version owns a shard', async () => {
  await migrate(database.url, { ...options, ledgerId: 'ledger-1' })
  const session = 'f'.repeat(32)
  await sql`UPDATE shards SET epoch = 1, node_id = 'old-node', session = ${session} WHERE shard_id = 1`
  const node = postgres(database.url, { max: 1 })
  await node`SELECT pg_advisory_lock(${String(sessionLockKey(session))}::bigint)`
  await expect(migrate(database.url, options, LATER)).rejects.toThrow(/node old-node of an earlier version runs/)
  expect(await newestStep()).toBe(MIGRATIONS.length)
  await node.end()
  expect(await migrate(database.url, options, LATER)).toMatchObject({ ledgerId: 'ledger-1' })
})

test('a step with an unmet precondition stops the migration with its message, until the precondition is met', async () => {
  const sqlOfStep = `DO $$ BEGIN
    IF EXISTS (SELECT FROM actors WHERE status = 'open') THEN RAISE EXCEPTION 'groups are open: let them end'; END IF;
  END $$`
  const steps: readonly Migration[] = [...MIGRATIONS, { version: MIGRATIONS.length + 1, name: 'later', sql: sqlOfStep }]
  await migrate(database.url, { ...options, ledgerId: 'ledger-1' })
  await sql`
    INSERT INTO actors (shard_id, kind, actor_id, version, status, document, created_at)
    VALUES (3, 'group', 'g', 1, 'open', '', now())`
  await expect(migrate(database.url, options, steps)).rejects.toThrow(
    new MigrationRefused('groups are open: let them end'),
  )
  expect(await newestStep()).toBe(MIGRATIONS.length)
  await sql`UPDATE actors SET status = 'settled' WHERE kind = 'group'`
  expect(await migrate(database.url, options, steps)).toMatchObject({ ledgerId: 'ledger-1' })
})

test('a migration completes one that failed between two steps', async () => {
  const broken: Migration = { version: LATER.length + 1, name: 'last', sql: 'CREATE TABLE later (held boolean)' }
  await expect(migrate(database.url, options, [...LATER, broken])).rejects.toThrow(LedgerStoreUnavailable)
  expect(await newestStep()).toBe(LATER.length)
  const mended: Migration = { ...broken, sql: 'CREATE TABLE last (held boolean)' }
  expect(await migrate(database.url, options, [...LATER, mended])).toMatchObject({ shardCount: 8 })
  expect(await newestStep()).toBe(LATER.length + 1)
})

test('M2: two ledgers never share a secret', async () => {
  const other = await createLedgerDatabase({ migrated: false })
  const [one, two] = await Promise.all([migrate(database.url, options), migrate(other.url, options)])
  await other.drop()
  expect(one.sealedShardSecret.equals(two.sealedShardSecret)).toBe(false)
})

test('M3: a newer schema is refused by the migration and by a read of the ledger record', async () => {
  await migrate(database.url, options)
  await sql`INSERT INTO schema_migrations (version, name) VALUES (9999, 'from the future')`
  await expect(migrate(database.url, options)).rejects.toThrow(/schema version 9999/)
  await expect(readLedgerAt(database.url)).rejects.toThrow(MigrationRefused)
})

test('an older schema reads as not migrated', async () => {
  await migrate(database.url, options)
  await sql`DELETE FROM schema_migrations`
  expect(await readLedgerAt(database.url)).toBeUndefined()
})

test('M1: a migration waits for the end of another one', async () => {
  const other = await sql.reserve()
  await other`SELECT pg_advisory_lock(7810198402634810713)`
  const migration = migrate(database.url, options)
  await until(async () => {
    const waiting = await sql`SELECT 1 FROM pg_stat_activity WHERE application_name = 'ledger:migrate'`
    return waiting.length > 0
  })
  expect(await readLedgerAt(database.url)).toBeUndefined()
  await other`SELECT pg_advisory_unlock(7810198402634810713)`
  other.release()
  expect((await migration).shardCount).toBe(8)
})

test('an invalid number of shards is refused, and an unreachable server is unavailable', async () => {
  for (const shardCount of [0, 1.5, 65_537]) {
    await expect(migrate(database.url, { ...options, shardCount })).rejects.toThrow(MigrationRefused)
  }
  const unreachable = new URL(database.url)
  unreachable.port = '1'
  await expect(migrate(unreachable.toString(), options)).rejects.toThrow(LedgerStoreUnavailable)
})
