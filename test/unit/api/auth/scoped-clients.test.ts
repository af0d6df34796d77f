/**
 * D17: a client with a scope reaches only the accounts in it, on every route. Replies do not reveal whether other
 * accounts exist. A route that is missing from the tables fails the test.
 */
import { describe, expect, test } from 'vitest'
import type { Role } from '../../../../actors/account/commands.ts'
import { anAttestation } from '../../../contract/attestation-store/attestation-store-scene.ts'
import {
  accountView,
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  GROUP_ID,
  groupView,
  refusalOf,
} from '../fakes/edge-fixture.ts'
import {
  ABOUT_AN_ACCOUNT,
  type Asked,
  attestationIdOf,
  createLedger,
  ACCOUNTS,
  INSIDE,
  instanceIdOf,
  OUTSIDE,
  post,
  SCOPE,
  transactionOf,
  txnIdOf,
} from './scoped-ledger.ts'
import { CLASS_ID, KEY } from '../routes/written-requests.ts'

const PATH_VALUE = /:\w+(?:\{[^}]*\})?/g

/** Lists that omit rows outside the scope. Each has its own test below; events.test.ts tests events. */
const FILTERED = [
  'GET /v1/events',
  'GET /v1/accounts',
  'GET /v1/transactions',
  'GET /v1/attestations',
  'GET /v1/nft-classes/{}/instances',
]

/** Requests about several accounts. A batch reports each account outside the scope; exports.test.ts tests exports. */
const SEVERAL_ACCOUNTS = ['POST /v1/transactions/batch', 'POST /v1/exports']

/** Routes about resources of the client itself; webhooks.test.ts tests them. */
const OWN = [
  'GET /v1/webhooks',
  'GET /v1/webhooks/{}',
  'DELETE /v1/webhooks/{}',
  'GET /v1/webhooks/{}/deliveries',
  'POST /v1/webhooks/{}/test',
  'POST /v1/webhooks/{}/enable',
  'POST /v1/webhooks/{}/rotate-secret',
]

/** Routes that refuse every scoped client; the tests of `administration` test them. */
const WITHOUT_SCOPE = ['GET /v1/clients', 'POST /v1/clients', 'DELETE /v1/clients/{}', 'GET /v1/admin/audit-chain']

/** Routes about the ledger as a whole: every client gets the same reply. */
const UNSCOPED = [
  'GET /v1/fungible-tokens',
  'GET /v1/fungible-tokens/{}',
  'GET /v1/nft-classes',
  'GET /v1/nft-classes/{}',
  'GET /v1/shards',
  'GET /v1/shards/{}',
  'PUT /v1/shards/{}/health',
  'POST /v1/assertions/proof-of-liabilities',
  'POST /v1/assertions/proof-of-provenance',
  'POST /v1/assertions/proof-of-compliance',
  'POST /v1/assertions/verify',
  'GET /v1/imports/key',
  'POST /v1/imports',
  'GET /v1/imports/{}',
  'POST /v1/auth/token',
]

/** The edge caches the scope of a client, so each scope needs its own client. */
async function scopedToken(
  edge: EdgeFixture,
  role: Role,
  accounts: readonly string[] | null = SCOPE,
  clientId = `client-${role}`,
): Promise<string> {
  if (edge.access.clients.has(clientId)) throw new Error(`${clientId} has a scope`)
  edge.access.clients.set(clientId, { ...clientOf(clientId, role), accounts })
  return edge.tokenFor(role, clientId)
}

const ALL_COUNTED = { total: ACCOUNTS.length, exact: true }

function ask(edge: EdgeFixture, { method, path, body }: Asked, token: string): Promise<Response> {
  const headers = { 'x-request-id': 'the-same' }
  return method === 'GET' ? edge.get(path, token, headers) : edge.post(path, body, token, headers)
}

describe('the tables', () => {
  test('name every route under /v1, once', () => {
    const mounted = createEdgeFixture()
      .app.routes.filter(({ path }) => path.startsWith('/v1/'))
      .map(({ method, path }) => `${method} ${path.replaceAll(PATH_VALUE, '{}')}`)
    const named = [...FILTERED, ...SEVERAL_ACCOUNTS, ...OWN, ...WITHOUT_SCOPE, ...UNSCOPED]
    expect([...Object.keys(ABOUT_AN_ACCOUNT), ...named].sort()).toEqual(mounted.sort())
  })
})

