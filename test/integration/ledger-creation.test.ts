/** Goal: a ledger is made, and taken over from an earlier version, under its own master key alone. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LedgerSecretName, sealLedgerSecret } from '../../infra/keys/ledger-seals.ts'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { createMasterSeal } from '../../infra/keys/master-seal.ts'
import { publicJwkOf, thumbprintOf } from '../../infra/keys/public-key.ts'
import { createDerivation } from '../../infra/keys/root-secret.ts'
import { createServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { type KeyRing, ringOfPart } from '../../infra/keys/wrapping-keys.ts'
import { createOrMigrate } from '../../infra/main/ledger-creation.ts'
import { openLedgerSecrets } from '../../infra/main/ledger-secrets.ts'
import { MIGRATIONS } from '../../infra/postgres/migrations.ts'
import { createServiceKeys } from '../../infra/postgres/service-keys-postgres.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { KEY_PURPOSES, SERVICE_KEY_PURPOSES } from '../../runtime/ports/service-keys.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'

/** Of version 0.7.8. */
const BEFORE_PURPOSES = 12
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

function newMasterKeys(): KeyRing {
  return { current: readMasterKey(randomBytes(32).toString('base64url')), previous: [] }
}

/** Like version 0.7.8: all service keys under one wrapping key. Returns the private keys by their ID. */
async function makeLedgerOf078(masterKeys: KeyRing, root: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  await sql`CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  for (const { version, name, sql: text, prepare } of MIGRATIONS.filter((one) => one.version <= BEFORE_PURPOSES)) {
    await sql.begin(async (transaction) => {
      await prepare?.(transaction, { masterKeys })
      await transaction.unsafe(text)
      await transaction`INSERT INTO schema_migrations (version, name) VALUES (${version}, ${name})`
    })
  }
  const sealed = (name: LedgerSecretName, secret: Buffer = randomBytes(32)) =>
    sealLedgerSecret(masterKeys, name, secret)
  await sql`
    INSERT INTO ledger (ledger_id, shard_count, sealed_shard_secret, sealed_root_secret, sealed_index_secret, encryption,
      created_at)
    VALUES ('0.7.8', 4, ${sealed('shard-secret')}, ${sealed('root-secret', root)},
      ${sealed('index-secret-of-encrypted')}, 'on', now())`
  await sql`INSERT INTO shards (shard_id) SELECT generate_series(0, 3)`
  const made = new Map<string, Buffer>()
  for (const purpose of SERVICE_KEY_PURPOSES) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicJwkOf(privateKey)
    const keyId = thumbprintOf(jwk)
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
    made.set(keyId, pkcs8)
    const sealedKey = createMasterSeal(masterKeys, 'service-keys').seal(['service-key', purpose, keyId], pkcs8)
    await sql`
      INSERT INTO service_keys (key_id, purpose, x, y, sealed_private_key, active_from, created_at)
      VALUES (${keyId}, ${purpose}, ${jwk.x}, ${jwk.y}, ${sealedKey}, now(), now())`
  }
  return made
}

async function version(): Promise<unknown> {
  const [row] = await sql`SELECT max(version) AS version FROM schema_migrations`
  return row?.['version']
}

test('a new ledger has a root secret of its own, which is not its master key', async () => {
  const masterKeys = newMasterKeys()
  const { derive } = openLedgerSecrets(masterKeys, await createOrMigrate(database.url, masterKeys, 4, 'on'))
  const ofMasterKey = createDerivation(masterKeys.current.master?.export() ?? randomBytes(32))
  expect(derive('page-tokens')).not.toEqual(ofMasterKey('page-tokens'))
  const again = await createOrMigrate(database.url, masterKeys, undefined, 'on')
  expect(openLedgerSecrets(masterKeys, again).derive('page-tokens')).toEqual(derive('page-tokens'))
})

test('the service keys of a 0.7.8 ledger remain, each only for the part that uses it; so does its root secret', async () => {
  const [masterKeys, root] = [newMasterKeys(), randomBytes(32)]
  const made = await makeLedgerOf078(masterKeys, root)
  const ledger = await createOrMigrate(database.url, masterKeys, undefined, 'on')
  expect(ledger).toMatchObject({ ledgerId: '0.7.8', shardCount: 4 })
  const secrets = openLedgerSecrets(masterKeys, ledger)
  expect(secrets.derive('page-tokens')).toEqual(createDerivation(Buffer.from(root))('page-tokens'))
  const open = async (ring: KeyRing) => {
    const keys = await createServiceKeys({
      url: database.url,
      seals: createServiceKeySeals(ring),
      clock: createSystemClock(),
    })
    await keys.close()
    return keys
  }
  const [node, edge] = [await open(ringOfPart(masterKeys, 'node')), await open(ringOfPart(masterKeys, 'edge'))]
  const ids = [edge.imports.current().keyId, ...edge.published().map(({ keyId }) => keyId)]
  expect(ids.sort()).toEqual([...made.keys()].sort())
  for (const purpose of KEY_PURPOSES) {
    const keys = purpose === 'receipt' ? node : edge
    const keyId = keys.current(purpose)
    const [signature = ''] = await keys.sign(keyId, ['{}'])
    const key = createPrivateKey({ key: made.get(keyId) ?? '', format: 'der', type: 'pkcs8' })
    expect(verify('sha256', Buffer.from('{}'), createPublicKey(key), Buffer.from(signature, 'base64'))).toBe(true)
  }
  const columns = await sql<{ column_name: string }[]>`
    SELECT column_name FROM information_schema.columns WHERE table_name = 'service_keys'`
  expect(columns.map((row) => row.column_name)).not.toContain('sealed_private_key')
})

test('the service keys of a 0.7.8 ledger stay unchanged while the master key of one of them is missing', async () => {
  const [earlier, later] = [newMasterKeys(), newMasterKeys()]
  await makeLedgerOf078(later, randomBytes(32))
  const pkcs8 = randomBytes(138)
  const sealedKey = createMasterSeal(earlier, 'service-keys').seal(['service-key', 'token', 'old'], pkcs8)
  await sql`
    INSERT INTO service_keys (key_id, purpose, x, y, sealed_private_key, active_from, created_at)
    VALUES ('old', 'token', 'x', 'y', ${sealedKey}, 'epoch', 'epoch')`
  await expect(createOrMigrate(database.url, later, undefined, 'on')).rejects.toThrow(
    `sealed under an earlier master key: set LEDGER_PREVIOUS_MASTER_KEY to it (none of the master keys of this process (${later.current.masterKeyId})`,
  )
  const [left] = await sql<
    { sealed: Buffer }[]
  >`SELECT sealed_private_key AS sealed FROM service_keys WHERE key_id = 'old'`
  expect(left?.sealed).toEqual(sealedKey)
  const both: KeyRing = { current: later.current, previous: [earlier.current] }
  await createOrMigrate(database.url, both, undefined, 'on')
  const [row] = await sql<{ sealed: Buffer }[]>`SELECT sealed FROM edge_private_keys WHERE key_id = 'old'`
  const key = { purpose: 'token', keyId: 'old', x: 'x', y: 'y' } as const
  expect(createServiceKeySeals(later).open(key, row?.sealed ?? Buffer.alloc(0)).secret).toEqual(pkcs8)
})

test('under another master key nothing of a ledger is changed, whatever its version', async () => {
  const [owner, other] = [newMasterKeys(), newMasterKeys()]
  await makeLedgerOf078(owner, randomBytes(32))
  await expect(createOrMigrate(database.url, other, undefined, 'on')).rejects.toThrow(REFUSED)
  expect(await version()).toBe(BEFORE_PURPOSES)
  await createOrMigrate(database.url, owner, undefined, 'on')
  await expect(createOrMigrate(database.url, other, undefined, 'on')).rejects.toThrow(REFUSED)
})
