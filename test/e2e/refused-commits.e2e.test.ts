/**
 * While PostgreSQL refuses commits, orders get `not_applied`, and every process reports that it cannot serve. Afterwards
 * the ledger recovers without loss or duplicates. Real processes; a trigger raises the errors.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Holder, LedgerClient, membersOf } from '../support/client/client.ts'
import { ended, funded, holdingOf, keyed } from '../support/client/client-moves.ts'
import { type Cluster, startCluster, until } from '../support/processes/cluster-process.ts'

const DEADLINE_MS = 180_000
const ORDERS = 40

let cluster: Cluster
let client: LedgerClient
let sql: postgres.Sql
let alice: Holder
let bob: Holder
/** Enough that both nodes own some. */
let everywhere: readonly Holder[]

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2, edges: 1 })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  alice = await funded(client, 'alice@refused', '1000')
  bob = await funded(client, 'bob@refused', '1')
  everywhere = await Promise.all(
    Array.from({ length: 12 }, (_, index) => client.register(`one-of-many-${index}@refused`)),
  )
})

afterAll(async () => {
  client.close()
  await sql.end()
  await cluster.stop()
})

async function refuseCommits(code: string): Promise<void> {
  await sql.unsafe(`
    CREATE OR REPLACE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused by the test' USING ERRCODE = '${code}'; END $$;
    CREATE TRIGGER refuse_rows BEFORE INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_rows()`)
}

async function takeCommits(): Promise<void> {
  await sql.unsafe('DROP TRIGGER refuse_rows ON transactions')
}

async function statesOfShards(): Promise<ReadonlySet<unknown>> {
  const shards = await client.readAll('/v1/shards', 'shards')
  return new Set(shards.map((shard) => shard['health_state']))
}

test.for([
  ['a full disk', '53100'],
  ['a read-only server', '25006'],
] as const)('%s', async ([, code]) => {
  const before = Number((await holdingOf(client, bob.accountId)).balance)
  const orders = Array.from({ length: ORDERS }, () =>
    keyed({ type: 'transfer', amount: '1', to_account_id: bob.accountId }),
  )
  await refuseCommits(code)
  const refused = await Promise.all(orders.map((order) => client.submit(alice, order)))
  for (const reply of refused) {
    expect(reply.status).toBe(503)
    expect(membersOf(reply)).toMatchObject({ outcome: 'not_applied', error_codes: ['ERR_SHARD_UNAVAILABLE'] })
  }
  // Each node knows only its own commits: send orders for accounts of both until both have reported.
  await until('every shard and the edge report it', DEADLINE_MS, async () => {
    await Promise.all(everywhere.map((holder) => client.submit(holder, keyed({ type: 'credit', amount: '1' }))))
    const states = await statesOfShards()
    return states.size === 1 && states.has('unavailable') && !(await cluster.isReady())
  })
  const states = await Promise.all(everywhere.map(({ accountId }) => client.get(`/v1/accounts/${accountId}/state`)))
  expect(new Set(states.map(({ status }) => status))).toEqual(new Set([503]))

  await takeCommits()
  await until('every shard is served again', DEADLINE_MS, async () => {
    const states = await statesOfShards()
    return states.size === 1 && states.has('healthy') && (await cluster.isReady())
  })
  for (const order of orders) {
    const reply = await client.submit(alice, order)
    expect([reply.status, reply.headers['idempotency-replayed']]).toEqual([202, undefined])
    expect(await ended(client, membersOf(reply))).toMatchObject({ status: 'completed' })
  }
  for (const order of orders) expect((await client.submit(alice, order)).headers['idempotency-replayed']).toBe('true')
  expect(Number((await holdingOf(client, bob.accountId)).balance) - before).toBe(ORDERS)
})
