import { describe, expect, test } from 'vitest'
import { groupAddress } from '../../../actors/address.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { GroupView } from '../../../actors/group/state.ts'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'
import { bodyOf, createEdgeFixture, GROUP_ID, groupView, refusalOf, TXN_ID } from './edge-fixture.ts'

const PATH = '/v1/settlement-groups'
const LEGS = [
  { type: 'debit', account_id: 'alice', amount: '10.50' },
  { type: 'credit', account_id: 'bob', amount: '10.5', token_id: 'BASE' },
]
const BODY = { legs: LEGS, group_id: GROUP_ID.toUpperCase(), timeout_seconds: 60 }
const PAYLOAD =
  '{"group_id":"3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a","legs":[{"account_id":"alice","amount":"10.50","type":"debit"},' +
  '{"account_id":"bob","amount":"10.5","token_id":"BASE","type":"credit"}],"timeout_seconds":60}'
const SHOWN = {
  group_id: GROUP_ID,
  status: 'open',
  terms_hash: `sha256:${'ef'.repeat(32)}`,
  expected_legs: 2,
  legs: [
    {
      account_id: 'alice',
      type: 'debit',
      amount: '10.50',
      token_id: 'BASE',
      boundary: true,
      leg_status: 'completed',
      txn_id: TXN_ID,
    },
    {
      account_id: 'bob',
      type: 'transfer',
      amount: '2',
      token_id: 'EUR.x',
      to_account_id: 'carol',
      leg_status: 'expected',
    },
  ],
  compensations: [],
  partial_failures: [],
  created_at: '2025-10-09T08:53:20.000Z',
  due_at: '2025-10-09T09:08:20.000Z',
  finished_at: null,
}
const REGISTERED = {
  kind: 'group_registered',
  group: groupView(),
  created: true,
  replayed: false,
  mismatch: false,
} as const
const LINKED = { status: 'linked', termsHash: null, legs: [], createdAtMs: null, dueAtMs: null } as const

function answering(answer: Answer) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

type Edge = ReturnType<typeof createEdgeFixture>

function payloadsOf(edge: Edge): Record<string, unknown>[] {
  return edge.gateway.asked.map(({ operation }) =>
    JSON.parse(operation.kind === 'register_group' ? operation.payload : '{}'),
  )
}

describe('POST /v1/settlement-groups', () => {
  test('D10: a new group is 201, and its home is sent the legs exactly as they came', async () => {
    const edge = answering(REGISTERED)
    const body = { ...BODY, note: 'ignored' }
    const created = await edge.post(PATH, body, await edge.tokenFor('transactor'), { 'idempotency-key': 'once' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`${PATH}/${GROUP_ID}`)
    expect(created.headers.get('idempotency-replayed')).toBeNull()
    expect(await bodyOf(created)).toEqual(SHOWN)
    expect(edge.gateway.asked).toEqual([
      {
        actor: groupAddress(GROUP_ID),
        caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
        operation: { kind: 'register_group', payload: PAYLOAD, registrationKey: 'once' },
      },
    ])
  })

  test('the same terms again are 200', async () => {
    const edge = answering({ ...REGISTERED, created: false })
    const token = await edge.tokenFor('admin')
    const same = await edge.post(PATH, BODY, token)
    expect([same.status, same.headers.get('location')]).toEqual([200, null])
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ registrationKey: null })
  })

  test('without an ID the service makes one, and without a timeout it is 900 seconds', async () => {
    const edge = answering(REGISTERED)
    const token = await edge.tokenFor('transactor')
    for (let round = 0; round < 2; round += 1) await edge.post(PATH, { legs: LEGS }, token)
    const payloads = payloadsOf(edge)
    const ids = payloads.map((payload) => String(payload['group_id']))
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(ids).size).toBe(2)
    expect(edge.gateway.asked.map(({ actor }) => actor)).toEqual(ids.map(groupAddress))
    expect(payloads.map((payload) => payload['timeout_seconds'])).toEqual([900, 900])
  })

  test('U1: the same client with the same Idempotency-Key asks for the same group, nobody else does', async () => {
    const edge = createEdgeFixture()
    edge.gateway.outcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }
    const transactor = await edge.tokenFor('transactor')
    const ask = (token: string, key: string) => edge.post(PATH, { legs: LEGS }, token, { 'idempotency-key': key })
    await ask(transactor, 'one')
    await ask(transactor, 'one')
    await ask(transactor, 'two')
    await ask(await edge.tokenFor('admin'), 'one')
    const [first, again, ...others] = payloadsOf(edge).map((payload) => payload['group_id'])
    expect(again).toBe(first)
    expect(new Set([first, ...others]).size).toBe(3)
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  const [debit, credit] = LEGS
  test.for([
    [{ legs: [debit, { ...credit, amount: '10' }] }, 'legs', 'ERR_INVALID_FIELD'],
    [{ legs: [debit, { ...credit, token_id: 'EUR', boundary: true }] }, 'legs', 'ERR_INVALID_FIELD'],
    [{ legs: [{ ...debit, note: 'x'.repeat(65_536) }, credit] }, 'legs', 'ERR_INVALID_FIELD'],
  ] as const)('%j is 400', async ([change, field, code]) => {
    const edge = answering(REGISTERED)
    const response = await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: [code], fields: [field] })
    expect(edge.gateway.asked).toEqual([])
  })

  test('a leg of an NFT is agreed on', async () => {
    const edge = answering(REGISTERED)
    const token = await edge.tokenFor('transactor')
    const nft = {
      type: 'transfer',
      account_id: 'a',
      to_account_id: 'b',
      amount: '1',
      class_id: 'cls_1',
      instance_id: 'i',
    }
    expect((await edge.post(PATH, { ...BODY, legs: [...LEGS, nft] }, token)).status).toBe(201)
  })

  test('D10: a client has at most 1,000 open groups, and the same terms again are none', async () => {
    const edge = answering(REGISTERED)
    const token = await edge.tokenFor('transactor')
    edge.reads.openGroupCounts.set('client-transactor', 1000).set('client-admin', 999)
    const ask = async (who: string) => (await edge.post(PATH, BODY, who)).status
    expect(await refusalOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 409, codes: ['ERR_CONFLICT'] })
    expect(await ask(await edge.tokenFor('admin'))).toBe(201)
    edge.reads.groupViews.set(GROUP_ID, groupView(LINKED))
    expect(await ask(token)).toBe(409)
    expect(edge.gateway.asked).toHaveLength(1)
    edge.reads.groupViews.set(GROUP_ID, groupView())
    expect(await ask(token)).toBe(201)
  })

  test('D8: where it cannot be counted it is not known what became of it', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    edge.reads.failure = new ReadsUnavailable('away')
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
  })
})