test('D17: in a batch an account outside the scope is 404, and the other submissions reach the ledger', async () => {
  const edge = createLedger()
  const token = await scopedToken(edge, 'transactor')
  const submissions = ACCOUNTS.map((id) => ABOUT_AN_ACCOUNT['POST /v1/transactions']?.(id).body)
  const { results } = await bodyOf(await edge.post('/v1/transactions/batch', { submissions }, token))
  const problems = (results as readonly { readonly status: number; readonly problem?: object }[]).map(
    ({ status, problem }) => (problem !== undefined && status === 404 ? 'not there' : 'asked'),
  )
  expect(problems).toEqual(ACCOUNTS.map((id) => (OUTSIDE.some((one) => one === id) ? 'not there' : 'asked')))
  expect(edge.gateway.asked.map(({ actor }) => actor.id)).toEqual([...INSIDE])
})

describe.for(Object.entries(ABOUT_AN_ACCOUNT))('D17: %s', ([, about]) => {
  test.for([
    ...INSIDE.map((accountId) => [accountId, 'is inside', SCOPE] as const),
    ['bob', 'is read by a client without a scope', null],
  ] as const)('reaches %s, which %s', async ([accountId, , scope]) => {
    const edge = createLedger()
    const response = await ask(edge, about(accountId), await scopedToken(edge, 'admin', scope))
    const reached = response.status < 300 || edge.gateway.asked.length > 0
    // The fake source of liability proofs has none.
    const proof = (await response.text()).includes('no such proof')
    expect([reached || proof, response.status]).not.toContain(false)
  })

  test.for(OUTSIDE)('refuses %s, which is outside, exactly like an unknown ID', async (accountId) => {
    const edge = createLedger()
    const token = await scopedToken(edge, 'admin')
    const there = await ask(edge, about(accountId), token)
    expect(await refusalOf(there.clone())).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
    expect(edge.gateway.asked).toEqual([])
    const { reads, attestations } = edge
    for (const all of [reads.accountViews, reads.transactionViews, reads.groupViews, reads.instanceViews]) all.clear()
    attestations.state.attestations.clear()
    const absent = await ask(edge, about(accountId), token)
    const said = async (response: Response) => ({ ...(await bodyOf(response)), headers: [...response.headers.keys()] })
    expect(await said(there)).toEqual(await said(absent))
  })
})

