/** Only the master key of a ledger opens it. A database from before the schema baseline is refused. */
import { createSecretKey, randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDerivation } from '../../infra/keys/root-secret.ts'
import { type KeyRing, wrappingKeysOf } from '../../infra/keys/wrapping-keys.ts'
import { createOrMigrate } from '../../infra/ledger/ledger-creation.ts'
import { findLedger } from '../../infra/ledger/ledger-found.ts'
import { main } from '../../infra/main/ledger.ts'
import { openLedgerSecrets } from '../../infra/ledger/ledger-secrets.ts'
import { migrate, MigrationRefused, readLedgerAt } from '../../infra/postgres/migrations/migrate.ts'
import { createLedgerDatabase, type LedgerDatabase, TEST_MASTER_KEY_TEXT } from '../support/postgres/ledger-database.ts'
import { silentIo } from '../unit/cli/silent-io.ts'
import { SILENT } from '../support/postgres/ledger-store-postgres.ts'

const REFUSED = /not the one that seals the secrets of this ledger/

let database: LedgerDatabase
let sql: postgres.Sql
beforeEach(async () => {
  database = await createLedgerDatabase({ migrated: false })
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
})
afterEach(async () => {
  await sql.end()
  await database.drop()
})

function newMasterKeys(bytes: Buffer = randomBytes(32)): KeyRing {
  return { current: wrappingKeysOf(createSecretKey(bytes)), previous: [] }
}

async function contents(): Promise<unknown> {
  const relations = await sql<{ name: string; kind: string }[]>`
    SELECT relname AS name, relkind AS kind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`
  const functions = await sql`SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`
  const rows: [string, unknown][] = []
  for (const { name } of relations.filter(({ kind }) => kind === 'r')) {
    rows.push([name, await sql`SELECT t::text FROM ${sql(name)} t ORDER BY 1`])
  }
  return { relations, functions, rows }
}

test('a new ledger has a root secret of its own, which is not its master key', async () => {
  const bytes = randomBytes(32)
  const masterKeys = newMasterKeys(bytes)
  const { derive } = openLedgerSecrets(masterKeys, await createOrMigrate(database.url, masterKeys, { shards: 4 }))
  const ofMasterKey = createDerivation(Buffer.from(bytes))
  expect(derive('page-tokens')).not.toEqual(ofMasterKey('page-tokens'))
  const again = await createOrMigrate(database.url, masterKeys, {})
  expect(openLedgerSecrets(masterKeys, again).derive('page-tokens')).toEqual(derive('page-tokens'))
})

test('a start with another master key is refused and changes nothing', async () => {
  const [owner, other] = [newMasterKeys(), newMasterKeys()]
  await createOrMigrate(database.url, owner, { shards: 4 })
  await sql`UPDATE schema_migrations SET name = 'none of ours'`
  const before = await contents()
  await expect(createOrMigrate(database.url, other, {})).rejects.toThrow(REFUSED)
  expect(await contents()).toEqual(before)
})

const REMEDY =
  'the database was made by version 0.7 or earlier of this program: export the ledger with that version, and import it ' +
  'into a new database with this one'

describe('a database from before the schema baseline', () => {
  let before: unknown
  beforeEach(async () => {
    await sql`CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    await sql`INSERT INTO schema_migrations (version, name) VALUES (1, 'initial'), (18, 'store positions')`
    await sql`CREATE TABLE ledger (ledger_id text NOT NULL, shard_count integer NOT NULL, sealed_shard_secret bytea NOT NULL)`
    await sql`INSERT INTO ledger (ledger_id, shard_count, sealed_shard_secret) VALUES ('ledger-1', 4, '\\x00')`
    before = await contents()
  })

  test.for<readonly [string, () => Promise<unknown>]>([
    ['the launcher', () => createOrMigrate(database.url, newMasterKeys(), {})],
    ['the launcher with another number of shards', () => createOrMigrate(database.url, newMasterKeys(), { shards: 8 })],
    ['the migration', () => migrate(database.url, { shardCount: 4, masterKeys: newMasterKeys() })],
    ['a read of the ledger record', () => readLedgerAt(database.url)],
    ['a node, an edge or the auditor', () => findLedger(database.url, SILENT, () => false)],
  ])('is refused by %s with the remedy, and is not changed', async ([, open]) => {
    await expect(open()).rejects.toThrow(new MigrationRefused(REMEDY))
    expect(await contents()).toEqual(before)
  })

  test.for([
    ['migrate'],
    ['shards'],
    ['drain', 'node-1'],
    ['accept-server', '--yes'],
    ['client', 'list'],
    ['keys', 'rotate', '--purpose', 'token'],
    ['keys', 'rotate-master'],
    ['checkpoint', 'saved'],
    ['verify', '--checkpoint', 'saved'],
  ])('is refused by ledger %s in one line', async (args) => {
    let said = ''
    const code = await main(
      args,
      silentIo({
        env: { LEDGER_DATABASE_URL: database.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT },
        cwd: '.',
        out: (text) => (said += text),
        err: (text) => (said += text),
      }),
    )
    expect([code, said.replace(/^ledger [a-z -]+: /, '')]).toEqual([1, `${REMEDY}\n`])
    expect(await contents()).toEqual(before)
  })
})
