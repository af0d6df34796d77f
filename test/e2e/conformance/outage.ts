/**
 * What is said when parts of the ledger are away. Last of all: the node of the stage is ended, then its PostgreSQL, and
 * whoever would start them again is held meanwhile.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type HttpReply, membersOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { ended, keyed, outcomeOf } from '../../support/client-moves.ts'
import { type Cluster, until } from '../../support/cluster-process.ts'
import type { CodeTable } from './code-table.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const DEADLINE_MS = 180_000
const UNAVAILABLE = {
  title: 'Service Unavailable',
  status: 503,
  detail: expect.any(String),
}

export function outageChapters(suite: Suite, codes: CodeTable, stage: () => Stage): void {
  describe('without a node', () => {
    beforeAll(() => endNode(stage()))
    // Whatever became of the tests: the next outage, and the end, need everything back.
    afterAll(() => bringBack(stage().cluster))
    withoutNode(suite, codes)
  })
  describe('without PostgreSQL', () => {
    beforeAll(() => endPostgres(stage()))
    afterAll(() => bringBack(stage().cluster))
    withoutPostgres(suite, codes)
  })
}

function withoutNode(suite: Suite, codes: CodeTable): void {
  const code = suite.chapter('Error codes')

  code('ERR_NO_HEALTHY_SHARDS', '503: no shard has an owner; the order is provably not applied', async (stage) => {
    const reply = await stage.transactor.submit(stage.cast.alice, keyed({ type: 'credit', amount: '1' }))
    expectUnavailable(reply, 'shard-unavailable', 'ERR_NO_HEALTHY_SHARDS', 'not_applied')
    codes.note('ERR_NO_HEALTHY_SHARDS', stage.requestOf(reply), reply)
  })

  code('ERR_SHARD_UNAVAILABLE', '503: the shard that is needed has no owner, and another has', async (stage) => {
    const { viewer, cluster, cast } = stage
    const path = `/v1/accounts/${cast.alice.accountId}`
    const { shard_id: needed } = await viewer.read(path)
    const reply = await withOwnerOfAnother(cluster, Number(needed), () => viewer.get(`${path}/state`))
    expectUnavailable(reply, 'shard-unavailable', 'ERR_SHARD_UNAVAILABLE')
    codes.note('ERR_SHARD_UNAVAILABLE', stage.requestOf(reply), reply)
    expectUnavailable(await viewer.get(`${path}/state`), 'shard-unavailable', 'ERR_NO_HEALTHY_SHARDS')
  })

  suite.chapter('Versioning')(
    '503 and not 404 while a shard moves',
    '404 is kept for accounts that do not exist; what needs no owner is served on',
    async ({ viewer, cast }) => {
      const path = `/v1/accounts/${cast.bob.accountId}`
      expect((await viewer.get(`${path}/state`)).status).toBe(503)
      expect(outcomeOf(await viewer.get('/v1/accounts/nobody@nowhere/state'))).toBe('404 ERR_NOT_FOUND')
      for (const served of [path, `${path}/balances`, `${path}/nfts`, '/v1/transactions', '/v1/shards']) {
        expect([served, (await viewer.get(served)).status]).toEqual([served, 200])
      }
    },
  )

  suite.chapter('Status codes')(
    '503',
    'until the shard is owned again: then the same order is taken',
    async (stage) => {
      const { transactor, viewer, cast } = stage
      const order = keyed({ type: 'credit', amount: '1' })
      expect((await transactor.submit(cast.alice, order)).status).toBe(503)
      await bringBack(stage.cluster)
      // An edge is ready when it can serve one shard: the account's may be taken after others.
      await until('the shard is owned', DEADLINE_MS, async () => {
        return (await viewer.get(`/v1/accounts/${cast.alice.accountId}/state`)).status === 200
      })
      const reply = await transactor.submit(cast.alice, order)
      expect([outcomeOf(reply), reply.headers['idempotency-replayed']]).toEqual(['202', undefined])
      expect(await ended(transactor, membersOf(reply))).toMatchObject({ status: 'completed' })
    },
  )
}

function withoutPostgres(suite: Suite, codes: CodeTable): void {
  suite.chapter('Error codes')(
    'ERR_DOWNSTREAM_FAILURE',
    '503 with a safe message: something inside is away',
    async (stage) => {
      const reply = await stage.viewer.get('/v1/transactions')
      expectUnavailable(reply, 'downstream-failure', 'ERR_DOWNSTREAM_FAILURE')
      expect(reply.body).not.toMatch(/postgres|sql|ECONN|connect|127\.0\.0\.1:\d+ /i)
      codes.note('ERR_DOWNSTREAM_FAILURE', stage.requestOf(reply), reply)
    },
  )
}

function expectUnavailable(reply: HttpReply, slug: string, code: string, outcome?: string): void {
  const body: Members = membersOf(reply)
  expect(body).toMatchObject({ ...UNAVAILABLE, error_codes: [code], ...(outcome === undefined ? {} : { outcome }) })
  expect([reply.status, String(body['type']).endsWith(`/errors/${slug}`)]).toEqual([503, true])
  expect(reply.headers['retry-after']).toMatch(/^\d+$/)
}

/** Meanwhile a shard that is not needed has an owner that is not there, as a node leaves it that was killed. */
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

/** In order, so that it gives its shards back; nobody takes them. */
async function endNode({ cluster, viewer }: Stage): Promise<void> {
  signalAll(cluster, 'supervisor', 'SIGSTOP')
  signalAll(cluster, 'node', 'SIGTERM')
  await until('no shard has an owner', DEADLINE_MS, async () => {
    const shards = await viewer.readAll('/v1/shards', 'shards')
    return shards.every(({ owner }) => owner === null)
  })
  // What the edge knows is a second old at most.
  await until('the edge knows that', DEADLINE_MS, async () => {
    const reply = await viewer.ask({ method: 'GET', path: '/readyz' })
    return (membersOf(reply)['checks'] as Members)['shards'] === false
  })
}

/** As its server's operator would in a hurry: connections are ended, and nothing answers. */
async function endPostgres({ cluster, ask }: Stage): Promise<void> {
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
