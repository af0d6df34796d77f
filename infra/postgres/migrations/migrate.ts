/**
 * Brings a database to the schema of this program and makes the ledger in it, once.
 *   M1. Any number of processes may run it at once: one works, the others wait and find it done.
 *   M2. A ledger keeps the ID, the number of shards, the secret that assigns accounts to shards, and the index of amounts
 *       with which it was created: rows are found by them.
 *   M3. A schema that is newer than the program, or from before the baseline, is left alone.
 *   M4. No step waits long for a lock: behind a waiting ALTER every commit would wait too.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { MAX_SHARDS } from '../../../actors/identifiers.ts'
import { type LedgerSecretName, sealLedgerSecret } from '../../keys/ledger-seals.ts'
import type { KeyRing } from '../../keys/wrapping-keys.ts'
import { acceptFirstServer } from '../connection/accepted-servers.ts'
import { connect, type Sql } from '../connection/connection.ts'
import { codeOf, unavailable } from '../connection/failure.ts'
import type { AmountIndex } from '../../vault/row-vault.ts'
import { createFirstKeys } from '../../vault/first-keys.ts'
import { createKeyWrapping } from '../../vault/key-wrapping.ts'
import { type Migration, MIGRATIONS } from './migrations.ts'
import { grantToRoles } from './roles.ts'
import { isSessionHeld } from '../store/sessions.ts'

export interface MigrateOptions {
  readonly shardCount: number
  /** Of a ledger that is to be made; a new UUID when left out. An existing one must have it. */
  readonly ledgerId?: string
  /** An existing ledger must have it; undefined: that of the ledger, or of a new one `account`. */
  readonly amountIndex?: AmountIndex | undefined
  readonly masterKeys: KeyRing
}

export interface LedgerRecord {
  readonly ledgerId: string
  readonly shardCount: number
  readonly amountIndex: AmountIndex
  readonly sealedShardSecret: Buffer
  readonly sealedRootSecret: Buffer
  readonly sealedMessageSecret: Buffer
  readonly sealedIndexSecret: Buffer
}

/** The database is sound and the answer is no: another number of shards, another ledger, another schema. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
}

const SECRET_BYTES = 32
const DEFAULT_AMOUNT_INDEX: AmountIndex = 'account'
/** 'ledger migrate' in a key of 64 bits that no session's hash is made from. */
const MIGRATION_LOCK = '7810198402634810713'
const MIGRATION_LOCK_WAIT_MS = 60_000
const MIGRATION_LOCK_POLL_MS = 50
/** A step that meets a locked table gives up after 200 ms and tries again. */
const STEP_LOCK_TIMEOUT = '200ms'
const STEP_TRIES = 50
const LOCK_NOT_AVAILABLE = '55P03'
/** `RAISE EXCEPTION` in a step: a precondition of the step fails. */
const RAISED_BY_STEP = 'P0001'
const MIGRATIONS_TABLE = `
CREATE TABLE IF NOT EXISTS schema_migrations (
  version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`

/** The name of the first step of every schema from before the baseline. */
const FIRST_STEP_BEFORE_BASELINE = 'initial'

/**
 * Throws `MigrationRefused`, or `LedgerStoreUnavailable` when PostgreSQL fails. Completed steps stay. `steps`: for tests.
 */
