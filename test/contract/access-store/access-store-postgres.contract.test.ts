/** The access store in PostgreSQL: the contract, and properties of its tables. */
import { randomBytes, randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createClientSecrets, generateClientSecret, NO_ADDRESS } from '../../../infra/keys/client-secrets.ts'
import { createAccessStore, type PostgresAccessStore } from '../../../infra/postgres/access/access-store-postgres.ts'
import { placeOfClient, sealedClient } from '../../../infra/postgres/access/client-document.ts'
import { AccessStoreUnavailable, type ClientRecord } from '../../../runtime/ports/access-store.ts'
import { LEDGER_KEY_NAME } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { sealingVault } from '../../support/postgres/row-vaults.ts'
import { accessStoreContract, aClient, aFamily, hashOf } from './access-store.contract.ts'
import { clientAdministrationContract } from './client-administration.contract.ts'

async function inPostgres() {
  const database = await createLedgerDatabase()
  const open = async () => createAccessStore({ url: database.url, vault: await vaultOf(database.url) })
  const [store, other] = [await open(), await open()]
  return {
    store,
    other,
    close: async () => {
      await Promise.all([store.close(), other.close()])
      await database.drop()
    },
  }
}

accessStoreContract('PostgreSQL', inPostgres)
clientAdministrationContract('PostgreSQL', inPostgres)

