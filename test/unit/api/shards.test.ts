/** Goal: shards are shown as they are, only an administrator says anything of them, and only what can be said (D15). */
import { describe, expect, test } from 'vitest'
import type { ShardHealth } from '../../../runtime/ports/shard-health.ts'
import { ShardHealthUnavailable } from '../../../runtime/ports/shard-health.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, refusalOf } from './edge-fixture.ts'

const SHARDS = 256
const UPDATED_AT_MS = 1_760_000_000_456
/** Shapes that no shard is called by. */
const NO_SHARDS = [
  '256',
  '65535',
  '65536',
  '99999',
  '-1',
  '+1',
  '007',
  '00',
  '1.0',
  '1e2',
  '0x1',
  'x',
  '%20',
  '7%20',
  '%D9%A3',
]

interface ShardBody {
  readonly shard_id: number
  readonly health_state: string
}

/** All owned by one node, but shard 3, which nobody owns. */
function fixture(real?: Parameters<typeof createEdgeFixture>[0]): EdgeFixture {
  const edge = createEdgeFixture(real)
  for (const [shardId, shard] of edge.shards.shards) {
    Object.assign(shard, { owner: shardId === 3 ? null : 'node-1', epoch: 4, ownedForMs: 60_000 })
    Object.assign(shard, { txnCount: shardId, updatedAtMs: UPDATED_AT_MS })
  }
  return edge
}

async function shardsOf(response: Response): Promise<{ shards: readonly ShardBody[]; next: string; total: unknown }> {
  const body = await bodyOf(response)
  return {
    shards: body['shards'] as readonly ShardBody[],
    next: String(body['next_page_token']),
    total: body['total_count'],
  }
}

describe('GET /v1/shards', () => {
  test('D16: all shards by ID, page by page, each once', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const first = await shardsOf(await edge.get('/v1/shards', token))
    expect([first.shards.length, first.total]).toEqual([100, SHARDS])
    const seen = [...first.shards]
    for (let { next } = first; next !== '';) {
      const page = await shardsOf(await edge.get(`/v1/shards?page_size=77&page_token=${next}`, token))
      seen.push(...page.shards)
      next = page.next
    }
    expect(seen.map(({ shard_id: shardId }) => shardId)).toEqual(Array.from({ length: SHARDS }, (_, id) => id))
  })

  test('D16: above 1000 is served as 1000, the last page ends the list', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    for (const size of [SHARDS, 1000, 1001, 999_999]) {
      const page = await shardsOf(await edge.get(`/v1/shards?page_size=${size}`, token))
      expect([page.shards.length, page.next]).toEqual([SHARDS, ''])
    }
  })

  test('D16: a wrong page size, and a token that is damaged or of another list, are 400', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('admin')
    edge.reads.accountViews.clear()
    const { next } = await shardsOf(await edge.get('/v1/shards?page_size=1', token))
    const damaged = `${next.startsWith('A') ? 'B' : 'A'}${next.slice(1)}`
    for (const [path, field] of [
      ['/v1/shards?page_size=0', 'page_size'],
      ['/v1/shards?page_size=-1', 'page_size'],
      ['/v1/shards?page_size=1.5', 'page_size'],
      [`/v1/shards?page_token=${damaged}`, 'page_token'],
      [`/v1/accounts?page_token=${next}`, 'page_token'],
      [`/v1/shards?page_token=${next}&page_token=${next}`, 'page_token'],
    ] as const) {
      expect([path, await refusalOf(await edge.get(path, token))]).toEqual([
        path,
        { status: 400, codes: ['ERR_INVALID_QUERY'], fields: [field] },
      ])
    }
    expect((await edge.get(`/v1/shards?page_token=${next}`, await edge.tokenFor('viewer'))).status).toBe(400)
  })
})

