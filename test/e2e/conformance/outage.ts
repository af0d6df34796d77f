/**
 * Replies while parts of the ledger are down. Runs last: the node is ended, then PostgreSQL, while their supervisors
 * are paused.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, membersOf } from '../../support/client/client.ts'
import type { Members } from '../../support/client/client-keys.ts'
import { ended, keyed, outcomeOf } from '../../support/client/client-moves.ts'
import { type Cluster, until } from '../../support/processes/cluster-process.ts'
import type { Service } from './service.ts'

const DEADLINE_MS = 180_000

export function outages(service: () => Service): void {
  describe('without a node', () => {
    let holder: Holder
    beforeAll(async () => {
      holder = await service().client('transactor').register('outage@conformance')
      await endNode(service())
    })
    // The next outage, and the end of the file, need all processes, also after a failed test.
    afterAll(() => bringBack(service().cluster))
    withoutNode(service, () => holder)
  })
  describe('without PostgreSQL', () => {
    beforeAll(() => endPostgres(service()))
    afterAll(() => bringBack(service().cluster))
    withoutPostgres(service)
  })
}

function withoutNode(service: () => Service, holder: () => Holder): void {
  const order = keyed({ type: 'credit', amount: '1' })

  test('an order is not applied if no shard has an owner', async () => {
    const reply = await service().client('transactor').submit(holder(), order)
    expectUnavailable(reply, 'ERR_NO_HEALTHY_SHARDS')
    expect(membersOf(reply)).toMatchObject({ outcome: 'not_applied' })
  })

  test('an order is refused if its shard has no owner, although another shard has one', async () => {
    const client = service().client('viewer')
    const path = `/v1/accounts/${holder().accountId}`
    const { shard_id: needed } = await client.read(path)
    const reply = await withOwnerOfAnother(service().cluster, Number(needed), () => client.get(`${path}/state`))
    expectUnavailable(reply, 'ERR_SHARD_UNAVAILABLE')
    expectUnavailable(await client.get(`${path}/state`), 'ERR_NO_HEALTHY_SHARDS')
  })

  test('an unknown resource is still 404, and requests that need no owner are served', async () => {
    const client = service().client('viewer')
    const path = `/v1/accounts/${holder().accountId}`
    expect(outcomeOf(await client.get('/v1/accounts/unknown@nowhere/state'))).toBe('404 ERR_NOT_FOUND')
    for (const served of [path, `${path}/balances`, `${path}/nfts`, '/v1/transactions', '/v1/shards']) {
      expect([served, (await client.get(served)).status]).toEqual([served, 200])
    }
  })

  test('the same order is accepted once the shard has an owner again', async () => {
    const { cluster } = service()
    const client = service().client('transactor')
    await bringBack(cluster)
    // An edge is ready when it can serve one shard: the account's may be taken after others.
    await until('the shard is owned', DEADLINE_MS, async () => {
      return (await client.get(`/v1/accounts/${holder().accountId}/state`)).status === 200
    })
    const reply = await client.submit(holder(), order)
    expect([outcomeOf(reply), reply.headers['idempotency-replayed']]).toEqual(['202', undefined])
    expect(await ended(client, membersOf(reply))).toMatchObject({ status: 'completed' })
  })
}

function withoutPostgres(service: () => Service): void {
  test('operations that need PostgreSQL are unavailable, and their replies show no internals', async () => {
    const { described, ask } = service()
    const operations = described.operations.filter(({ path }) => /^\/(?:v1|log)\//.test(path))
    const served = await Promise.all(
      operations.map(async (operation) => {
        const reply = await ask(service().request(operation))
        if (reply.status < 500) return [operation.id]
        expectUnavailable(reply, '(ERR_DOWNSTREAM_FAILURE|ERR_SHARD_UNAVAILABLE)')
        expect(reply.body).not.toMatch(/postgres|sql|ECONN|connect|127\.0\.0\.1:\d+ /i)
        return []
      }),
    )
    // Each order of a batch is unavailable by itself; the others need nothing but keys.
    expect(served.flat()).toEqual(['submitBatch', 'verifyAssertion', 'getLogKey', 'getImportKey'])
  })
}

function expectUnavailable(reply: HttpReply, code: string): void {
  expect(outcomeOf(reply)).toMatch(new RegExp(`^503 ${code}$`))
  expect(reply.headers['retry-after']).toMatch(/^\d+$/)
}

/** Meanwhile another shard has a dead owner, as after the kill of a node. */
async function withOwnerOfAnother<T>(cluster: Cluster, needed: number, ask: () => Promise<T>): Promise<T> {
  const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice: () => undefined })
  const own = (session: string | null) => sql`
    UPDATE shards SET epoch = epoch + 1, node_id = ${session}, session = ${session}
     WHERE shard_id = (SELECT min(shard_id) FROM shards WHERE shard_id <> ${needed})`
  try {
    await own('gone')
    return await ask()
  } finally {
    await own(null)
    await sql.end()
  }
}

/** A regular stop, so that the node releases its shards; no other node takes them. */
async function endNode({ cluster, client }: Service): Promise<void> {
  const viewer = client('viewer')
  signalAll(cluster, 'supervisor', 'SIGSTOP')
  signalAll(cluster, 'node', 'SIGTERM')
  await until('no shard has an owner', DEADLINE_MS, async () => {
    const shards = await viewer.readAll('/v1/shards', 'shards')
    return shards.every(({ owner }) => owner === null)
  })
  // The information of the edge is at most a second old.
  await until('the edge knows that', DEADLINE_MS, async () => {
    const reply = await viewer.ask({ method: 'GET', path: '/readyz' })
    return (membersOf(reply)['checks'] as Members)['shards'] === false
  })
}

/** Stops PostgreSQL in the mode `fast` (SIGINT), which ends all connections. */
async function endPostgres({ cluster, ask }: Service): Promise<void> {
  signalAll(cluster, 'supervisor', 'SIGSTOP')
  signalAll(cluster, 'postgresql', 'SIGINT')
  await until('the edge knows that its database is away', DEADLINE_MS, async () => {
    const reply = await ask({ method: 'GET', path: '/readyz' })
    return (membersOf(reply)['checks'] as Members)['database'] === false
  })
}

async function bringBack(cluster: Cluster): Promise<void> {
  signalAll(cluster, 'supervisor', 'SIGCONT')
  await until('everything is back', DEADLINE_MS, cluster.isReady)
}

function signalAll(cluster: Cluster, kind: 'supervisor' | 'node' | 'postgresql', signal: NodeJS.Signals): void {
  const heads = cluster.heads(kind)
  expect(heads.length).toBeGreaterThan(0)
  for (const { pid } of heads) process.kill(pid, signal)
}
