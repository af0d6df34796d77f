/**
 * Goal: a backup of the release before, restored on another server, opens with all that it held, and the ledger goes on.
 * The directory releases/ holds a dump of that release and the replies that it gave. Both were made by running it.
 */
import { spawn } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'
import { buildOnce, type Client, freshDirectory, LedgerUp, PROGRAM, runLedger, until } from './start-harness.ts'

interface Release {
  readonly masterKey: string
  readonly clients: readonly object[]
  /** PKCS #8 in PEM, by account. */
  readonly keys: Readonly<Record<'alice' | 'bob', string>>
  /** The ID of alice's exchange of 2 GOLD, whose mirror never came. */
  readonly waiting: string
  /** By path. */
  readonly reads: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const VERSION = '0.7.8'
const SCHEMA_BEFORE = 12
/** The last step but one: the test stops the migration there. */
const SCHEMA_STOPPED_AT = 17

const file = (name: string): string =>
  gunzipSync(readFileSync(new URL(`releases/${VERSION}.${name}.gz`, import.meta.url))).toString('utf8')
const release = JSON.parse(file('json')) as Release

let database: LedgerDatabase
let dataDir: string
let env: Record<string, string>
let sql: postgres.Sql
let ledger: LedgerUp | undefined

beforeAll(async () => {
  await buildOnce()
  ;[database, dataDir] = await Promise.all([createLedgerDatabase({ migrated: false }), freshDirectory()])
  await writeFile(join(dataDir, 'master.key'), release.masterKey, { mode: 0o600 })
  await writeFile(join(dataDir, 'clients.json'), JSON.stringify(release.clients), { mode: 0o600 })
  env = {
    LEDGER_DATABASE_URL: database.url,
    LEDGER_DATA_DIR: dataDir,
    LEDGER_MASTER_KEY: release.masterKey,
    LEDGER_SHARDS: '4',
  }
  const loader = postgres(database.url, { max: 1, onnotice: () => undefined })
  await loader.unsafe(file('sql'))
  await loader.end()
  sql = postgres(database.url, { max: 3, onnotice: () => undefined })
})
afterAll(async () => {
  await ledger?.destroy()
  await sql.end()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

async function schemaVersion(): Promise<unknown> {
  const [row] = await sql`SELECT max(version) AS version FROM schema_migrations`
  return row?.['version']
}

test('a migration that is killed between two steps is finished by the next', async () => {
  expect(await schemaVersion()).toBe(SCHEMA_BEFORE)
  const lock = await sql.reserve()
  await lock`BEGIN`
  await lock`LOCK TABLE accepted_servers IN ACCESS SHARE MODE`
  const migration = spawn(process.execPath, [PROGRAM, 'migrate'], { env: { ...process.env, ...env }, stdio: 'ignore' })
  await until('all steps but the last are done', async () =>
    (await schemaVersion()) === SCHEMA_STOPPED_AT ? true : undefined,
  )
  migration.kill('SIGKILL')
  await once(migration, 'exit')
  await lock`ROLLBACK`
  lock.release()
  expect(await schemaVersion()).toBe(SCHEMA_STOPPED_AT)
  expect((await runLedger(['migrate'], env)).code).toBe(0)
  expect(await schemaVersion()).toBe(SCHEMA_STOPPED_AT + 1)
})

test('the server is refused until an administrator accepts it', async () => {
  const asked = await runLedger(['accept-server'], env)
  expect(asked).toMatchObject({ code: 1, err: expect.stringMatching(/^server \d+, timeline \d+ is not accepted/) })
  expect((await runLedger(['accept-server', '--yes'], env)).code).toBe(0)
  ledger = await LedgerUp.start(dataDir, { env })
})

test('all that the release replied is replied again: accounts, chains, receipts, groups, NFTs, keys', async () => {
  const admin = await client('admin')
  const paths = Object.keys(release.reads)
  expect(paths.length).toBeGreaterThan(50)
  for (const path of paths) expect((await admin.get(path)).body, path).toMatchObject(release.reads[path] ?? {})
})

test('its receipts and chains verify against the keys that the ledger shows now', async () => {
  const admin = await client('admin')
  const jwks = await saved('jwks', (await admin.get('/.well-known/jwks.json')).body)
  const proofs = Object.entries(release.reads).filter(([path]) => /\/(?:receipt|audit-chain\?.*)$/.test(path))
  const files = await Promise.all(proofs.map(([, proof], index) => saved(`proof-${index}`, proof)))
  const verified = await runLedger(['verify', '--jwks', jwks, ...files])
  expect(verified).toMatchObject({ code: 0, err: '' })
})

test('what waited when the backup was made expires, and releases what it held', async () => {
  const admin = await client('admin')
  expect(await admin.final(release.waiting)).toMatchObject({ failure: { code: 'exchange_expired' } })
  const { body } = await admin.get('/v1/accounts/alice/balances/GOLD')
  expect(body['available']).toBe(body['balance'])
})

test('the ledger goes on: orders under the keys of that time continue the chains', async () => {
  const transactor = await client('transactor')
  const alice = { accountId: 'alice', privateKey: createPrivateKey(release.keys.alice) }
  const before = await transactor.balance('alice')
  const { status, body } = await transactor.credit(alice, '1', 'after the restore')
  expect(status).toBe(202)
  const transaction = await transactor.final(String(body['txn_id']))
  const chain = await transactor.get('/v1/accounts/alice/audit-chain?page_size=1000')
  const entries = chain.body['entries'] as readonly object[]
  const known = release.reads['/v1/accounts/alice/audit-chain?page_size=1000']?.['entries'] as readonly object[]
  expect(entries.slice(0, known.length)).toEqual(known)
  expect(entries.at(-1)).toMatchObject({ txn_id: transaction['txn_id'], audit_hash: transaction['audit_hash'] })
  expect(Number(await transactor.balance('alice'))).toBeCloseTo(Number(before) + 1, 9)
})

function client(role: 'transactor' | 'admin'): Promise<Client> {
  if (ledger === undefined) throw new Error('the ledger did not start')
  return ledger.client(role)
}

async function saved(name: string, content: unknown): Promise<string> {
  const path = join(dataDir, `${name}.json`)
  await writeFile(path, JSON.stringify(content))
  return path
}
