/** Commands of operators leave their acts in the administrative chain, before they change anything. */
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { listAdministrativeChain } from '../../api/routes/administration/list-administrative-chain.ts'
import { main } from '../../infra/main/ledger.ts'
import { readServer } from '../../infra/postgres/connection/accepted-servers.ts'
import {
  createAdministrativeChain,
  type PostgresAdministrativeChain,
} from '../../infra/postgres/access/administrative-chain-postgres.ts'
import { createWebhookStore } from '../../infra/postgres/access/webhook-store-postgres.ts'
import { aWebhook } from '../contract/webhook-store/webhook-store-scene.ts'
import {
  createLedgerDatabase,
  type LedgerDatabase,
  TEST_MASTER_KEY_TEXT,
  vaultOf,
} from '../support/postgres/ledger-database.ts'
import { silentIo } from '../unit/cli/silent-io.ts'

let database: LedgerDatabase
let sql: postgres.Sql
let chain: PostgresAdministrativeChain
let seen = -1
beforeAll(async () => {
  database = await createLedgerDatabase()
  const { url } = database
  sql = postgres(url, { max: 1, onnotice: () => undefined })
  chain = createAdministrativeChain({ url, ledgerId: 'ledger', vault: await vaultOf(url) })
  await sql`INSERT INTO sessions (session, node_id, started_at, probed_at) VALUES ('s', 'node-1', now(), now())`
})
afterAll(async () => {
  await Promise.all([chain.close(), sql.end()])
  await database.drop()
})
beforeEach(async () => {
  const { total } = await chain.entries({ after: -1, limit: 1, accountId: null })
  seen = total - 1
})

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  let said = ''
  const io = silentIo({
    env: { LEDGER_DATABASE_URL: database.url, LEDGER_MASTER_KEY: TEST_MASTER_KEY_TEXT },
    cwd: '.',
    out: (text) => (said += text),
    err: (text) => (said += text),
  })
  return { code: await main(args, io), said }
}

/** Of the entries since the beginning of the test. */
async function acts(): Promise<readonly JsonObject[]> {
  const { entries } = await chain.entries({ after: seen, limit: 100, accountId: null })
  return entries.map(({ payload }) => {
    const { client_id: clientId, act, details, of } = JSON.parse(payload ?? 'null') as JsonObject
    expect(clientId).toBeNull()
    expect(described(String(act), of === null ? (details as JsonObject) : {})).toBe(true)
    return { act: act ?? '', details: details ?? null }
  })
}

/** Whether the document names the act with these members. */
function described(act: string, details: JsonObject): boolean {
  const line = listAdministrativeChain.description.split('\n').find((one) => one.startsWith(`- \`${act}\``))
  return line !== undefined && Object.keys(details).every((name) => line.includes(`\`${name}\``))
}

function done(act: string, details: JsonObject): readonly JsonObject[] {
  return [
    { act, details },
    { act, details: { outcome: 'done' } },
  ]
}

describe('a command is an act', () => {
  test('clients', async () => {
    const added = await run(
      'client',
      'add',
      '--id',
      'shop',
      '--role',
      'transactor',
      '--accounts',
      'secret-account',
      '--rate',
      '5/10',
      '--boundary',
      'EURX,USDX',
    )
    expect(added.code).toBe(0)
    expect(await run('client', 'set', '--id', 'shop', '--rate', 'none')).toEqual({ code: 0, said: '' })
    expect((await run('client', 'list')).code).toBe(0)
    expect(await run('client', 'revoke', '--id', 'shop')).toEqual({ code: 0, said: '' })
    const rights = { role: 'transactor', boundary: ['EURX', 'USDX'], accounts: 1, rate: '5/10', key_id: null }
    expect(await acts()).toEqual([
      ...done('client add', { client_id: 'shop', ...rights }),
      ...done('client set', { client_id: 'shop', rate: 'none' }),
      ...done('client revoke', { client_id: 'shop' }),
    ])
  })

  test('an act that fails has its outcome, and a command that is refused before is none', async () => {
    expect((await run('client', 'revoke', '--id', 'unknown')).code).toBe(1)
    expect((await run('client', 'add', '--id', 'bad id', '--role', 'admin')).code).toBe(2)
    expect(await acts()).toEqual([
      { act: 'client revoke', details: { client_id: 'unknown' } },
      { act: 'client revoke', details: { outcome: 'failed' } },
    ])
  })

  test('keys', async () => {
    const rotated = await run('keys', 'rotate', '--purpose', 'token', '--after', '10')
    const { kid } = JSON.parse(rotated.said) as { readonly kid: string }
    expect((await run('keys', 'revoke', '--kid', kid)).code).toBe(0)
    expect((await run('keys', 'rotate-master')).code).toBe(0)
    expect(await acts()).toEqual([
      ...done('keys rotate', { purpose: 'token', after_seconds: 10, outside: false }),
      ...done('keys revoke', { kid, outside: false }),
      ...done('keys rotate-master', { master_key_id: expect.any(String) as string }),
    ])
  })

  test('drains, and servers', async () => {
    expect((await run('drain', 'node-1', '--no-wait')).code).toBe(0)
    expect((await run('drain', 'node-1', '--end')).code).toBe(0)
    const { systemIdentifier, timeline } = await readServer(sql)
    await sql`DELETE FROM accepted_servers`
    expect((await run('accept-server')).code).toBe(1)
    expect((await run('accept-server', '--yes')).code).toBe(0)
    expect(await acts()).toEqual([
      ...done('drain', { node_id: 'node-1', end: false }),
      ...done('drain', { node_id: 'node-1', end: true }),
      ...done('accept-server', { system_identifier: systemIdentifier, timeline }),
    ])
  })

  test('webhooks', async () => {
    const store = createWebhookStore({ url: database.url, vault: await vaultOf(database.url) })
    await store.create(aWebhook({ webhookId: 'whk_1' }), '0')
    await store.close()
    expect((await run('webhooks', 'delete', 'whk_1')).code).toBe(0)
    expect(await acts()).toEqual(done('webhooks delete', { webhook_id: 'whk_1' }))
  })
})

