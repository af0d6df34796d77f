/** The access store in PostgreSQL: the contract, and what only a table can get wrong. */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccessStore, type PostgresAccessStore } from '../../infra/postgres/access-store-postgres.ts'
import { AccessStoreUnavailable } from '../../runtime/ports/access-store.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'
import { accessStoreContract, aClient, aFamily, hashOf } from './access-store.contract.ts'

accessStoreContract('PostgreSQL', async () => {
  const database = await createLedgerDatabase()
  const store = createAccessStore({ url: database.url })
  const other = createAccessStore({ url: database.url })
  return {
    store,
    other,
    close: async () => {
      await Promise.all([store.close(), other.close()])
      await database.drop()
    },
  }
})

describe('AccessStore: PostgreSQL, its tables', () => {
  let database: LedgerDatabase
  let store: PostgresAccessStore
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    store = createAccessStore({ url: database.url })
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  })
  afterAll(async () => {
    await Promise.all([store.close(), sql.end()])
    await database.drop()
  })

  test('cleaning takes what has expired, in many steps, and leaves what has not', async () => {
    const client = aClient()
    await store.putClient(client)
    const [live, dead] = [aFamily(client.clientId, randomUUID()), aFamily(client.clientId, randomUUID())]
    await store.createFamily(live)
    await store.createFamily({ ...dead, expiresAtMs: live.createdAtMs + 1 })
    const at = new Date(live.createdAtMs).toISOString()
    await sql`
      INSERT INTO used_refresh_tokens SELECT 'old-' || n, ${live.sessionId}, ${at}, ${at}
      FROM generate_series(1, 2500) n`
    await sql`
      INSERT INTO used_refresh_tokens
      VALUES ('young', ${live.sessionId}, ${at}, ${new Date(live.createdAtMs + 100 * 86_400_000).toISOString()})`
    expect(await store.cleanUp(live.createdAtMs + 2 * 86_400_000)).toBe(2_501)
    expect(await sql`SELECT token_hash FROM used_refresh_tokens`).toEqual([{ token_hash: 'young' }])
    expect(await sql`SELECT session_id FROM refresh_families`).toEqual([{ session_id: live.sessionId }])
    expect(await store.cleanUp(live.createdAtMs + 2 * 86_400_000)).toBe(0)
  })

  test('a store cleans by itself', async () => {
    const at = new Date(1_000_000).toISOString()
    await sql`INSERT INTO used_refresh_tokens VALUES ('stale', 'none', ${at}, ${at})`
    const cleaning = createAccessStore({ url: database.url, cleanUpEveryMs: 20 })
    await expect
      .poll(() => sql`SELECT FROM used_refresh_tokens WHERE token_hash = 'stale'`, { timeout: 20_000 })
      .toHaveLength(0)
    await cleaning.close()
  })

  test('X3: a login waits for a revocation of its client that is under way', async () => {
    const client = aClient()
    await store.putClient(client)
    const token = randomUUID()
    const revoking = postgres(database.url, { max: 1, onnotice: () => undefined })
    let login: Promise<'done'> | undefined
    await revoking.begin(async (transaction) => {
      await transaction`UPDATE clients SET revoked_at = created_at WHERE client_id = ${client.clientId}`
      await transaction`UPDATE refresh_families SET revoked_at = created_at WHERE client_id = ${client.clientId}`
      login = store.createFamily(aFamily(client.clientId, token)).then(() => 'done')
      const waiting = async (): Promise<string> => {
        const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer FROM pg_locks WHERE NOT granted`
        return row?.count === 1 ? 'waits' : 'does not wait'
      }
      await expect.poll(() => Promise.race([login, waiting()]), { timeout: 20_000 }).toBe('waits')
    })
    await login
    await revoking.end()
    const exchange = { nextTokenHash: hashOf('x'), nextExpiresAtMs: client.createdAtMs + 1, reuseGraceMs: 0 }
    const outcome = await store.rotateFamily({ ...exchange, tokenHash: hashOf(token), atMs: client.createdAtMs })
    expect(outcome.kind).toBe('revoked')
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

  test('without PostgreSQL every call says that the store is unavailable, and what it says names no host', async () => {
    const lost = createAccessStore({ url: 'postgres://ledger:secret@127.0.0.1:1/ledger' })
    const outcomes = await Promise.allSettled([
      lost.findClient('x'),
      lost.listClients(),
      lost.revokeClient('x', 0),
      lost.listRevokedSessions(0),
      lost.putClient(aClient()),
      lost.createFamily(aFamily('x', 'y')),
    ])
    for (const outcome of outcomes) {
      const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      expect(reason).toBeInstanceOf(AccessStoreUnavailable)
      expect(String(reason)).not.toMatch(/127|secret/)
    }
    await lost.close()
  })
})