describe('GET /v1/shards/{id}', () => {
  test('D15: who owns it, since which epoch, how it fares and what it has processed', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const shown = await edge.get('/v1/shards/42', token)
    expect(shown.status).toBe(200)
    expect(await bodyOf(shown)).toEqual({
      shard_id: 42,
      owner: 'node-1',
      epoch: 4,
      health_state: 'healthy',
      txn_count: 42,
      updated_at: '2025-10-09T08:53:20.456Z',
    })
    const { shards } = await shardsOf(await edge.get('/v1/shards', token))
    expect(shards[42]).toEqual(await bodyOf(await edge.get('/v1/shards/42', token)))
    expect(await bodyOf(await edge.get('/v1/shards/3', token))).toMatchObject({
      owner: null,
      health_state: 'unavailable',
    })
    for (const edgeId of [0, 255]) expect((await edge.get(`/v1/shards/${edgeId}`, token)).status).toBe(200)
  })

  test.for(NO_SHARDS)('D1: %s names no shard: 404, whatever its shape', async (shardId) => {
    const edge = fixture()
    const admin = await edge.tokenFor('admin')
    const refused = { status: 404, codes: ['ERR_NOT_FOUND'], fields: undefined }
    expect(await refusalOf(await edge.get(`/v1/shards/${shardId}`, admin))).toEqual(refused)
    const said = await edge.put(`/v1/shards/${shardId}/health`, { health_state: 'draining' }, admin)
    expect(await refusalOf(said)).toEqual(refused)
    expect(edge.shards.draining.size).toBe(0)
  })
})

