/** Goal: a ledger is made, and taken over from an earlier version, under its own master key alone. */
import { hkdfSync, randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sealLedgerSecret } from '../../infra/keys/ledger-seals.ts'
import { type MasterKeys, readMasterKey } from '../../infra/keys/master-key.ts'
import { createOrMigrate } from '../../infra/main/ledger-creation.ts'
import { openLedgerSecrets } from '../../infra/main/ledger-secrets.ts'
import { MIGRATIONS } from '../../infra/postgres/migrations.ts'
import { rotateMasterKey } from '../../infra/vault/master-key-rotation.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'

/** The last version without a root secret. */
const WITHOUT_ROOT = 9
const REFUSED = /not the one that the secrets of this ledger are sealed under/

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

function newMasterKeys(): MasterKeys {
  return { current: readMasterKey(randomBytes(32).toString('base64url')), previous: [] }
}

async function makeEarlierLedger(masterKeys: MasterKeys, shardCount: number): Promise<void> {
  await sql`CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  for (const { version, name, sql: text } of MIGRATIONS.filter((migration) => migration.version <= WITHOUT_ROOT)) {
    await sql.unsafe(text)
    await sql`INSERT INTO schema_migrations (version, name) VALUES (${version}, ${name})`
  }
  const sealed = sealLedgerSecret(masterKeys, 'shard-secret', randomBytes(32))
  await sql`
    INSERT INTO ledger (ledger_id, shard_count, sealed_shard_secret, created_at)
    VALUES ('earlier', ${shardCount}, ${sealed}, now())`
  await sql`INSERT INTO shards (shard_id) SELECT generate_series(0, ${shardCount - 1}::integer)`
}

async function version(): Promise<unknown> {
  const [row] = await sql`SELECT max(version) AS version FROM schema_migrations`
  return row?.['version']
}

test('a new ledger has a root secret of its own, which is not its master key', async () => {
  const masterKeys = newMasterKeys()
  const { derive } = openLedgerSecrets(masterKeys, await createOrMigrate(database.url, masterKeys, 4, 'on'))
  expect(derive('page-tokens')).not.toEqual(derivedEarlier(masterKeys))
  const again = await createOrMigrate(database.url, masterKeys, undefined, 'on')
  expect(openLedgerSecrets(masterKeys, again).derive('page-tokens')).toEqual(derive('page-tokens'))
})

test('a ledger of an earlier version keeps its shards and every derived key, before and after its master key is rotated', async () => {
  const [earlier, next] = [newMasterKeys(), newMasterKeys()]
  await makeEarlierLedger(earlier, 4)
  const ledger = await createOrMigrate(database.url, earlier, undefined, 'on')
  expect(ledger).toMatchObject({ ledgerId: 'earlier', shardCount: 4 })
  expect(openLedgerSecrets(earlier, ledger).derive('page-tokens')).toEqual(derivedEarlier(earlier))
  await rotateMasterKey(sql, { current: next.current, previous: [earlier.current] })
  const rotated = await createOrMigrate(database.url, next, undefined, 'on')
  expect(openLedgerSecrets(next, rotated).derive('page-tokens')).toEqual(derivedEarlier(earlier))
})

test('a ledger of an earlier version is taken over with the new master key and the one before at once', async () => {
  const [earlier, next] = [newMasterKeys(), newMasterKeys()]
  await makeEarlierLedger(earlier, 4)
  const both: MasterKeys = { current: next.current, previous: [earlier.current] }
  const ledger = await createOrMigrate(database.url, both, 4, 'on')
  expect(openLedgerSecrets(both, ledger).derive('page-tokens')).toEqual(derivedEarlier(earlier))
})

test('under another master key nothing of a ledger is changed, whatever its version', async () => {
  const [owner, other] = [newMasterKeys(), newMasterKeys()]
  await makeEarlierLedger(owner, 4)
  await expect(createOrMigrate(database.url, other, undefined, 'on')).rejects.toThrow(REFUSED)
  expect(await version()).toBe(WITHOUT_ROOT)
  await createOrMigrate(database.url, owner, undefined, 'on')
  await expect(createOrMigrate(database.url, other, undefined, 'on')).rejects.toThrow(REFUSED)
})

/** As it was while there was no root secret. */
function derivedEarlier({ current }: MasterKeys): Buffer {
  return Buffer.from(hkdfSync('sha256', current, '', 'ledger/page-tokens/1', 32))
}
