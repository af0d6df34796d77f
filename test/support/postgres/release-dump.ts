/**
 * A ledger as a release wrote it, in a file: the rows of its tables, and what its clients know. Tables are made by the steps of the
 * schema that the release had, which never change.
 */
import { createPrivateKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import postgres from 'postgres'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import type { KeyRing } from '../../../infra/keys/wrapping-keys.ts'
import { MIGRATIONS } from '../../../infra/postgres/migrations/migrations.ts'
import type { Party } from '../audited-ledger.ts'
import { createLedgerDatabase, type LedgerDatabase, TEST_MASTER_KEY_TEXT } from './ledger-database.ts'

/** The servers that a ledger may run on: another than that of the release, as after a restore. */
const OF_THE_SERVER = ['accepted_servers', 'sessions']

interface Contents {
  readonly schema: number
  readonly masterKey: string
  readonly ledgerId: string
  /** By account ID: its private key (PKCS #8, PEM), and its balances by token. */
  readonly accounts: Readonly<
    Record<string, { readonly key: string; readonly balances: Readonly<Record<string, string>> }>
  >
  /** By name: rows as a JSON array. */
  readonly tables: Readonly<Record<string, string>>
}

export interface Release extends Omit<Contents, 'tables' | 'masterKey' | 'accounts'> {
  readonly database: LedgerDatabase
  readonly masterKeys: KeyRing
  readonly parties: readonly (Party & { readonly balances: Readonly<Record<string, string>> })[]
}

export async function writeRelease(
  path: string,
  url: string,
  { ledgerId, accounts }: Pick<Contents, 'ledgerId' | 'accounts'>,
): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  const tables: Record<string, string> = {}
  const found = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`
  for (const { name } of found.filter((table) => !OF_THE_SERVER.includes(table.name))) {
    const [row] = await sql<{ rows: string | null }[]>`SELECT json_agg(t)::text AS rows FROM ${sql(name)} t`
    if (row !== undefined && row.rows !== null) tables[name] = row.rows
  }
  await sql.end()
  const masterKey = TEST_MASTER_KEY_TEXT
  const contents: Contents = { schema: MIGRATIONS.at(-1)?.version ?? 0, masterKey, ledgerId, accounts, tables }
  writeFileSync(path, gzipSync(JSON.stringify(contents), { level: 9 }))
}

/** In a database of its own, as the release left it: not migrated. */
export async function restoreRelease(path: string): Promise<Release> {
  const contents = JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as Contents
  const database = await createLedgerDatabase({ migrated: false })
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  await sql`CREATE TABLE schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  for (const step of MIGRATIONS) if (step.version <= contents.schema) await sql.unsafe(step.sql)
  for (const [name, rows] of Object.entries(contents.tables)) {
    // Some steps insert a row.
    await sql`TRUNCATE ${sql(name)}`
    await sql`INSERT INTO ${sql(name)} SELECT * FROM json_populate_recordset(NULL::${sql(name)}, ${rows}::text::json)`
  }
  // Rows say which transactions of the server wrote them: those of this one come after.
  const [newest] = await sql<{ xid: string }[]>`SELECT coalesce(max(commit_xid), '0'::xid8)::text AS xid FROM commits`
  for (;;) {
    const [row] = await sql<{ xid: string }[]>`SELECT pg_current_xact_id()::text AS xid`
    if (row === undefined || BigInt(row.xid) > BigInt(newest?.xid ?? 0)) break
  }
  await sql.end()
  const parties = Object.entries(contents.accounts).map(([accountId, { key, balances }]) => ({
    accountId,
    keys: { privateKey: createPrivateKey(key), jwk: {} },
    balances,
  }))
  const { schema, ledgerId, masterKey } = contents
  return { schema, ledgerId, database, parties, masterKeys: { current: readMasterKey(masterKey), previous: [] } }
}