describe('D17: lists omit rows outside the scope', () => {
  const ids = (body: Record<string, unknown>, list: string, member: string): unknown =>
    (body[list] as Record<string, unknown>[]).map((item) => item[member])
  const NAMED = ['shop:1', 'nobody', 'alice']
  const walked = { accounts: () => Promise.reject(new Error('walked')) }

  test.for([
    ['scope with a prefix: the edge walks the list', SCOPE, {}],
    ['scope of IDs: the edge looks up each and does not walk the list', NAMED, walked],
  ] as const)('accounts, %s', async ([, scope, lists]) => {
    const edge = createLedger(lists)
    const token = await scopedToken(edge, 'admin', scope)
    const response = await edge.get('/v1/accounts?page_size=1', token)
    const first = await bodyOf(response)
    expect([ids(first, 'accounts', 'account_id'), first['total_count']]).toEqual([['alice'], 2])
    expect(response.headers.get('x-total-count-relation')).toBeNull()
    const second = await bodyOf(await edge.get(`/v1/accounts?page_token=${String(first['next_page_token'])}`, token))
    expect(second).toMatchObject({ next_page_token: '', total_count: 2 })
    expect(ids(second, 'accounts', 'account_id')).toEqual(['shop:1'])
  })

  test.for(['', '?order=asc', `/group/${GROUP_ID}`])('transactions%s: only those of accounts inside', async (query) => {
    const edge = createLedger()
    edge.reads.page = { transactions: ACCOUNTS.map(transactionOf), next: null, ended: true, count: ALL_COUNTED }
    const token = await scopedToken(edge, 'viewer')
    const body = await bodyOf(await edge.get(`/v1/transactions${query}`, token))
    expect(ids(body, 'transactions', 'account_id')).toEqual([...INSIDE])
    expect(body['total_count']).toBe(query.startsWith('/') ? undefined : 2)
  })

  test.for(['', '?order=asc'])('transactions%s as lines: only those of accounts inside', async (query) => {
    const edge = createLedger()
    edge.reads.page = { transactions: ACCOUNTS.map(transactionOf), next: null, ended: true, count: null }
    const headers = { accept: 'application/x-ndjson' }
    const response = await edge.get(`/v1/transactions${query}`, await scopedToken(edge, 'viewer'), headers)
    const lines = (await response.text()).trimEnd().split('\n')
    const seen = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(ids({ lines: seen.slice(0, -1) }, 'lines', 'account_id')).toEqual([...INSIDE])
    expect(seen.at(-1)).toEqual({ end: true, count: INSIDE.length, next_page_token: '' })
  })

  test.for([
    ['an account inside', SCOPE, '?account_id=alice', 'alice'],
    ['an account outside, like an unknown ID', SCOPE, '?account_id=bob', '.'],
    ['the only account of the scope, with its counters', ['alice'], '', 'alice'],
  ] as const)('transactions of %s', async ([, scope, query, accountId]) => {
    const edge = createLedger()
    await edge.get(`/v1/transactions${query}`, await scopedToken(edge, 'viewer', scope))
    expect(edge.reads.queries).toMatchObject([{ accountId, counted: true }])
  })

  test('instances of a class: those that accounts inside own; its issuer sees all', async () => {
    const edge = createLedger()
    const path = `/v1/nft-classes/${CLASS_ID}/instances`
    const owned = await bodyOf(await edge.get(path, await scopedToken(edge, 'viewer')))
    expect(ids(owned, 'instances', 'owner')).toEqual([...INSIDE])
    const minted = await bodyOf(await edge.get(path, await scopedToken(edge, 'transactor', ['mint'])))
    expect(ids(minted, 'instances', 'owner')).toHaveLength(ACCOUNTS.length)
  })

  test('attestations: of visible NFTs, by attesters inside, and those that the client submitted', async () => {
    const edge = createLedger()
    const about = { subjectClass: CLASS_ID, subjectInstance: instanceIdOf('bob'), submittedBy: 'x' }
    for (const [attestationId, more] of [
      ['att_a', { attester: 'shop:9' }],
      ['att_b', { submittedBy: 'client-viewer' }],
      ['att_c', {}],
    ] as const) {
      edge.attestations.state.attestations.set(attestationId, anAttestation({ ...about, attestationId, ...more }))
    }
    const body = await bodyOf(await edge.get('/v1/attestations', await scopedToken(edge, 'viewer')))
    const expected = ['att_b', 'att_a', attestationIdOf('shop:1'), attestationIdOf('alice')]
    expect(ids(body, 'attestations', 'attestation_id')).toEqual(expected)
  })

  test('D13: a name that is not an account ID is within every scope', async () => {
    const edge = createLedger()
    const token = await scopedToken(edge, 'transactor')
    const stated = (attester: string) => ABOUT_AN_ACCOUNT['POST /v1/attestations']?.(attester) ?? post('', {})
    expect((await ask(edge, stated('Lab GmbH'), token)).status).toBe(201)
    expect((await ask(edge, stated(OUTSIDE[0]), token)).status).toBe(404)
  })

  test('a page token of a scoped client hides the ID of the row that it points to', async () => {
    const accounts = Array.from({ length: 1_000 }, () => accountView('secret-of-others'))
    const edge = createLedger({
      accounts: async () => ({ accounts, next: 'secret-of-others', count: { total: 10_000, exact: false } }),
    })
    const token = await scopedToken(edge, 'admin', ['alice', 'zz*'])
    const response = await edge.get('/v1/accounts?page_size=1000', token)
    const body = await bodyOf(response)
    expect(body).toMatchObject({ accounts: [], total_count: 0 })
    expect(response.headers.get('x-total-count-relation')).toBe('gte')
    const pageToken = String(body['next_page_token'])
    expect(pageToken).not.toBe('')
    expect(Buffer.from(pageToken, 'base64url').toString('latin1')).not.toContain('secret')
  })
})

