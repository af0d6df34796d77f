/**
 * D16: every list has pages with each row once, and a page token is valid for one list, one query and one client.
 * D1: an unknown resource is 404, on every route.
 */
import { describe, expect, test } from 'vitest'
import { encodeUlid } from '../../../../actors/identifiers.ts'
import { ReadsUnavailable } from '../../../../runtime/ports/ledger-reads.ts'
import { anAttestation } from '../../../contract/attestation-store/attestation-store-scene.ts'
import { legHold } from '../../../support/postgres/ledger-rows-values.ts'
import {
  accountView,
  bodyOf,
  createEdgeFixture,
  type EdgeFixture,
  GROUP_ID,
  refusalOf,
  tokenView,
  TXN_ID,
} from '../fakes/edge-fixture.ts'

const CLASS_IDS = [1, 2, 3].map((number) => `cls_0000000000000000000000000${number}`)
const [FIRST = '', SECOND = ''] = CLASS_IDS
const INSTANCES = `/v1/nft-classes/${FIRST}/instances`
const NO_CLASS = 'cls_00000000000000000000000009'
const NAMES = ['jade', 'opal', 'ruby']
const AT_MS = 1_760_000_000_000
const SHARDS = Array.from({ length: 256 }, (_, shardId) => shardId)

/** Each list with its rows in order, the member that identifies a row, and another list of the same kind. */
const LISTS: readonly (readonly [
  path: string,
  rows: string,
  member: string,
  ids: readonly unknown[],
  other: string,
])[] = [
  ['/v1/nft-classes', 'classes', 'class_id', CLASS_IDS, '/v1/fungible-tokens'],
  [INSTANCES, 'instances', 'instance_id', NAMES, `/v1/nft-classes/${SECOND}/instances`],
  [`${INSTANCES}/ruby/history`, 'history', 'txn_id', ['txn_0', 'txn_1', 'txn_2'], `${INSTANCES}/opal/history`],
  [`${INSTANCES}/ruby/provenance`, 'provenance', 'txn_id', ['txn_0', 'txn_1', 'txn_2'], `${INSTANCES}/opal/provenance`],
  ['/v1/accounts/alice/nfts', 'nfts', 'instance_id', NAMES, '/v1/accounts/bob/nfts'],
  ['/v1/accounts', 'accounts', 'account_id', ['alice', 'bob', 'carol'], '/v1/shards'],
  ['/v1/accounts/alice/balances', 'balances', 'token_id', ['BASE', 'EUR', 'USD'], '/v1/accounts/bob/balances'],
  ['/v1/accounts/alice/audit-chain', 'entries', 'sequence', [0, 1, 2], '/v1/accounts/bob/audit-chain'],
  ['/v1/accounts/alice/expectations', 'expectations', 'leg', [2, 9, 10], '/v1/accounts/bob/expectations'],
  ['/v1/fungible-tokens', 'tokens', 'token_id', ['EUR.x', 'GBP', 'usd'], '/v1/nft-classes'],
  ['/v1/shards', 'shards', 'shard_id', SHARDS, '/v1/accounts'],
  ['/v1/attestations', 'attestations', 'attestation_id', [3, 2, 1].map(attestationId), '/v1/attestations?source=a'],
]

function attestationId(number: number): string {
  return `att_${encodeUlid({ timeMs: AT_MS, counter: number, shardId: 0, random: 0 })}`
}