export async function migrate(
  url: string,
  options: MigrateOptions,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<LedgerRecord> {
  if (!Number.isInteger(options.shardCount) || options.shardCount < 1 || options.shardCount > MAX_SHARDS) {
    throw new MigrationRefused(`the number of shards must be from 1 to ${MAX_SHARDS}, not ${options.shardCount}`)
  }
  return onConnection(url, 'ledger:migrate', async (sql) => {
    await takeMigrationLock(sql)
    await refuseEarlierSchema(sql)
    await sql.unsafe(MIGRATIONS_TABLE)
    const applied = await newestVersion(sql, steps)
    await refuseDifference(sql, options)
    const missing = steps.filter(({ version }) => version > applied)
    if (applied > 0 && missing.some(({ alone }) => alone)) await refuseLiveNodes(sql)
    for (const migration of missing) await applyStep(sql, migration)
    await createLedger(sql, options)
    await acceptFirstServer(sql)
    await grantToRoles(sql)
    const record = await readLedger(sql, steps)
    if (record === undefined) throw new Error('the ledger is not there after it was made')
    return record
  })
}

/**
 * The ledger in a database; undefined when it was never migrated, or not up to this program's schema. Throws
 * `MigrationRefused` (M3).
 */
export async function readLedger(
  sql: Sql,
  steps: readonly Migration[] = MIGRATIONS,
): Promise<LedgerRecord | undefined> {
  await refuseEarlierSchema(sql)
  if (!(await hasTable(sql, 'schema_migrations')) || !(await hasTable(sql, 'ledger'))) return undefined
  if ((await newestVersion(sql, steps)) < newestOf(steps)) return undefined
  const [row] = await sql<LedgerRecord[]>`
    SELECT ledger_id AS "ledgerId", shard_count AS "shardCount", amount_index AS "amountIndex",
           sealed_shard_secret AS "sealedShardSecret", sealed_root_secret AS "sealedRootSecret",
           sealed_message_secret AS "sealedMessageSecret", sealed_index_secret AS "sealedIndexSecret"
      FROM ledger`
  return row
}

/**
 * The properties of a ledger that are fixed at its creation, whatever the version of its schema since the baseline;
 * undefined: there is none. Throws `MigrationRefused` (M3).
 */
export async function readFoundationAt(url: string): Promise<Foundation | undefined> {
  return onConnection(url, 'ledger:look', async (sql) => {
    await refuseEarlierSchema(sql)
    if (!(await hasTable(sql, 'ledger'))) return undefined
    const [row] = await sql<Foundation[]>`
      SELECT shard_count AS "shardCount", sealed_shard_secret AS "sealedShardSecret" FROM ledger`
    return row
  })
}

type Foundation = Pick<LedgerRecord, 'shardCount' | 'sealedShardSecret'>

/** M3, on a connection of its own. Throws `MigrationRefused`. */
export async function refuseEarlierSchemaAt(url: string): Promise<void> {
  await onConnection(url, 'ledger:look', refuseEarlierSchema)
}

/** M3. Throws `MigrationRefused`. */
async function refuseEarlierSchema(sql: Sql): Promise<void> {
  if (!(await hasTable(sql, 'schema_migrations'))) return
  const [first] = await sql<{ name: string }[]>`SELECT name FROM schema_migrations WHERE version = 1`
  if (first?.name !== FIRST_STEP_BEFORE_BASELINE) return
  throw new MigrationRefused(
    'the database was made by version 0.7 or earlier of this program: export the ledger with that version, and import it ' +
      'into a new database with this one',
  )
}

async function hasTable(sql: Sql, name: string): Promise<boolean> {
  const [found] = await sql<{ made: boolean }[]>`SELECT to_regclass(${name}::text) IS NOT NULL AS made`
  return found?.made === true
}

/** `readLedger` on a connection of its own. */
export async function readLedgerAt(url: string): Promise<LedgerRecord | undefined> {
  return onConnection(url, 'ledger:look', readLedger)
}

async function onConnection<T>(url: string, applicationName: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  try {
    const connection = await connect({ url, applicationName, settings: { lock_timeout: STEP_LOCK_TIMEOUT } })
    try {
      return await work(connection.sql)
    } finally {
      await connection.end()
    }
  } catch (cause) {
    if (cause instanceof MigrationRefused) throw cause
    if (cause instanceof postgres.PostgresError && cause.code === RAISED_BY_STEP) {
      throw new MigrationRefused(cause.message, { cause })
    }
    throw unavailable(cause)
  }
}

/** Held until the connection ends. Polled, because a wait for it would be a wait under `lock_timeout`. */
async function takeMigrationLock(sql: Sql): Promise<void> {
  const deadlineMs = performance.now() + MIGRATION_LOCK_WAIT_MS
  for (;;) {
    const [row] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${MIGRATION_LOCK}::bigint) AS taken`
    if (row?.taken === true) return
    if (performance.now() > deadlineMs)
      throw new MigrationRefused('another process is migrating this database and does not end')
    await pause(MIGRATION_LOCK_POLL_MS)
  }
}

/** Nodes of an earlier program would go on writing what this one does not read. */
async function refuseLiveNodes(sql: Sql): Promise<void> {
  const sessions = await sql<{ session: string; node_id: string | null }[]>`
    SELECT DISTINCT session, node_id FROM shards WHERE session IS NOT NULL`
  for (const { session, node_id: nodeId } of sessions) {
    if (!(await isSessionHeld(sql, session))) continue
    throw new MigrationRefused(`node ${nodeId ?? session} of an earlier version runs: stop all nodes and edges first`)
  }
}

async function newestVersion(sql: Sql, steps: readonly Migration[]): Promise<number> {
  const [row] = await sql<{ version: number }[]>`SELECT coalesce(max(version), 0) AS version FROM schema_migrations`
  const version = row?.version ?? 0
  const known = newestOf(steps)
  if (version > known) {
    throw new MigrationRefused(
      `the database has schema version ${version}, this program knows ${known}: run a newer program`,
    )
  }
  return version
}

function newestOf(steps: readonly Migration[]): number {
  return Math.max(...steps.map(({ version }) => version))
}

async function applyStep(sql: Sql, migration: Migration): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await sql.begin(async (transaction) => {
        await transaction.unsafe(migration.sql)
        await transaction`INSERT INTO schema_migrations (version, name) VALUES (${migration.version}, ${migration.name})`
      })
      return
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || tries === STEP_TRIES) throw error
      await pause(MIGRATION_LOCK_POLL_MS)
    }
  }
}

/** M2: nothing when there is one. */
async function createLedger(sql: Sql, options: MigrateOptions): Promise<void> {
  await sql.begin(async (transaction) => {
    const existing = await transaction`SELECT 1 FROM ledger`
    if (existing.length > 0) return
    const { masterKeys } = options
    const sealed = (name: LedgerSecretName): Buffer => sealLedgerSecret(masterKeys, name, randomBytes(SECRET_BYTES))
    await transaction`
      INSERT INTO ledger (ledger_id, shard_count, amount_index, sealed_shard_secret, sealed_root_secret,
                          sealed_message_secret, sealed_index_secret, created_at)
      VALUES (${options.ledgerId ?? randomUUID()}, ${options.shardCount}, ${options.amountIndex ?? DEFAULT_AMOUNT_INDEX},
              ${sealed('shard-secret')}, ${sealed('root-secret')}, ${sealed('message-secret')}, ${sealed('index-secret')}, now())`
    await createFirstKeys(transaction, createKeyWrapping(masterKeys), options.shardCount)
    await transaction`INSERT INTO shards (shard_id) SELECT generate_series(0, ${options.shardCount - 1}::integer)`
  })
}

/** M2: compares with an existing ledger of any schema version. No other process creates one meanwhile (M1). */
async function refuseDifference(sql: Sql, options: MigrateOptions): Promise<void> {
  if (!(await hasTable(sql, 'ledger'))) return
  const [found] = await sql<Pick<LedgerRecord, 'ledgerId' | 'shardCount' | 'amountIndex'>[]>`
    SELECT ledger_id AS "ledgerId", shard_count AS "shardCount", amount_index AS "amountIndex" FROM ledger`
  if (found === undefined) return
  if (found.shardCount !== options.shardCount) {
    throw new MigrationRefused(
      `the ledger was created with ${found.shardCount} shards, this program is set to ${options.shardCount}: ` +
        'the number is fixed when a ledger is created',
    )
  }
  if (options.ledgerId !== undefined && found.ledgerId !== options.ledgerId) {
    throw new MigrationRefused(`the database holds ledger ${found.ledgerId}, not ${options.ledgerId}`)
  }
  if (options.amountIndex !== undefined && found.amountIndex !== options.amountIndex) {
    throw new MigrationRefused(otherAmountIndex(options.amountIndex, found.amountIndex))
  }
}

/** Why a program that is set to `wanted` does not run on a ledger made with `found`. */
export function otherAmountIndex(wanted: AmountIndex, found: AmountIndex): string {
  return (
    `LEDGER_AMOUNT_INDEX is ${wanted}, but the ledger was created with ${found}, which is fixed: ` +
    `set it to ${found} or leave it out`
  )
}
