/** Goal: shards are shown as they are, only an administrator says anything of them, and only what can be said (D15). */
import { describe, expect, test } from 'vitest'
import type { ShardHealth } from '../../../runtime/ports/shard-health.ts'
import { ShardHealthUnavailable } from '../../../runtime/ports/shard-health.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, refusalOf } from './edge-fixture.ts'

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