describe('GET /v1/settlement-groups/{id}', () => {
  test('shows the group, whatever the case of its ID', async () => {
    const edge = createEdgeFixture()
    edge.reads.groupViews.set(GROUP_ID, groupView())
    const response = await edge.get(`${PATH}/${GROUP_ID.toUpperCase()}`, await edge.tokenFor('viewer'))
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual(SHOWN)
  })

  test('shows what was undone and what could not be, and a linked group without terms', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    const failed = { txnId: 'txn_2', code: 'insufficient_funds', detail: 'Too little.' } as const
    const compensations = [{ compensates: 'txn_1', txnId: 'txn_3' }]
    const undone: GroupView = groupView({ ...LINKED, compensations, partialFailures: [failed] })
    edge.reads.groupViews.set(GROUP_ID, undone)
    expect(await bodyOf(await edge.get(`${PATH}/${GROUP_ID}`, token))).toEqual({
      group_id: GROUP_ID,
      status: 'linked',
      terms_hash: null,
      expected_legs: 0,
      legs: [],
      compensations: [{ compensates: 'txn_1', txn_id: 'txn_3' }],
      partial_failures: [{ txn_id: 'txn_2', code: 'insufficient_funds', detail: 'Too little.' }],
      net: [],
      balanced: false,
      created_at: null,
      due_at: null,
      finished_at: null,
    })
    edge.reads.groupViews.set(GROUP_ID, groupView({ status: 'settled', finishedAtMs: 1_760_000_001_500 }))
    expect(await bodyOf(await edge.get(`${PATH}/${GROUP_ID}`, token))).toMatchObject({
      status: 'settled',
      finished_at: '2025-10-09T08:53:21.500Z',
    })
  })

  test.for(['settled', 'reverted', 'linked'] as const)(
    'D8: Prefer: wait waits until the group is %s',
    async (status) => {
      const edge = createEdgeFixture()
      const token = await edge.tokenFor('viewer')
      edge.reads.groupViews.set(GROUP_ID, groupView())
      let answered: Response | undefined
      const pending = edge
        .get(`${PATH}/${GROUP_ID}`, token, { prefer: 'wait=20' })
        .then((response) => (answered = response))
      await edge.clock.timersSet(1)
      await edge.clock.advance(3000)
      edge.reads.groupViews.set(GROUP_ID, groupView({ status: 'reverting' }))
      await edge.clock.advance(3000)
      expect(answered).toBeUndefined()
      edge.reads.groupViews.set(GROUP_ID, groupView({ status }))
      await edge.clock.advance(1000)
      await pending
      expect(answered?.headers.get('preference-applied')).toBe('wait=20')
      expect(await bodyOf(answered as Response)).toMatchObject({ status })
    },
  )
})