describe('AccessStore: PostgreSQL, its tables', () => {
  let database: LedgerDatabase
  let vault: RowVault
  let store: PostgresAccessStore
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    vault = await vaultOf(database.url)
    store = createAccessStore({ url: database.url, vault })
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  })
  afterAll(async () => {
    await Promise.all([store.close(), sql.end()])
    await database.drop()
  })

  test('cleaning deletes expired rows in many steps, and no others', async () => {
    const client = aClient()
    await store.putClient(client)
    const [live, dead] = [aFamily(client.clientId, randomUUID()), aFamily(client.clientId, randomUUID())]
    await store.createFamily(live)
    await store.createFamily({ ...dead, expiresAtMs: live.createdAtMs + 1 })
    const at = new Date(live.createdAtMs).toISOString()
    await sql`
      INSERT INTO used_refresh_tokens (token_hash, session_id, used_at, expires_at)
      SELECT 'old-' || n, ${live.sessionId}, ${at}, ${at}
      FROM generate_series(1, 2500) n`
    await sql`
      INSERT INTO used_refresh_tokens (token_hash, session_id, used_at, expires_at)
      VALUES ('young', ${live.sessionId}, ${at}, ${new Date(live.createdAtMs + 100 * 86_400_000).toISOString()})`
    for (const [expiresAtMs, token] of [
      [live.createdAtMs, 'old'],
      [live.createdAtMs + 2 * 86_400_000, 'young'],
    ] as const) {
      await store.spendAssertion({ assertionHash: hashOf(token), expiresAtMs })
    }
    expect(await store.cleanUp(live.createdAtMs + 2 * 86_400_000)).toBe(2_502)
    expect(await sql`SELECT assertion_hash FROM spent_assertions`).toEqual([{ assertion_hash: hashOf('young') }])
    expect(await sql`SELECT token_hash FROM used_refresh_tokens`).toEqual([{ token_hash: 'young' }])
    expect(await sql`SELECT session_id FROM refresh_families`).toEqual([{ session_id: live.sessionId }])
    expect(await store.cleanUp(live.createdAtMs + 2 * 86_400_000)).toBe(0)
  })

  test('a store cleans by itself', async () => {
    const at = new Date(1_000_000).toISOString()
    await sql`
      INSERT INTO used_refresh_tokens (token_hash, session_id, used_at, expires_at)
      VALUES ('stale', 'none', ${at}, ${at})`
    const cleaning = createAccessStore({ url: database.url, vault, cleanUpEveryMs: 20 })
    await expect.poll(() => sql`SELECT FROM used_refresh_tokens WHERE token_hash = 'stale'`).toHaveLength(0)
    await cleaning.close()
  })

  test('X3: a login waits for a revocation of its client that is under way', async () => {
    const client = aClient()
    await store.putClient(client)
    const token = randomUUID()
    const revoking = postgres(database.url, { max: 1, onnotice: () => undefined })
    let login: Promise<'done'> | undefined
    await revoking.begin(async (transaction) => {
      await transaction`UPDATE clients SET revoked_at = now() WHERE client_id = ${client.clientId}`
      await transaction`UPDATE refresh_families SET revoked_at = created_at WHERE client_id = ${client.clientId}`
      login = store.createFamily(aFamily(client.clientId, token)).then(() => 'done')
      const waiting = async (): Promise<string> => {
        const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer FROM pg_locks WHERE NOT granted`
        return row?.count === 1 ? 'waits' : 'does not wait'
      }
      await expect.poll(() => Promise.race([login, waiting()])).toBe('waits')
    })
    await login
    await revoking.end()
    const exchange = { nextTokenHash: hashOf('x'), nextExpiresAtMs: client.createdAtMs + 1, reuseGraceMs: 0 }
    const outcome = await store.rotateFamily({ ...exchange, tokenHash: hashOf(token), atMs: client.createdAtMs })
    expect(outcome.kind).toBe('revoked')
  })

  test('X3: a refresh waits for a revocation of its client that is under way, and neither fails', async () => {
    const client = aClient()
    await store.putClient(client)
    const token = randomUUID()
    const family = aFamily(client.clientId, token)
    await store.createFamily(family)
    const times = { atMs: client.createdAtMs, nextExpiresAtMs: family.expiresAtMs, reuseGraceMs: 0 }
    const revoking = postgres(database.url, { max: 1, onnotice: () => undefined })
    let refresh: Promise<string> | undefined
    await revoking.begin(async (transaction) => {
      await transaction`UPDATE clients SET revoked_at = now() WHERE client_id = ${client.clientId}`
      const exchange = { ...times, tokenHash: hashOf(token), nextTokenHash: hashOf(`${token}-2`) }
      refresh = store.rotateFamily(exchange).then(({ kind }) => kind)
      const waiting = async (): Promise<string> => {
        const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer FROM pg_locks WHERE NOT granted`
        return row?.count === 1 ? 'waits' : 'does not wait'
      }
      await expect.poll(() => Promise.race([refresh, waiting()])).toBe('waits')
      await transaction`UPDATE refresh_families SET revoked_at = created_at WHERE client_id = ${client.clientId}`
    })
    expect(await refresh).toBe('revoked')
    await revoking.end()
  })

  test('X3: a live family of a client whose row is revoked yields no token, and keeps its token', async () => {
    const client = aClient()
    await store.putClient(client)
    const token = randomUUID()
    await store.createFamily(aFamily(client.clientId, token))
    await sql`UPDATE clients SET revoked_at = now() WHERE client_id = ${client.clientId}`
    const exchange = {
      tokenHash: hashOf(token),
      nextTokenHash: hashOf(`${token}-2`),
      nextExpiresAtMs: client.createdAtMs + 2,
      atMs: client.createdAtMs + 1,
      reuseGraceMs: 0,
    }
    expect(await store.rotateFamily(exchange)).toEqual({ kind: 'revoked' })
    const families = await sql`SELECT token_hash FROM refresh_families WHERE client_id = ${client.clientId}`
    expect(families).toEqual([{ token_hash: hashOf(token) }])
  })

  test('no secret is in a row: a token is there as its hash only', async () => {
    const client = aClient()
    await store.putClient(client)
    const token = `rt_${randomUUID()}`
    await store.createFamily(aFamily(client.clientId, token))
    const rows = await sql`SELECT to_jsonb(f)::text AS row FROM refresh_families f WHERE client_id = ${client.clientId}`
    expect(String(rows[0]?.['row'])).toContain(hashOf(token))
    expect(String(rows[0]?.['row'])).not.toContain(token)
  })

  test('X5: neither a client’s rights nor its credentials are in a row', async () => {
    const secretHash = 'hmac-sha256:sealed'
    const client = aClient({
      accounts: ['alice@sealed', 'shop-sealed:*'],
      boundary: ['sealed'],
      role: 'admin',
      secretHash,
    })
    await store.putClient(client)
    const [row = {}] = await sql`SELECT * FROM clients WHERE client_id = ${client.clientId}`
    expect(Object.keys(row).sort()).toEqual(['changed_xid', 'client_id', 'document', 'held', 'revoked_at'])
    expect(Buffer.isBuffer(row['document'])).toBe(true)
    const stored = Object.values(row).map((value: unknown) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value),
    )
    expect(stored.filter((text) => /sealed|admin/.test(text ?? ''))).toEqual([])
  })

  test('X6: neither a revocation nor a concurrent change is lost', async () => {
    const client = aClient()
    await store.putClient(client)
    const other = createAccessStore({ url: database.url, vault })
    const atMs = client.createdAtMs + 5
    const { clientId } = client
    const lock = postgres(database.url, { max: 1, onnotice: () => undefined })
    let revoking: Promise<boolean> | undefined
    await lock.begin(async (transaction) => {
      await transaction`SELECT FROM clients WHERE client_id = ${clientId} FOR UPDATE`
      revoking = other.revokeClient(clientId, atMs)
      void revoking.catch(() => undefined)
      const waiting = async () => (await sql`SELECT FROM pg_locks WHERE NOT granted`).length
      await expect.poll(waiting, { interval: 5 }).toBe(1)
      const changed = { ...client, role: 'viewer' as const }
      const document = Buffer.from(sealedClient(changed, vault), 'hex')
      await transaction`UPDATE clients SET document = ${document} WHERE client_id = ${clientId}`
    })
    expect(await revoking).toBe(true)
    expect(await store.findClient(clientId)).toEqual({ ...client, role: 'viewer', revokedAtMs: atMs })
    await lock.end()
    await other.close()
  })

  test('M1: an administrator that is revoked while its change waits for its row changes nothing', async () => {
    const [maker, target] = [aClient({ role: 'admin' }), aClient()]
    for (const one of [maker, target]) await store.putClient(one)
    const lock = postgres(database.url, { max: 1, onnotice: () => undefined })
    let ending: ReturnType<typeof store.endClient> | undefined
    await lock.begin(async (transaction) => {
      await transaction`SELECT FROM clients WHERE client_id = ${maker.clientId} FOR UPDATE`
      ending = store.endClient(target.clientId, target.createdAtMs + 1, maker)
      void ending.catch(() => undefined)
      const waiting = async () => (await sql`SELECT FROM pg_locks WHERE NOT granted`).length
      await expect.poll(waiting, { interval: 5 }).toBe(1)
      // Look-ups and checks of requests do not wait with it.
      expect(await store.findAccess(target.clientId, 'none')).toMatchObject({ client: target })
      expect((await store.changesSince(null)).changed).toBeNull()
      const revoked = { ...maker, revokedAtMs: maker.createdAtMs + 1 }
      const document = Buffer.from(sealedClient(revoked, vault), 'hex')
      const revokedAt = new Date(revoked.revokedAtMs)
      await transaction`
        UPDATE clients SET document = ${document}, revoked_at = ${revokedAt} WHERE client_id = ${maker.clientId}`
    })
    expect(await ending).toBe('maker_revoked')
    expect(await store.findClient(target.clientId)).toEqual(target)
    await lock.end()
  })

  test('a change that waits too long for a row fails, and leaves its connection to the next', async () => {
    const maker = aClient({ role: 'admin' })
    await store.putClient(maker)
    const lock = postgres(database.url, { max: 1, onnotice: () => undefined })
    await lock.begin(async (transaction) => {
      await transaction`SELECT FROM clients WHERE client_id = ${maker.clientId} FOR UPDATE`
      await expect(store.addClient(aClient(), maker)).rejects.toThrow(AccessStoreUnavailable)
    })
    expect(await store.addClient(aClient(), maker)).toBe('created')
    await lock.end()
  })

  test('without PostgreSQL every call fails as unavailable, and the error names no host', async () => {
    const lost = createAccessStore({ url: 'postgres://ledger:secret@127.0.0.1:1/ledger', vault: sealingVault([]) })
    const outcomes = await Promise.allSettled([lost.findClient('x'), lost.createFamily(aFamily('x', 'y'))])
    for (const outcome of outcomes) {
      const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      expect(reason).toBeInstanceOf(AccessStoreUnavailable)
      expect(String(reason)).not.toMatch(/127|secret/)
    }
    await lost.close()
  })
})

