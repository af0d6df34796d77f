/** Goal: D15: the state of an account is shown while its shard is healthy or draining, and 503 otherwise. */
import { expect, test } from 'vitest'
import { GIVEN_UP_AFTER_MS, SILENT_AFTER_MS } from '../../../runtime/shard-state.ts'
import { accountView, createEdgeFixture, bodyOf, refusalOf } from './edge-fixture.ts'

const PATH = '/v1/accounts/alice/state'

async function fixture() {
  const edge = createEdgeFixture()
  const account = accountView('alice')
  edge.reads.accountViews.set('alice', account)
  edge.reads.balanceViews.set('alice', [])
  const shard = edge.shards.shards.get(account.shardId)
  if (shard === undefined) throw new Error('there is no such shard')
  return { edge, shard, shardId: account.shardId, token: await edge.tokenFor('viewer') }
}

test('a served shard shows the tip', async () => {
  const { edge, token } = await fixture()
  expect(await bodyOf(await edge.get(PATH, token))).toEqual({
    account_id: 'alice',
    audit_hash: `sha256:${'ab'.repeat(32)}`,
    updated_at: '2025-10-09T08:53:21.500Z',
  })
})

test.for([
  ['has no owner', { owner: null }],
  ['has just been taken', { ownedForMs: 0, epoch: 2 }],
  ['has a silent owner', { silentForMs: SILENT_AFTER_MS }],
  ['has an owner that counts as dead', { silentForMs: GIVEN_UP_AFTER_MS }],
  ['has an owner that cannot commit', { silentForMs: Infinity }],
] as const)('of a shard that %s the state is 503, unless it drains; balances are served', async ([, signs]) => {
  const { edge, shard, shardId, token } = await fixture()
  Object.assign(shard, signs)
  const away = await edge.get(PATH, token)
  expect(away.headers.get('retry-after')).toBe('1')
  expect(await refusalOf(away)).toMatchObject({ status: 503, codes: ['ERR_SHARD_UNAVAILABLE'] })
  expect((await edge.get('/v1/accounts/alice/balances', token)).status).toBe(200)
  expect((await edge.get('/v1/accounts/nobody/state', token)).status).toBe(404)
  edge.reads.anyOwned = false
  expect(await refusalOf(await edge.get(PATH, token))).toMatchObject({ codes: ['ERR_NO_HEALTHY_SHARDS'] })
  edge.shards.draining.add(shardId)
  expect((await edge.get(PATH, token)).status).toBe(200)
})