async function scene() {
  const edge = createEdgeFixture()
  const { reads, attestations } = edge
  for (const name of ['alice', 'bob', 'carol']) reads.accountViews.set(name, accountView(name))
  for (const tokenId of ['usd', 'EUR.x', 'GBP']) reads.tokenViews.set(tokenId, tokenView({ tokenId }))
  const shared = { issuer: 'issuer', description: '', metadataSchema: {}, createdAtMs: AT_MS }
  for (const classId of CLASS_IDS) {
    reads.classViews.set(classId, { ...shared, classId, name: classId })
    attestations.state.classes.set(classId, classId)
  }
  const nft = { classId: FIRST, owner: 'alice', status: 'active', metadata: {}, mintedAtMs: AT_MS } as const
  const event = { type: 'transfer', from: 'alice', to: 'bob', payload: '{}' } as const
  const hashes = { previousHash: '00'.repeat(32), eventHash: '11'.repeat(32) }
  const events = [0, 1, 2].map((number) => ({ ...event, ...hashes, number, txnId: `txn_${number}`, atMs: AT_MS }))
  for (const instanceId of NAMES) {
    reads.instanceViews.set(`${FIRST}/${instanceId}`, { ...nft, instanceId })
    reads.nftHistories.set(`${FIRST}/${instanceId}`, events)
    attestations.state.instances.set(`${FIRST}/${instanceId}`, { issuer: 'issuer', events })
  }
  reads.ownedNftViews.set(
    'alice',
    NAMES.map((instanceId) => ({ ...nft, instanceId, className: 'Gems', acquiredAtMs: AT_MS })),
  )
  const balance = { tokenClass: 'fungible', balance: '1', available: '1', incoming: '0', decimals: 2 } as const
  const chain = { txnId: null, previousHash: '0'.repeat(64), auditHash: '1'.repeat(64), payload: '{}' }
  const expected = { groupId: GROUP_ID, state: 'expected', txnId: null } as const
  for (const accountId of ['alice', 'bob']) {
    const balances = ['USD', 'BASE', 'EUR'].map((tokenId) => ({ ...balance, tokenId, updatedAtMs: AT_MS }))
    reads.balanceViews.set(accountId, balances)
    reads.chains.set(accountId, {
      entries: [0, 1, 2].map((sequence) => ({ ...chain, sequence })),
      next: null,
      total: 3,
    })
    reads.expectationViews.set(
      accountId,
      [2, 9, 10].map((leg) => legHold({ ...expected, leg })),
    )
  }
  for (const number of [1, 2, 3]) {
    const of = { attestationId: attestationId(number), subjectClass: SECOND, subjectInstance: 'x' }
    attestations.state.attestations.set(of.attestationId, anAttestation(of))
  }
  return { ...edge, token: await edge.tokenFor('admin') }
}

describe.for(LISTS)('D16: the list %s', ([path, rows, member, ids, other]) => {
  async function page(edge: Pick<EdgeFixture, 'get'> & { readonly token: string }, query: string) {
    const body = await bodyOf(await edge.get(`${path}?${query}`, edge.token))
    const found = (body[rows] as readonly Record<string, unknown>[]).map((row) => row[member])
    return { ids: found, next: body['next_page_token'] as string, total: body['total_count'] }
  }

  test('pages of different sizes have each row once, in order, and the count of the first page', async () => {
    const edge = await scene()
    const first = await page(edge, 'page_size=1')
    expect(first.ids).toEqual(ids.slice(0, 1))
    const seen = [...first.ids]
    for (let { next } = first; next !== '';) {
      const later = await page(edge, `page_size=${Math.ceil(ids.length / 2)}&page_token=${next}`)
      expect([later.total, later.ids.length > 0]).toEqual([first.total, true])
      seen.push(...later.ids)
      next = later.next
    }
    expect(seen).toEqual(ids)
  })

  test('the page with the last row has an empty token, which starts again at the first page', async () => {
    const edge = await scene()
    expect(await page(edge, `page_size=${ids.length}`)).toMatchObject({ ids, next: '' })
    expect((await page(edge, `page_size=${ids.length - 1}`)).next).not.toBe('')
    expect((await page(edge, 'page_token=')).ids).toEqual(ids.slice(0, 100))
  })

  test('a page size is a positive integer, and one above 1000 counts as 1000', async () => {
    const edge = await scene()
    for (const size of ['1000', '1001', '9'.repeat(400)])
      expect((await page(edge, `page_size=${size}`)).ids).toEqual(ids)
    for (const size of ['0', '-1', '1.5', 'x', '', '1e2', '+1', ' 1']) {
      const refused = await refusalOf(await edge.get(`${path}?page_size=${encodeURIComponent(size)}`, edge.token))
      expect([size, refused]).toEqual([size, { status: 400, codes: ['ERR_INVALID_QUERY'], fields: ['page_size'] }])
    }
  })

  test('a token that is damaged, of another list or of another client is 400', async () => {
    const edge = await scene()
    const { next } = await page(edge, 'page_size=1')
    const damaged = [
      `${next.slice(0, -1)}${next.endsWith('A') ? 'B' : 'A'}`,
      next.slice(1),
      `${next}A`,
      'x'.repeat(513),
    ]
    const lists = [other, ...LISTS.map(([list]) => list)].filter((list) => list !== path)
    const refused = [
      ...damaged.map((text) => [path, text, edge.token] as const),
      ...lists.map((list) => [list, next, edge.token] as const),
      [path, next, await edge.tokenFor('admin', 'another')] as const,
    ]
    for (const [list, text, token] of refused) {
      const address = `${list}${list.includes('?') ? '&' : '?'}page_token=${text}`
      expect([address, await refusalOf(await edge.get(address, token))]).toEqual([
        address,
        { status: 400, codes: ['ERR_INVALID_QUERY'], fields: ['page_token'] },
      ])
    }
  })
})