describe('AccessStore: rows changed without the key', () => {
  const SECRET = generateClientSecret()
  const secrets = createClientSecrets({ pepper: randomBytes(32) })
  const unreadable: string[] = []
  let database: LedgerDatabase
  let vault: RowVault
  let store: PostgresAccessStore
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    vault = await vaultOf(database.url)
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  })
  beforeEach(async () => {
    unreadable.length = 0
    store = createAccessStore({ url: database.url, vault, onUnreadable: (clientId) => unreadable.push(clientId) })
    await sql`DELETE FROM clients`
    await store.putClient(await withSecret('mine', SECRET, { role: 'viewer', accounts: ['alice@x'], boundary: false }))
    await store.putClient(await withSecret('boss', generateClientSecret(), { role: 'admin', accounts: null }))
    await store.putClient(await withSecret('bystander', generateClientSecret(), {}))
    await store.putClient(await withSecret('revoked', SECRET, { role: 'admin' }))
    await store.revokeClient('revoked', aClient().createdAtMs + 7)
  })
  afterEach(() => store.close())
  afterAll(async () => {
    await sql.end()
    await database.drop()
  })

  async function withSecret(clientId: string, secret: string, changes: Partial<ClientRecord>): Promise<ClientRecord> {
    return aClient({ clientId, secretHash: await secrets.hash(clientId, secret), ...changes })
  }

  const plain = (clientId: string, changes: Partial<ClientRecord> = {}) =>
    JSON.stringify({ format: 1, ...aClient({ clientId, role: 'admin', ...changes }) })

  const CHANGES: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    [
      'another client’s document',
      'mine',
      () =>
        sql`UPDATE clients SET document = (SELECT document FROM clients WHERE client_id = 'boss') WHERE client_id = 'mine'`,
    ],
    [
      'a plain document in place of a sealed one',
      'mine',
      () => sql`UPDATE clients SET document = convert_to(${plain('mine')}, 'UTF8') WHERE client_id = 'mine'`,
    ],
    [
      'one bit of the document',
      'mine',
      () =>
        sql`UPDATE clients SET document = set_bit(document, 300, 1 - get_bit(document, 300)) WHERE client_id = 'mine'`,
    ],
    [
      'a copy under another name',
      'boss',
      async () => {
        await sql`DELETE FROM clients WHERE client_id = 'boss'`
        await sql`INSERT INTO clients (client_id, document) SELECT 'boss', document FROM clients WHERE client_id = 'mine'`
      },
    ],
    [
      'a revocation taken back',
      'revoked',
      async () => {
        const [row] = await sql`DELETE FROM clients WHERE client_id = 'revoked' RETURNING document`
        await sql`INSERT INTO clients (client_id, document) VALUES ('revoked', ${row?.['document'] as Buffer})`
      },
    ],
    ['a revocation made up', 'mine', () => sql`UPDATE clients SET revoked_at = now() WHERE client_id = 'mine'`],
  ]

  test.for(CHANGES)('X5: %s is refused for that client alone, and logged once', async ([, name, change]) => {
    await change()
    expect(await store.findClient(name)).toBe('unreadable')
    const listed = (await store.listClients(null, 100)).clients.map(({ clientId }) => clientId)
    const others = await sql<
      { id: string }[]
    >`SELECT client_id AS id FROM clients WHERE client_id <> ${name} ORDER BY 1`
    expect(listed).toEqual(others.map(({ id }) => id))
    expect(listed).toContain('bystander')
    expect(unreadable).toEqual([name])
  })

  test('a revoked client stays revoked, also with the document that it had before', async () => {
    const [before] = await sql`SELECT document FROM clients WHERE client_id = 'mine'`
    await store.revokeClient('mine', 1_000)
    const bringBack = sql`
      UPDATE clients SET revoked_at = NULL, document = ${before?.['document'] as Buffer} WHERE client_id = 'mine'`
    await expect(bringBack).rejects.toThrow('a revoked client stays revoked')
    expect(await store.findClient('mine')).toMatchObject({ revokedAtMs: 1_000 })
  })

  test('a client that cannot be read is logged again after it was readable in between', async () => {
    const before = await sql`SELECT document FROM clients WHERE client_id = 'mine'`
    for (const expected of [1, 2]) {
      await sql`UPDATE clients SET document = '' WHERE client_id = 'mine'`
      expect(await store.findClient('mine')).toBe('unreadable')
      expect(unreadable).toHaveLength(expected)
      await sql`UPDATE clients SET document = ${before[0]?.['document'] as Buffer} WHERE client_id = 'mine'`
      expect(await store.findClient('mine')).toMatchObject({ clientId: 'mine', role: 'viewer' })
    }
  })

  test('revoking one that cannot be read ends its sessions, and it stays refused', async () => {
    const family = aFamily('mine', 'a token')
    await store.createFamily(family)
    await sql`UPDATE clients SET document = '' WHERE client_id = 'mine'`
    const atMs = family.createdAtMs + 1
    expect(await store.revokeClient('mine', atMs)).toBe(true)
    expect(await store.findAccess('mine', family.sessionId)).toEqual({ client: 'unreadable', sessionLive: false })
  })

  test('a hash that was copied into another client’s document admits no client', async () => {
    const mine = await store.findClient('mine')
    const boss = await store.findClient('boss')
    if (typeof mine !== 'object' || typeof boss !== 'object') throw new Error('they cannot be read')
    expect(await secrets.verify(mine, SECRET, NO_ADDRESS)).toBe(true)
    expect(await secrets.verify({ ...boss, secretHash: mine.secretHash }, SECRET, NO_ADDRESS)).toBe(false)
  })

  test('sealed documents that are not clients affect no other client', async () => {
    const before = await store.listClients(null, 100)
    const documents = [
      'null',
      '[]',
      '{',
      plain('b'),
      plain('x4', { role: 'root' as never }),
      plain('x5', { accounts: [1] as never }),
    ]
    await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
    for (const [index, document] of documents.entries()) {
      const sealed = vault.seal(LEDGER_KEY_NAME, placeOfClient(`x${index}`), document)
      await sql`INSERT INTO clients (client_id, document) VALUES (${`x${index}`}, decode(${sealed}, 'hex'))`
      expect(await store.findClient(`x${index}`)).toBe('unreadable')
    }
    expect(await store.listClients(null, 100)).toEqual(before)
    expect(before.clients).not.toEqual([])
  })
})