describe('D17: groups', () => {
  const linked = { status: 'linked', termsHash: null, createdAtMs: null, dueAtMs: null } as const

  /** The reply to a client whose scope is this account. */
  async function groupFor(edge: EdgeFixture, accountId: string): Promise<Response> {
    const token = await scopedToken(edge, 'viewer', [accountId], `client-of-${accountId}`)
    return edge.get(`/v1/settlement-groups/${GROUP_ID}`, token)
  }

  test('a client with an account in a leg sees the whole registered group, also as a receiver', async () => {
    const edge = createLedger()
    edge.reads.groupViews.set(GROUP_ID, groupView())
    for (const accountId of ['alice', 'bob', 'carol']) {
      expect(await bodyOf(await groupFor(edge, accountId))).toMatchObject({ expected_legs: 2, legs: [{}, {}] })
    }
    expect((await groupFor(edge, 'dave')).status).toBe(404)
  })

  test('a client may register a group with a leg to an account inside', async () => {
    const edge = createLedger()
    const legs = [
      { account_id: 'zoe', type: 'transfer', amount: '1', to_account_id: 'alice' },
      { account_id: 'bob', type: 'transfer', amount: '1', to_account_id: 'zoe' },
    ]
    await edge.post('/v1/settlement-groups', { legs }, await scopedToken(edge, 'transactor', ['alice']))
    expect(edge.gateway.asked.map(({ actor }) => actor.kind)).toEqual(['group'])
  })

  test('each client sees its own legs of a linked group, also as a receiver', async () => {
    const edge = createLedger()
    const view = groupView({ ...linked, compensations: [{ compensates: txnIdOf('bob'), txnId: txnIdOf('bob') }] })
    edge.reads.groupViews.set(GROUP_ID, view)
    const transactions = ['alice', 'carol'].map(transactionOf)
    edge.reads.page = { transactions, next: null, ended: true, count: null }
    for (const [accountId, leg] of [
      ['alice', { account_id: 'alice' }],
      ['carol', { account_id: 'bob', to_account_id: 'carol' }],
    ] as const) {
      const seen = await bodyOf(await groupFor(edge, accountId))
      expect(seen).toMatchObject({ status: 'linked', legs: [leg], compensations: [] })
    }
    expect((await groupFor(edge, 'dave')).status).toBe(404)
  })

  test('an administrator with a scope cannot revert a transaction of an account outside', async () => {
    const edge = createLedger()
    const token = await scopedToken(edge, 'admin')
    edge.reads.groupViews.set(GROUP_ID, groupView({ ...linked, legs: [] }))
    edge.reads.page = { transactions: [transactionOf('alice')], next: null, ended: true, count: null }
    for (const id of ACCOUNTS) {
      edge.reads.transactionViews.set(txnIdOf(id), { ...transactionOf(id), groupId: GROUP_ID })
    }
    const path = `/v1/settlement-groups/${GROUP_ID}/revert`
    const body = { reason: 'r', txn_ids: [txnIdOf('alice'), txnIdOf('bob')] }
    expect(await refusalOf(await edge.post(path, body, token))).toMatchObject({ status: 404, fields: ['txn_ids[1]'] })
    expect(edge.gateway.asked).toEqual([])
    await edge.post(path, { ...body, txn_ids: [txnIdOf('alice')] }, token)
    expect(edge.gateway.asked).toHaveLength(1)
  })
})

describe('D17: the scope itself', () => {
  test('is in no access token and in no request to the ledger', async () => {
    const edge = createLedger()
    const token = await scopedToken(edge, 'transactor')
    const { path, body } = post('/v1/accounts', { account_id: 'alice', public_key: KEY.pem })
    await edge.post(path, body, token)
    expect(edge.gateway.asked.map(({ caller }) => caller)).toEqual([
      { clientId: 'client-transactor', role: 'transactor', boundary: true },
    ])
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).not.toContain('shop')
  })

  test('D17: a change takes effect within 5 s, under the same token', async () => {
    const edge = createLedger()
    const token = await scopedToken(edge, 'viewer')
    const statusOf = async (id: string): Promise<number> => (await edge.get(`/v1/accounts/${id}`, token)).status
    expect([await statusOf('alice'), await statusOf('bob')]).toEqual([200, 404])
    const clientId = 'client-viewer'
    for (const [accounts, expected] of [
      [['bob'], [404, 200]],
      [null, [200, 200]],
      [['alice'], [200, 404]],
    ] as const) {
      edge.access.clients.set(clientId, { ...clientOf(clientId, 'viewer'), accounts })
      await edge.clock.advance(5_000)
      expect([await statusOf('alice'), await statusOf('bob')]).toEqual(expected)
    }
  })

  test('does not change the registries of tokens and NFT classes', async () => {
    const edge = createLedger()
    const scoped = await scopedToken(edge, 'viewer')
    const whole = await scopedToken(edge, 'admin', null)
    for (const path of [
      '/v1/fungible-tokens',
      '/v1/fungible-tokens/EUR.x',
      '/v1/nft-classes',
      `/v1/nft-classes/${CLASS_ID}`,
    ]) {
      const answers = await Promise.all([scoped, whole].map(async (token) => (await edge.get(path, token)).text()))
      expect(answers[0]).toBe(answers[1])
    }
  })
})