test('an act whose reply was lost has an unknown outcome', async () => {
  await sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'lost'; END $$`
  await sql`CREATE TRIGGER fails BEFORE INSERT ON clients FOR EACH ROW EXECUTE FUNCTION fail()`
  expect((await run('client', 'add', '--id', 'lost', '--role', 'viewer')).code).toBe(1)
  await sql`DROP TRIGGER fails ON clients`
  expect((await acts())[1]).toEqual({ act: 'client add', details: { outcome: 'unknown' } })
})

async function withoutChain<T>(work: () => Promise<T>): Promise<T> {
  await sql`ALTER TABLE administrative_entries RENAME TO entries_elsewhere`
  try {
    return await work()
  } finally {
    await sql`ALTER TABLE entries_elsewhere RENAME TO administrative_entries`
  }
}

test('an act that cannot be recorded changes nothing', async () => {
  const refused = await withoutChain(() => run('drain', 'node-1', '--no-wait'))
  expect(refused.code).toBe(1)
  expect(refused.said).toContain('could not be recorded in the administrative chain: nothing was changed')
  expect(await sql`SELECT FROM drained_nodes`).toHaveLength(0)
})

describe('in an emergency', () => {
  const revokedAt = async (id: string) =>
    (await sql<{ revoked_at: Date | null }[]>`SELECT revoked_at FROM clients WHERE client_id = ${id}`)[0]?.revoked_at

  test('a client is revoked without an entry only with --unrecorded, with a warning, and recorded afterwards', async () => {
    expect((await run('client', 'add', '--id', 'stolen', '--role', 'admin')).code).toBe(0)
    const revoke = ['client', 'revoke', '--id', 'stolen']
    await withoutChain(async () => {
      const refused = await run(...revoke)
      expect(refused.code).toBe(1)
      expect(refused.said).toContain('nothing was changed; in an emergency, --unrecorded proceeds without an entry')
      expect(await revokedAt('stolen')).toBeNull()
      const { code, said } = await run(...revoke, '--unrecorded')
      expect(code).toBe(0)
      expect(said).toContain('WARNING: the act could not be recorded in the administrative chain, and proceeds')
      expect(said).toContain('client revoke {"client_id":"stolen"}')
    })
    expect(await revokedAt('stolen')).not.toBeNull()
    seen += 2
    expect(await run(...revoke, '--unrecorded')).toEqual({ code: 0, said: '' })
    expect(await acts()).toEqual(done('client revoke', { client_id: 'stolen' }))
  })

  test('a key is revoked and replaced without an entry', async () => {
    const { said } = await run('keys', 'rotate', '--purpose', 'token', '--after', '10')
    const { kid } = JSON.parse(said) as { readonly kid: string }
    const revoked = await withoutChain(() => run('keys', 'revoke', '--kid', kid, '--unrecorded'))
    expect(revoked.code).toBe(0)
    expect(revoked.said).toContain(`keys revoke {"kid":"${kid}","outside":false}`)
    expect(revoked.said).toContain(`"revoked_at":`)
  })
})