// shards.test.ts tests the list of shards.
test.for([
  ...LISTS.filter(([, rows]) => rows !== 'shards').map(([path]) => path),
  '/v1/transactions',
  `/v1/attestations/${attestationId(1)}`,
])('an unavailable store is 503 without details: %s', async (path) => {
  const edge = await scene()
  edge.reads.failure = new ReadsUnavailable('connect ECONNREFUSED 10.0.0.7')
  edge.attestations.failure = edge.reads.failure
  const response = await edge.get(path, edge.token)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  const text = await response.text()
  expect(text).toContain('ERR_DOWNSTREAM_FAILURE')
  expect(text).not.toMatch(/ECONN|10\.0|outcome/)
})

/** Paths (`{}`: the ID), unknown IDs, and the refusal of a malformed ID. */
const NO_ACCOUNT = { status: 400, codes: ['ERR_INVALID_ACCOUNT_ID'], fields: ['account_id'] }
const NO_GROUP = { status: 400, codes: ['ERR_INVALID_GROUP_ID'], fields: ['group_id'] }
const ABSENT = { status: 404, codes: ['ERR_NOT_FOUND'], fields: undefined }
const OF_ACCOUNTS = [
  '',
  '/state',
  '/balances',
  '/balances/BASE',
  '/nfts',
  '/audit-chain',
  '/expectations',
  '/liability-proof',
]
const OF_INSTANCES = ['', '/history', '/provenance']
const NOTHING: readonly (readonly [path: string, ids: readonly string[], illFormed: object])[] = [
  ...OF_ACCOUNTS.map((suffix) => [`/v1/accounts/{}${suffix}`, ['nobody', 'ALICE'], NO_ACCOUNT] as const),
  ...['/v1/settlement-groups/{}', '/v1/transactions/group/{}'].map((path) => [path, [GROUP_ID], NO_GROUP] as const),
  ...['', '/receipt'].map((suffix) => [`/v1/transactions/{}${suffix}`, [TXN_ID, 'x', 'txn_'], ABSENT] as const),
  ...OF_INSTANCES.map((suffix) => [`${INSTANCES}/{}${suffix}`, ['topaz', 'RUBY', 'ruby%2Fhistory'], ABSENT] as const),
  ...OF_INSTANCES.map((suffix) => [`/v1/nft-classes/{}/instances/ruby${suffix}`, CLASS_IDS.slice(1), ABSENT] as const),
  ...['', '/instances'].map(
    (suffix) => [`/v1/nft-classes/{}${suffix}`, [NO_CLASS, FIRST.toUpperCase(), 'x'], ABSENT] as const,
  ),
  [`${INSTANCES}/ruby/{}`, ['histories'], ABSENT],
  ['/v1/fungible-tokens/{}', ['BASE', 'eur.x', 'x'], ABSENT],
  ['/v1/accounts/alice/balances/{}', ['GBP', 'base'], ABSENT],
  ['/v1/attestations/{}', [attestationId(9), 'x'], ABSENT],
]
const ILL_FORMED = ['%00', '%E0%A4%A', 'a%2Fb', 'a%20b', '%C3%A9', 'x'.repeat(300)]

test.for(NOTHING)('D1: an unknown ID is 404: %s', async ([path, ids, illFormed]) => {
  const edge = await scene()
  const ask = async (id: string) => [id, await refusalOf(await edge.get(path.replace('{}', id), edge.token))]
  for (const id of ids) expect(await ask(id)).toEqual([id, ABSENT])
  for (const id of ILL_FORMED) expect(await ask(id)).toEqual([id, illFormed])
})
