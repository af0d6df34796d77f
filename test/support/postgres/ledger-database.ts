/**
 * A database for each test, on one PostgreSQL server for each process that runs test files. It runs one at a time, so a
 * test that looks at all of the server sees nothing of others. The server is started with the first database, serves
 * the files that come after, and is ended after the last file of all.
 */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import type { KeyRing } from '../../../infra/keys/wrapping-keys.ts'
import { type LedgerSecrets, openLedgerSecrets } from '../../../infra/ledger/ledger-secrets.ts'
import { migrate, readLedgerAt } from '../../../infra/postgres/migrations/migrate.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { noteServer } from '../processes/server-notes.ts'
import { serverDirectory } from '../processes/test-directory.ts'

export interface LedgerDatabase {
  readonly url: string
  /** Ends what is connected to it and removes it. */
  readonly drop: () => Promise<void>
}

export interface LedgerDatabaseOptions {
  readonly shardCount?: number
  /** False: left empty. */
  readonly migrated?: boolean
}

/** Of a ledger whose test does not say how many it needs. */
export const DEFAULT_SHARD_COUNT = 16

let server: Promise<string> | undefined

/** Its URL. */
async function startServer(): Promise<string> {
  const dataDir = serverDirectory('ledger-test-')
  const { url, pid } = await startPostgres({ dataDir, sharedBuffersMb: 128 })
  noteServer(inject('serverNotes'), { pid, dataDir })
  // Feeds end sooner while it looks through a database. Copies are written to the log: it does not grow to gigabytes.
  await onServer(url, async (sql) => {
    await sql`ALTER SYSTEM SET autovacuum = off`
    await sql`ALTER SYSTEM SET max_wal_size = '256MB'`
    await sql`SELECT pg_reload_conf()`
  })
  return url
}

/** Names of ledgers with nothing in them, by their number of shards. */
const templates = new Map<string, Promise<string>>()

/** A database that holds a ledger with nothing in it. */
export async function createLedgerDatabase(options: LedgerDatabaseOptions = {}): Promise<LedgerDatabase> {
  server ??= startServer()
  const serverUrl = await server
  if (options.migrated === false) return createDatabase(serverUrl, 'template1')
  const { shardCount = DEFAULT_SHARD_COUNT } = options
  const kind = `template_${shardCount}`
  const template = templates.get(kind) ?? createTemplate(serverUrl, kind, shardCount)
  templates.set(kind, template)
  const database = await createDatabase(serverUrl, await template)
  await onServer(database.url, (sql) => sql`UPDATE ledger SET ledger_id = gen_random_uuid(), created_at = now()`)
  return database
}

/** The original must have no connections; it stays unchanged. */
export function copyDatabase(url: string): Promise<LedgerDatabase> {
  return createDatabase(urlOf(url, 'postgres'), new URL(url).pathname.slice(1))
}

async function createDatabase(serverUrl: string, template: string): Promise<LedgerDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(template)}`)
  const drop = (): Promise<void> => onServer(serverUrl, (sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`)
  return { url: urlOf(serverUrl, name), drop }
}

/** The migration has closed its connections, so that the database can be copied. */
async function createTemplate(serverUrl: string, name: string, shardCount: number): Promise<string> {
  await onServer(serverUrl, (sql) => sql`CREATE DATABASE ${sql(name)}`)
  await migrate(urlOf(serverUrl, name), { shardCount, masterKeys: TEST_MASTER_KEYS })
  return name
}

function urlOf(serverUrl: string, database: string): string {
  const address = new URL(serverUrl)
  address.pathname = `/${database}`
  return address.toString()
}

/** The master key of every ledger that `createLedgerDatabase` makes. */
export const TEST_MASTER_KEY_TEXT = randomBytes(32).toString('base64url')
export const TEST_MASTER_KEY = readMasterKey(TEST_MASTER_KEY_TEXT)
export const TEST_MASTER_KEYS: KeyRing = { current: TEST_MASTER_KEY, previous: [] }

/** How the rows of a database made here are read and written. */
export async function vaultOf(url: string): Promise<RowVault> {
  return (await secretsOf(url)).vault
}

export async function secretsOf(url: string, masterKeys: KeyRing = TEST_MASTER_KEYS): Promise<LedgerSecrets> {
  const ledger = await readLedgerAt(url)
  if (ledger === undefined) throw new Error('the database has no ledger')
  return openLedgerSecrets(masterKeys, ledger)
}

async function onServer(url: string, work: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