describe('PUT /v1/shards/{id}/health', () => {
  const path = '/v1/shards/7/health'

  test('D15: draining is recorded, shown, and taken back by healthy', async () => {
    const edge = fixture()
    const admin = await edge.tokenFor('admin')
    const said = await edge.put(path, { health_state: 'draining' }, admin)
    expect(said.status).toBe(200)
    const shown = await bodyOf(said)
    expect(shown).toMatchObject({ shard_id: 7, owner: 'node-1', health_state: 'draining', txn_count: 7 })
    expect(await bodyOf(await edge.get('/v1/shards/7', admin))).toEqual(shown)
    expect(edge.shards.recordedBy.get(7)).toBe('client-admin')
    const back = await edge.put(path, { health_state: 'healthy' }, admin)
    expect(await bodyOf(back)).toMatchObject({ health_state: 'healthy' })
    expect(edge.shards.draining.size).toBe(0)
  })

  test('D15: with txn_count it is 409 when the shard has processed fewer, and nothing is recorded', async () => {
    const edge = fixture()
    const admin = await edge.tokenFor('admin')
    const few = await edge.put(path, { health_state: 'draining', txn_count: 8 }, admin)
    expect(await refusalOf(few)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['txn_count'] })
    expect(edge.shards.draining.size).toBe(0)
    for (const count of [7, 0]) {
      expect((await edge.put(path, { health_state: 'draining', txn_count: count }, admin)).status).toBe(200)
    }
    expect([...edge.shards.draining]).toEqual([7])
  })

  test.for<[unknown, string[], string[]]>([
    [{}, ['ERR_INVALID_HEALTH_STATE'], ['health_state']],
    [{ health_state: null }, ['ERR_INVALID_HEALTH_STATE'], ['health_state']],
    [{ health_state: 'Draining' }, ['ERR_INVALID_HEALTH_STATE'], ['health_state']],
    [{ health_state: 'moving' }, ['ERR_INVALID_HEALTH_STATE'], ['health_state']],
    [{ health_state: 'unavailable' }, ['ERR_INVALID_HEALTH_STATE'], ['health_state']],
    [{ health_state: ['draining'] }, ['ERR_INVALID_HEALTH_STATE'], ['health_state']],
    [{ health_state: 'healthy', txn_count: -1 }, ['ERR_INVALID_TXN_COUNT'], ['txn_count']],
    [{ health_state: 'healthy', txn_count: 1.5 }, ['ERR_INVALID_TXN_COUNT'], ['txn_count']],
    [{ health_state: 'healthy', txn_count: '7' }, ['ERR_INVALID_TXN_COUNT'], ['txn_count']],
    [{ health_state: 'healthy', txn_count: 2 ** 53 }, ['ERR_INVALID_TXN_COUNT'], ['txn_count']],
    [{ health_state: 'healthy', txn_count: 1e300 }, ['ERR_INVALID_TXN_COUNT'], ['txn_count']],
    [{ txn_count: -1 }, ['ERR_INVALID_HEALTH_STATE', 'ERR_INVALID_TXN_COUNT'], ['health_state', 'txn_count']],
  ])('D15: %j is 400 with every code that applies', async ([body, codes, fields]) => {
    const edge = fixture()
    const refused = await edge.put(path, body, await edge.tokenFor('admin'))
    expect((await bodyOf(refused.clone()))['type']).toBe('https://ledger.example/errors/validation-error')
    expect(await refusalOf(refused)).toEqual({ status: 400, codes, fields })
    expect(edge.shards.recordedBy.size).toBe(0)
  })

  test('fields that nobody knows are ignored: nothing of it is signed', async () => {
    const edge = fixture()
    const body = { health_state: 'draining', reason: 'maintenance' }
    expect((await edge.put(path, body, await edge.tokenFor('admin'))).status).toBe(200)
  })

  test('what a POST must be, a PUT must be: JSON, declared so, not compressed, not empty, within 1 MB', async () => {
    const edge = fixture()
    const admin = await edge.tokenFor('admin')
    const body = JSON.stringify({ health_state: 'draining' })
    const padded = (sizeBytes: number) => `${body}${' '.repeat(sizeBytes - body.length)}`
    const put = async (text: string, headers: Record<string, string> = {}) =>
      refusalOf(await edge.put(path, text, admin, headers))
    expect(await put(body, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
    expect(await put(body, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 415,
      codes: ['ERR_UNSUPPORTED_CONTENT_TYPE'],
    })
    expect(await put('')).toMatchObject({ status: 400, fields: ['body'] })
    expect(await put('{"health_state":"draining","health_state":"healthy"}')).toMatchObject({ status: 400 })
    expect(await put('["draining"]')).toMatchObject({ status: 400, fields: ['body'] })
    expect(await put(padded(1_048_577))).toMatchObject({ status: 413, codes: ['ERR_PAYLOAD_TOO_LARGE'] })
    expect(edge.shards.recordedBy.size).toBe(0)
    expect((await edge.put(path, padded(1_048_576), admin)).status).toBe(200)
    const undeclared = { method: 'PUT', headers: { authorization: `Bearer ${admin}` }, body: Buffer.from(body) }
    expect((await edge.app.request(path, undeclared)).status).toBe(415)
  })

  test.for(['viewer', 'transactor'] as const)('D15: a %s may not, whatever it sends', async (role) => {
    const edge = fixture()
    const token = await edge.tokenFor(role)
    for (const body of [{ health_state: 'draining' }, {}, 'not JSON']) {
      expect(await refusalOf(await edge.put(path, body, token))).toMatchObject({
        status: 403,
        codes: ['ERR_FORBIDDEN'],
      })
    }
    expect((await edge.put(path, { health_state: 'draining' })).status).toBe(401)
    expect(edge.shards.recordedBy.size).toBe(0)
  })
})

test('405: what a shard has no method for names those that it has, PUT among them', async () => {
  const edge = fixture()
  const headers = { authorization: `Bearer ${await edge.tokenFor('admin')}` }
  for (const [method, path, allow] of [
    ['GET', '/v1/shards/7/health', 'PUT, OPTIONS'],
    ['POST', '/v1/shards/7/health', 'PUT, OPTIONS'],
    ['DELETE', '/v1/shards/7/health', 'PUT, OPTIONS'],
    ['PUT', '/v1/shards/7', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/shards', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const response = await edge.app.request(path, { method, headers })
    expect([method, path, response.status, response.headers.get('allow')]).toEqual([method, path, 405, allow])
  }
})

test('a store that is away is a 503 with nothing of it inside, and to a change it says that the outcome is unknown', async () => {
  const away = async (): Promise<never> => {
    throw new ShardHealthUnavailable('connect ECONNREFUSED 10.0.0.7')
  }
  const shardHealth: ShardHealth = { shards: away, shard: away, record: away }
  const edge = fixture({ shardHealth })
  const admin = await edge.tokenFor('admin')
  const answers = [
    await edge.get('/v1/shards', admin),
    await edge.get('/v1/shards/7', admin),
    await edge.put('/v1/shards/7/health', { health_state: 'draining' }, admin),
  ]
  for (const answer of answers) {
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.clone().text()).not.toContain('10.0.0.7')
    expect(await refusalOf(answer.clone())).toMatchObject({ status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] })
  }
  const outcomes = await Promise.all(answers.map(async (answer) => (await bodyOf(answer))['outcome']))
  expect(outcomes).toEqual([undefined, undefined, 'unknown'])
  expect(edge.log.map(({ level, event }) => `${level} ${event}`)).toEqual(answers.map(() => 'warn port_unavailable'))
})
