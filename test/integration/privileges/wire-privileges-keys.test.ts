/**
 * With the role and part key of its deployment, a part does its own work. An attacker that controls its process cannot
 * obtain a private key or secret of another part.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import type { EmbeddedServer } from '../../../infra/embedded/server-process.ts'
import { loadMasterKey } from '../../../infra/keys/master-key.ts'
import { loadPartKey } from '../../../infra/keys/part-key.ts'
import { openSealed, type SealingContext } from '../../../infra/keys/sealing.ts'
import { createServiceKeySeals } from '../../../infra/keys/service-key-seals.ts'
import { type KeyRing, type Part, PARTS } from '../../../infra/keys/wrapping-keys.ts'
import { createOrMigrate } from '../../../infra/ledger/ledger-creation.ts'
import { openLedgerSecrets, openNodeSecrets, openVault } from '../../../infra/ledger/ledger-secrets.ts'
import type { LedgerRecord } from '../../../infra/postgres/migrations/migrate.ts'
import { createServiceKeys, type PostgresServiceKeys } from '../../../infra/postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../../infra/system/clock-system.ts'
import { LEDGER_KEY_NAME, shardKeyName } from '../../../infra/vault/key-name.ts'
import { KEY_PURPOSES, SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from '../../../runtime/ports/service-keys.ts'
import { makeDatabaseRoles, urlOf } from '../../support/postgres/database-roles.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'

const DENIED = '42501'

/** The part that may sign or open with private keys of each purpose. */
const HOLDER: Readonly<Record<ServiceKeyPurpose, Part>> = {
  receipt: 'node',
  token: 'edge',
  assertion: 'edge',
  attestation: 'edge',
  import: 'edge',
}

interface PrivateKey {
  readonly keyId: string
  readonly purpose: ServiceKeyPurpose
  readonly table: string
  readonly sealed: Buffer
}

let directory: string
let secrets: string
let server: EmbeddedServer
let address: string
let ledger: LedgerRecord
let privateKeys: readonly PrivateKey[]
const rings = new Map<Part, KeyRing>()
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-keys-'))
  secrets = makeSecrets([])
  server = await startPostgres({ dataDir: directory })
  address = await makeDatabaseRoles(server.url, secrets)
  const masterKeys = { current: await loadMasterKey(join(secrets, 'master.key')), previous: [] }
  ledger = await createOrMigrate(urlOf(address, secrets, 'owner'), masterKeys, { shards: 4 })
  for (const part of PARTS) rings.set(part, (await loadPartKey(join(secrets, `part-${part}.key`))).ring)
  // An attacker may have these from a copy of the database.
  privateKeys = await as('owner')<PrivateKey[]>`
    SELECT k.key_id AS "keyId", k.purpose, p.table, p.sealed
      FROM service_keys k
      JOIN (SELECT key_id, sealed, 'node_private_keys' AS table FROM node_private_keys
            UNION ALL SELECT key_id, sealed, 'edge_private_keys' FROM edge_private_keys) p USING (key_id)`
})
afterAll(async () => {
  await Promise.all(closing.map((close) => close()))
  await server?.stop()
  for (const made of [directory, secrets]) rmSync(made, { recursive: true, force: true })
})

function as(role: Part | 'owner'): postgres.Sql {
  const sql = postgres(urlOf(address, secrets, role), { max: 1, onnotice: () => undefined })
  closing.push(() => sql.end())
  return sql
}

function ringOf(part: Part): KeyRing {
  const ring = rings.get(part)
  if (ring === undefined) throw new Error(`${part} has no part key`)
  return ring
}

async function keysOf(part: Part): Promise<PostgresServiceKeys> {
  const keys = await createServiceKeys({
    url: urlOf(address, secrets, part),
    seals: createServiceKeySeals(ringOf(part)),
    clock: createSystemClock(),
  })
  closing.push(keys.close)
  return keys
}

/** Whether any key of the part opens the sealed bytes under any of the contexts. */
function opensAt(part: Part, sealed: Buffer, contexts: readonly SealingContext[]): boolean {
  const { current, previous } = ringOf(part)
  const held = [current, ...previous].flatMap(({ keys }) => Object.values(keys))
  return held.some((key) =>
    contexts.some((context) => {
      try {
        return openSealed(key, context, sealed).length > 0
      } catch {
        return false
      }
    }),
  )
}

test('the private key of each purpose is in the table of the part that uses it', () => {
  const places = privateKeys.map(({ purpose, table }) => `${purpose} ${table}`)
  expect(places.sort()).toEqual(
    SERVICE_KEY_PURPOSES.map((purpose) => `${purpose} ${HOLDER[purpose]}_private_keys`).sort(),
  )
})

