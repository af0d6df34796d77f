import { describe, expect, test } from 'vitest'
import type { ClassView } from '../../../actors/nft-class/state.ts'
import type { InstanceView, NftEvent } from '../../../actors/nft-instance/state.ts'
import { type OwnedNft } from '../../../runtime/ports/ledger-reads.ts'
import { accountView, bodyOf, createEdgeFixture } from './edge-fixture.ts'

const CLASSES = '/v1/nft-classes'
const CLASS_IDS = [1, 2, 3].map((number) => `cls_0000000000000000000000000${number}`)
const [FIRST = '', SECOND = ''] = CLASS_IDS
const INSTANCES = `${CLASSES}/${FIRST}/instances`
const RUBY = `${INSTANCES}/ruby`
const AT = '2025-10-09T08:53:20.000Z'
const AT_MS = Date.parse(AT)

function classView(classId: string): ClassView {
  return {
    classId,
    name: `Gems ${classId.at(-1)}`,
    description: 'Stones',
    issuer: 'issuer',
    metadataSchema: { type: 'object' },
    createdAtMs: AT_MS,
  }
}

function instanceView(instanceId: string, overrides: Partial<InstanceView> = {}): InstanceView {
  const common = { classId: FIRST, owner: 'alice', status: 'active', metadata: { of: instanceId } } as const
  return { ...common, instanceId, mintedAtMs: AT_MS, ...overrides }
}

function ownedView(instanceId: string): OwnedNft {
  return { ...instanceView(instanceId), className: 'Gems 1', acquiredAtMs: AT_MS + 5 }
}

function eventOf(number: number): NftEvent {
  const hashes = { previousHash: '00'.repeat(32), eventHash: '11'.repeat(32) }
  const type = number === 0 ? 'mint' : number === 3 ? 'burn' : 'transfer'
  const from = number === 0 ? null : 'alice'
  return { number, type, from, to: 'bob', txnId: `txn_${number}`, atMs: AT_MS + number, payload: '{}', ...hashes }
}

async function scene() {
  const edge = createEdgeFixture()
  const { reads } = edge
  for (const classId of CLASS_IDS) reads.classViews.set(classId, classView(classId))
  for (const name of ['ruby', 'opal', 'jade']) reads.instanceViews.set(`${FIRST}/${name}`, instanceView(name))
  reads.instanceViews.set(`${SECOND}/ruby`, instanceView('ruby', { classId: SECOND, owner: 'bob' }))
  reads.nftHistories.set(`${FIRST}/ruby`, [0, 1, 2, 3].map(eventOf))
  for (const name of ['alice', 'bob']) reads.accountViews.set(name, accountView(name))
  reads.ownedNftViews.set('alice', ['jade', 'opal', 'ruby'].map(ownedView))
  return { ...edge, token: await edge.tokenFor('viewer') }
}

describe('what there is of NFTs', () => {
  test('GET /v1/nft-classes/{id} shows one', async () => {
    const { get, token } = await scene()
    expect(await bodyOf(await get(`${CLASSES}/${FIRST}`, token))).toEqual({
      class_id: FIRST,
      name: 'Gems 1',
      description: 'Stones',
      issuer: 'issuer',
      metadata_schema: { type: 'object' },
      created_at: AT,
    })
  })

  test('GET /v1/nft-classes lists them by ID, without what may be large', async () => {
    const { get, token } = await scene()
    expect(await bodyOf(await get(CLASSES, token))).toEqual({
      classes: CLASS_IDS.map((classId) => ({
        class_id: classId,
        name: `Gems ${classId.at(-1)}`,
        issuer: 'issuer',
        created_at: AT,
      })),
      next_page_token: '',
      total_count: 3,
      total_count_relation: 'eq',
    })
  })

  test('GET /v1/nft-classes/{classId}/instances lists those of the class by ID', async () => {
    const { get, token } = await scene()
    const body = await bodyOf(await get(INSTANCES, token))
    expect(body).toMatchObject({ class_id: FIRST, next_page_token: '' })
    expect(body['instances']).toEqual(
      ['jade', 'opal', 'ruby'].map((name) => ({
        instance_id: name,
        owner: 'alice',
        status: 'active',
        metadata: { of: name },
        minted_at: AT,
      })),
    )
  })

  test.for(['active', 'held', 'burned'] as const)('GET of an instance that is %s shows it', async (status) => {
    const { get, reads, token } = await scene()
    reads.instanceViews.set(`${FIRST}/a:b@c`, instanceView('a:b@c', { status }))
    const shown = {
      class_id: FIRST,
      instance_id: 'a:b@c',
      owner: 'alice',
      status,
      metadata: { of: 'a:b@c' },
      minted_at: AT,
    }
    for (const path of [`${INSTANCES}/a:b@c`, `${INSTANCES}/a%3Ab%40c`]) {
      expect(await bodyOf(await get(path, token))).toEqual(shown)
    }
  })

  test('GET of a history shows it from the mint to the end', async () => {
    const { get, token } = await scene()
    const body = await bodyOf(await get(`${RUBY}/history`, token))
    expect(body).toMatchObject({ class_id: FIRST, instance_id: 'ruby', next_page_token: '' })
    expect(body['history']).toEqual([
      { from: null, to: 'bob', txn_id: 'txn_0', type: 'mint', timestamp: AT },
      { from: 'alice', to: 'bob', txn_id: 'txn_1', type: 'transfer', timestamp: '2025-10-09T08:53:20.001Z' },
      { from: 'alice', to: 'bob', txn_id: 'txn_2', type: 'transfer', timestamp: '2025-10-09T08:53:20.002Z' },
      { from: 'alice', to: 'bob', txn_id: 'txn_3', type: 'burn', timestamp: '2025-10-09T08:53:20.003Z' },
    ])
  })

  test('GET /v1/accounts/{id}/nfts shows what it owns, and when it got it; of who owns none, none', async () => {
    const { get, token } = await scene()
    const body = await bodyOf(await get('/v1/accounts/alice/nfts', token))
    expect(body).toMatchObject({ account_id: 'alice', next_page_token: '' })
    expect((body['nfts'] as readonly unknown[])[0]).toEqual({
      class_id: FIRST,
      instance_id: 'jade',
      class_name: 'Gems 1',
      status: 'active',
      metadata: { of: 'jade' },
      acquired_at: '2025-10-09T08:53:20.005Z',
    })
    expect(await bodyOf(await get('/v1/accounts/bob/nfts', token))).toEqual({
      account_id: 'bob',
      nfts: [],
      next_page_token: '',
    })
  })
})
