/** An edge reads every change of a client or session (A1), at a cost of the changes only (A2), also under a login flood (X4). */
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccessStore, type PostgresAccessStore } from '../../infra/postgres/access/access-store-postgres.ts'
import { AccessStoreOverloaded } from '../../runtime/ports/access-store.ts'
import { aClient, aFamily } from '../contract/access-store/access-store.contract.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../support/postgres/ledger-database.ts'

let database: LedgerDatabase
let store: PostgresAccessStore
let sql: postgres.Sql

beforeAll(async () => {
  database = await createLedgerDatabase()
  sql = postgres(database.url, { max: 4, onnotice: () => undefined })
})
beforeEach(async () => {
  store = createAccessStore({ url: database.url, vault: await vaultOf(database.url) })
})
afterEach(() => store.close())
afterAll(async () => {
  await sql.end()
  await database.drop()
})

test('A1: a change that was uncommitted when a mark was read is returned after that mark', async () => {
  const [early, late] = [aClient(), aClient()]
  for (const client of [early, late]) await store.putClient(client)
  const before = await store.changesSince(null)
  const other = await sql.reserve()
  await other`BEGIN`
  await other`UPDATE clients SET revoked_at = now() WHERE client_id = ${early.clientId}`
  await store.putClient({ ...late, role: 'viewer' })
  const during = await store.changesSince(before.mark)
  expect(during.changed?.clients).toEqual(new Set([late.clientId]))
  await other`COMMIT`
  other.release()
  expect((await store.changesSince(during.mark)).changed?.clients).toContain(early.clientId)
})

test('A1: a direct SQL update is returned like any other change', async () => {
  const client = aClient()
  await store.putClient(client)
  const family = aFamily(client.clientId, 'by hand')
  await store.createFamily(family)
  const { mark } = await store.changesSince(null)
  await sql`UPDATE clients SET document = '' WHERE client_id = ${client.clientId}`
  await sql`UPDATE refresh_families SET revoked_at = now() WHERE session_id = ${family.sessionId}`
  expect((await store.changesSince(mark)).changed).toEqual({
    clients: new Set([client.clientId]),
    sessions: new Set([family.sessionId]),
  })
})

test.for([
  ['deleted', (id: string) => sql`DELETE FROM clients WHERE client_id = ${id}`],
  ['renamed', (id: string) => sql`UPDATE clients SET client_id = ${`${id}-2`} WHERE client_id = ${id}`],
] as const)('A1: the store lists no changes until the next mark once a client is %s', async ([, change]) => {
  const client = aClient()
  await store.putClient(client)
  const { mark } = await store.changesSince(null)
  await change(client.clientId)
  const changes = await store.changesSince(mark)
  expect(changes.changed).toBeNull()
  expect((await store.changesSince(changes.mark)).changed).not.toBeNull()
})

test('A2: the store lists no changes for a mark of a later state of the database', async () => {
  expect((await store.changesSince('99999999999')).changed).toBeNull()
})

test('A2: the store lists no changes if there are more than the limit', async () => {
  const { mark } = await store.changesSince(null)
  await sql`INSERT INTO clients (client_id, document) SELECT 'many-' || n, '' FROM generate_series(1, 10001) n`
  expect((await store.changesSince(mark)).changed).toBeNull()
})

test('X4: a hundred hung session look-ups do not delay the read of changes', async () => {
  const client = aClient()
  await store.putClient(client)
  const vault = await vaultOf(database.url)
  let release: (() => void) | undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const fetch: typeof vault.keys.fetch = async (connection, names) => {
    await released
    await vault.keys.fetch(connection, names)
  }
  const hanging = createAccessStore({ url: database.url, vault: { ...vault, keys: { ...vault.keys, fetch } } })
  let found = 0
  const lookUps = Array.from({ length: 100 }, async (_, session) => {
    await hanging.findAccess(client.clientId, `session ${session}`)
    found += 1
  })
  await hanging.changesSince(null)
  expect(found).toBe(0)
  release?.()
  await Promise.all(lookUps)
  expect(found).toBe(100)
  await hanging.close()
})

test('X4: of a thousand hung logins most are refused, and none delays the authorization of requests', async () => {
  const client = aClient()
  await store.putClient(client)
  const family = aFamily(client.clientId, 'a login')
  await store.createFamily(family)
  const other = await sql.reserve()
  await other`BEGIN`
  await other`LOCK TABLE refresh_families IN SHARE MODE`
  const logins = Array.from({ length: 1_000 }, (_, number) =>
    store.createFamily(aFamily(client.clientId, `login ${number}`)).then(
      () => 'begun',
      (error: unknown) => (error instanceof AccessStoreOverloaded ? 'overloaded' : 'failed'),
    ),
  )
  const { mark } = await store.changesSince(null)
  expect((await store.changesSince(mark)).changed).not.toBeNull()
  expect(await store.findAccess(client.clientId, family.sessionId)).toEqual({ client, sessionLive: true })
  await other`COMMIT`
  other.release()
  const outcomes = await Promise.all(logins)
  expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(1_000 - 64 - 4)
  expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(64 + 4)
})
