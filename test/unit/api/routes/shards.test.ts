/** D15: the edge shows the health of shards, lets an admin drain them, and refuses states of unavailable shards. */
import { expect, test } from 'vitest'
import { type ShardHealth, ShardHealthUnavailable } from '../../../../runtime/ports/shard-health.ts'
import { GIVEN_UP_AFTER_MS, SILENT_AFTER_MS } from '../../../../runtime/node/ownership/shard-state.ts'
import { accountView, bodyOf, createEdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'

const ODD = ['+1', '007', '00', '1.0', '1e2', '0x1', 'x', '%20', '7%20', '%D9%A3']
const NO_SHARDS = ['256', '65535', '65536', '99999', '-1', ...ODD]
const HEALTH = '/v1/shards/7/health'

/** One node owns all shards except shard 3, which has no owner. */
async function fixture(real?: Parameters<typeof createEdgeFixture>[0]) {
  const edge = createEdgeFixture(real)
  for (const [shardId, shard] of edge.shards.shards) {
    const signs = { txnCount: shardId, updatedAtMs: 1_760_000_000_456, epoch: 4, ownedForMs: 60_000 }
    Object.assign(shard, { ...signs, owner: shardId === 3 ? null : 'node-1' })
  }
  return { edge, admin: await edge.tokenFor('admin') }
}

test('a shard shows its owner, epoch, health and number of transactions', async () => {
  const { edge, admin } = await fixture()
  const shown = await bodyOf(await edge.get('/v1/shards/42', admin))
  const common = { shard_id: 42, owner: 'node-1', epoch: 4, health_state: 'healthy', txn_count: 42 }
  expect(shown).toEqual({ ...common, updated_at: '2025-10-09T08:53:20.456Z' })
  expect((await bodyOf(await edge.get('/v1/shards', admin)))['shards']).toContainEqual(shown)
  const unowned = await bodyOf(await edge.get('/v1/shards/3', admin))
  expect(unowned).toMatchObject({ owner: null, health_state: 'unavailable' })
  for (const outermost of [0, 255]) expect((await edge.get(`/v1/shards/${outermost}`, admin)).status).toBe(200)
})

test.for(NO_SHARDS)('D1: %s is no shard and is 404', async (shardId) => {
  const { edge, admin } = await fixture()
  const refused = { status: 404, codes: ['ERR_NOT_FOUND'], fields: undefined }
  expect(await refusalOf(await edge.get(`/v1/shards/${shardId}`, admin))).toEqual(refused)
  const said = await edge.put(`/v1/shards/${shardId}/health`, { health_state: 'draining' }, admin)
  expect(await refusalOf(said)).toEqual(refused)
  expect(edge.shards.draining.size).toBe(0)
})

test('draining is recorded and shown, and healthy ends it', async () => {
  const { edge, admin } = await fixture()
  const said = await edge.put(HEALTH, { health_state: 'draining' }, admin)
  expect(said.status).toBe(200)
  const shown = await bodyOf(said)
  expect(shown).toMatchObject({ shard_id: 7, owner: 'node-1', health_state: 'draining', txn_count: 7 })
  expect(await bodyOf(await edge.get('/v1/shards/7', admin))).toEqual(shown)
  expect(edge.shards.recordedBy.get(7)).toBe('client-admin')
  const back = await edge.put(HEALTH, { health_state: 'healthy' }, admin)
  expect(await bodyOf(back)).toMatchObject({ health_state: 'healthy' })
  expect(edge.shards.draining.size).toBe(0)
})

test('with txn_count it is 409 when the shard has processed fewer, and nothing is recorded', async () => {
  const { edge, admin } = await fixture()
  const few = await edge.put(HEALTH, { health_state: 'draining', txn_count: 8 }, admin)
  expect(await refusalOf(few)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['txn_count'] })
  expect(edge.shards.draining.size).toBe(0)
  for (const count of [7, 0]) {
    expect((await edge.put(HEALTH, { health_state: 'draining', txn_count: count }, admin)).status).toBe(200)
  }
  expect([...edge.shards.draining]).toEqual([7])
})

test('an unavailable store is a 503 without its message, and for a change with the outcome unknown', async () => {
  const away = (): Promise<never> => Promise.reject(new ShardHealthUnavailable('connect ECONNREFUSED 10.0.0.7'))
  const shardHealth: ShardHealth = { shards: away, shard: away, record: away }
  const { edge, admin } = await fixture({ shardHealth })
  for (const [answer, outcome] of [
    [await edge.get('/v1/shards', admin), undefined],
    [await edge.get('/v1/shards/7', admin), undefined],
    [await edge.put(HEALTH, { health_state: 'draining' }, admin), 'unknown'],
  ] as const) {
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.clone().text()).not.toContain('10.0.0.7')
    const { status, error_codes: codes, ...body } = await bodyOf(answer)
    expect([status, codes, body['outcome']]).toEqual([503, ['ERR_DOWNSTREAM_FAILURE'], outcome])
  }
  expect(edge.log.map(({ level, event }) => `${level} ${event}`)).toEqual(Array(3).fill('warn port_unavailable'))
})

test.for([
  ['has no owner', { owner: null }],
  ['has just been taken', { ownedForMs: 0, epoch: 2 }],
  ['has a silent owner', { silentForMs: SILENT_AFTER_MS }],
  ['has an owner that counts as dead', { silentForMs: GIVEN_UP_AFTER_MS }],
  ['has an owner that cannot commit', { silentForMs: Infinity }],
] as const)(
  'the state of an account is 503 while its shard %s, unless that drains; balances are served',
  async ([, signs]) => {
    const { edge, admin } = await fixture()
    edge.reads.accountViews.set('alice', accountView('alice'))
    edge.reads.balanceViews.set('alice', [])
    Object.assign(edge.shards.shards.get(7) ?? {}, signs)
    const path = '/v1/accounts/alice/state'
    const away = await edge.get(path, admin)
    expect(away.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(away)).toMatchObject({ status: 503, codes: ['ERR_SHARD_UNAVAILABLE'] })
    expect((await edge.get('/v1/accounts/alice/balances', admin)).status).toBe(200)
    expect((await edge.get('/v1/accounts/nobody/state', admin)).status).toBe(404)
    edge.reads.anyOwned = false
    expect(await refusalOf(await edge.get(path, admin))).toMatchObject({ codes: ['ERR_NO_HEALTHY_SHARDS'] })
    edge.shards.draining.add(7)
    expect((await edge.get(path, admin)).status).toBe(200)
  },
)