describe.for(PARTS)('the %s', (part) => {
  test('can read only its own private keys in PostgreSQL, and change none', async () => {
    const sql = as(part)
    const outcomes: string[] = []
    for (const table of ['node_private_keys', 'edge_private_keys']) {
      for (const act of ['SELECT key_id FROM', 'SELECT sealed FROM', 'DELETE FROM', 'TRUNCATE']) {
        const code = await sql.unsafe(`${act} ${table}`).then(
          () => 'done',
          (error: unknown) => (error instanceof postgres.PostgresError ? error.code : String(error)),
        )
        if (code !== DENIED) outcomes.push(`${act} ${table}: ${code}`)
      }
    }
    const own =
      part === 'auditor' ? [] : ['key_id', 'sealed'].map((column) => `SELECT ${column} FROM ${part}_private_keys: done`)
    expect(outcomes).toEqual(own)
  })

  test('can open only its own private keys with its part key', () => {
    const contexts = privateKeys.flatMap(({ keyId }) =>
      SERVICE_KEY_PURPOSES.map((purpose): SealingContext => ['service-key', purpose, keyId]),
    )
    const opened = privateKeys.filter(({ sealed }) => opensAt(part, sealed, contexts)).map(({ purpose }) => purpose)
    expect(opened.sort()).toEqual(SERVICE_KEY_PURPOSES.filter((purpose) => HOLDER[purpose] === part).sort())
  })

  test('can open only the secrets of the ledger that it needs', () => {
    const sealed = {
      'root-secret': ledger.sealedRootSecret,
      'message-secret': ledger.sealedMessageSecret,
      'shard-secret': ledger.sealedShardSecret,
      'index-secret': ledger.sealedIndexSecret,
    }
    const opened = Object.entries(sealed).filter(([name, bytes]) => opensAt(part, bytes, [[name]]))
    expect(opened.map(([name]) => name)).toEqual([
      ...(part === 'edge' ? ['root-secret'] : []),
      ...(part === 'auditor' ? [] : ['message-secret']),
      'shard-secret',
      'index-secret',
    ])
  })

  test('can open sealed rows', async () => {
    const vault = openVault(ringOf(part), ledger)
    const names = [LEDGER_KEY_NAME, shardKeyName(0), shardKeyName(3)]
    await vault.keys.fetch(as(part), names)
    for (const name of names) expect(vault.keys.known(name)).toHaveLength(32)
  })
})

test('a node signs receipts, and neither tokens nor assertions nor attestations', async () => {
  const keys = await keysOf('node')
  expect(await keys.sign(keys.current('receipt'), ['{}'])).toHaveLength(1)
  expect(keys.published().map(({ purpose }) => purpose)).toEqual(['receipt'])
  for (const purpose of KEY_PURPOSES.filter((one) => one !== 'receipt')) {
    expect(() => keys.current(purpose)).toThrow('no signing key for this purpose')
  }
  for (const { keyId } of privateKeys.filter(({ purpose }) => purpose !== 'receipt')) {
    await expect(keys.sign(keyId, ['{}'])).rejects.toThrow('does not have the signing key')
  }
  expect(openNodeSecrets(ringOf('node'), ledger).messageSecret).toHaveLength(32)
})

test('an edge signs tokens, assertions and attestations, opens imports, publishes every key, and signs no receipt', async () => {
  const keys = await keysOf('edge')
  for (const purpose of KEY_PURPOSES.filter((one) => one !== 'receipt')) {
    expect(await keys.sign(keys.current(purpose), ['{}'])).toHaveLength(1)
  }
  expect(keys.imports.current().keyId).toBe(privateKeys.find(({ purpose }) => purpose === 'import')?.keyId)
  const published = keys.published().map(({ purpose }) => purpose)
  expect(published.sort()).toEqual([...KEY_PURPOSES].sort())
  expect(() => keys.current('receipt')).toThrow('no signing key for this purpose')
  const receipt = privateKeys.find(({ purpose }) => purpose === 'receipt')
  await expect(keys.sign(receipt?.keyId ?? '', ['{}'])).rejects.toThrow('does not have the signing key')
  const [node, edge] = [openNodeSecrets(ringOf('node'), ledger), openLedgerSecrets(ringOf('edge'), ledger)]
  expect(edge.messageSecret).toEqual(node.messageSecret)
})

test('an edge refuses a public key for receipts that an attacker inserted', async () => {
  const sql = as('owner')
  await sql`
    INSERT INTO service_keys (key_id, purpose, x, y, tag, active_from, created_at)
    SELECT 'another', purpose, y, x, tag, now(), now() FROM service_keys WHERE purpose = 'receipt'`
  await expect(keysOf('edge')).rejects.toThrow('not one that this ledger made')
  await sql`DELETE FROM service_keys WHERE key_id = 'another'`
  await expect(keysOf('edge')).resolves.toBeDefined()
})
