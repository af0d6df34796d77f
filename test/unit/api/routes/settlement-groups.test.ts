/** D10: the edge checks a group before its registration or revert, and computes the net of a linked group. */
import { describe, expect, test } from 'vitest'
import { groupAddress } from '../../../../actors/address.ts'
import type { GroupView } from '../../../../actors/group/state.ts'
import { ReadsUnavailable, type TransactionView } from '../../../../runtime/ports/ledger-reads.ts'
import {
  answering,
  bodyOf,
  createEdgeFixture,
  type EdgeFixture,
  GROUP_ID,
  groupView,
  refusalOf,
  transactionView,
  TXN_ID,
  signedIn,
} from '../fakes/edge-fixture.ts'
import { WRITTEN } from './written-requests.ts'

const PATH = '/v1/settlement-groups'
const [DEBIT, CREDIT] = [
  { type: 'debit', account_id: 'alice', amount: '10.50' },
  { type: 'credit', account_id: 'bob', amount: '10.5', token_id: 'BASE' },
]
const LEGS = [DEBIT, CREDIT]
const BODY = { legs: LEGS, group_id: GROUP_ID.toUpperCase(), timeout_seconds: 60 }
const REGISTERED = WRITTEN.createSettlementGroup.answer
const LINKED = { status: 'linked', termsHash: null, legs: [], createdAtMs: null, dueAtMs: null } as const

function payloadsOf(edge: EdgeFixture): Record<string, unknown>[] {
  return edge.gateway.asked.map(({ operation }) => JSON.parse('payload' in operation ? operation.payload : '{}'))
}

describe('POST /v1/settlement-groups', () => {
  test('the legs reach the group unchanged, with its ID in lower case; the same terms again are 200', async () => {
    const edge = answering({ ...REGISTERED, created: false })
    const same = await edge.post(PATH, BODY, await edge.tokenFor('admin'))
    expect([same.status, same.headers.get('location')]).toEqual([200, null])
    expect(edge.gateway.asked).toMatchObject([{ actor: groupAddress(GROUP_ID), operation: { registrationKey: null } }])
    expect(payloadsOf(edge)).toEqual([{ ...BODY, group_id: GROUP_ID }])
  })

  test('without an ID the edge generates one, and the default timeout is 900 seconds', async () => {
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

  test('U1: the generated ID depends on the client and its Idempotency-Key', async () => {
    const edge = createEdgeFixture()
    edge.gateway.outcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }
    const [transactor, admin] = [await edge.tokenFor('transactor'), await edge.tokenFor('admin')]
    for (const [token, key] of [
      [transactor, 'one'],
      [transactor, 'one'],
      [transactor, 'two'],
      [admin, 'one'],
    ] as const) {
      await edge.post(PATH, { legs: LEGS }, token, { 'idempotency-key': key })
    }
    const [first, again, ...others] = payloadsOf(edge).map((payload) => payload['group_id'])
    expect(again).toBe(first)
    expect(new Set([first, ...others]).size).toBe(3)
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test.for([
    [[DEBIT, { ...CREDIT, amount: '10' }], 400],
    [[DEBIT, { ...CREDIT, token_id: 'EUR', boundary: true }], 400],
    [[{ ...DEBIT, note: 'x'.repeat(65_536) }, CREDIT], 400],
    [[...LEGS, { ...DEBIT, type: 'transfer', to_account_id: 'b', amount: '1', class_id: 'c', instance_id: 'i' }], 201],
  ] as const)('well-formed legs are also checked together: %j is %i', async ([legs, status]) => {
    const edge = answering(REGISTERED)
    const response = await edge.post(PATH, { ...BODY, legs }, await edge.tokenFor('transactor'))
    expect([response.status, edge.gateway.asked.length]).toEqual([status, status === 201 ? 1 : 0])
    const { codes, fields } = await refusalOf(response)
    expect([codes, fields]).toEqual(status === 400 ? [['ERR_INVALID_FIELD'], ['legs']] : [undefined, undefined])
  })

  test('D10: a client has at most 1,000 open groups, and the same terms again add none', async () => {
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

  test('D8: a registration whose limit cannot be read is 503 with the outcome unknown', async () => {
    const { edge, token } = await signedIn('transactor')
    edge.reads.failure = new ReadsUnavailable('away')
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
  })
})

test.for(['settled', 'reverted', 'linked'] as const)('D8: Prefer: wait waits until the group is %s', async (status) => {
  const { edge, token } = await signedIn('viewer')
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
  const response = await pending
  expect(response.headers.get('preference-applied')).toBe('wait=20')
  expect(await bodyOf(response)).toMatchObject({ status })
})

describe('a linked group', () => {
  async function seen(...transactions: readonly Partial<TransactionView>[]): Promise<Record<string, unknown>> {
    const edge = createEdgeFixture()
    edge.reads.groupViews.set(GROUP_ID, groupView(LINKED))
    const views = transactions.map((fields, index) => transactionView({ txnId: `txn_${index}`, ...fields }))
    edge.reads.page = { transactions: views, next: null, ended: true, count: null }
    return bodyOf(await edge.get(`${PATH}/${GROUP_ID}`, await edge.tokenFor('viewer')))
  }

  const debit = { accountId: 'alice', type: 'debit', amount: '5.0' } as const
  const credit = { accountId: 'bob', type: 'credit', amount: '5' } as const
  const nft = { class_id: 'cls_01K6ZZZZZZ0000000000000000', instance_id: 'milkmaid' }
  test.for<[string, readonly Partial<TransactionView>[], boolean, readonly object[]]>([
    ['is balanced if its debit and its credit cancel out', [debit, credit], true, []],
    ['has a net', [debit, { ...credit, amount: '4.5' }], false, [{ token_id: 'BASE', amount: '-0.5' }]],
    ['has a net of one leg', [debit], false, [{ token_id: 'BASE', amount: '-5' }]],
    ['is not balanced while a leg is pending', [debit, credit, { ...debit, status: 'pending' }], false, []],
    [
      'nets both sides of an exchange and an NFT, but no mint or burn',
      [
        { type: 'transfer', amount: '1', tokenId: `${nft.class_id}/${nft.instance_id}` },
        { type: 'exchange', amount: '3', tokenId: 'GOLD', receive: { tokenId: 'BASE', amount: '9' } },
        { type: 'mint', amount: '7', tokenId: 'GOLD' },
      ],
      false,
      [
        { ...nft, amount: '-1' },
        { token_id: 'GOLD', amount: '-3' },
        { token_id: 'BASE', amount: '9' },
      ],
    ],
  ])('%s', async ([, transactions, balanced, net]) => {
    expect(await seen(...transactions)).toMatchObject({ status: 'linked', net, balanced })
  })
})

describe('POST /v1/settlement-groups/{id}/revert', () => {
  const REVERT = `${PATH}/${GROUP_ID.toUpperCase()}/revert`
  const OTHER_ID = 'txn_01K6ZZZZZZ0000000000000001'
  const ABSENT_ID = 'txn_01K6ZZZZZZ0000000000000009'
  const STRANGE_ID = 'txn_01K6ZZZZZZ0000000000000002'

  /** TXN_ID and OTHER_ID belong to the group. */
  async function reverted(group: GroupView, changes: object) {
    const edge = answering(WRITTEN.revertSettlementGroup.answer)
    edge.reads.groupViews.set(GROUP_ID, group)
    for (const [txnId, accountId, groupId] of [
      [TXN_ID, 'alice', GROUP_ID],
      [OTHER_ID, 'bob', GROUP_ID],
      [STRANGE_ID, 'bob', null],
    ] as const) {
      edge.reads.transactionViews.set(txnId, transactionView({ txnId, accountId, groupId }))
    }
    const response = await edge.post(REVERT, { reason: 'x', ...changes }, await edge.tokenFor('admin'))
    return { response, asked: edge.gateway.asked.map(({ operation }) => operation) }
  }

  test.for([
    ['a registered group is reverted as a whole', {}, {}, []],
    [
      'a revert of a linked group has the named transactions with their accounts',
      LINKED,
      { txn_ids: [OTHER_ID, TXN_ID] },
      [
        { txnId: OTHER_ID, accountId: 'bob' },
        { txnId: TXN_ID, accountId: 'alice' },
      ],
    ],
  ] as const)('%s', async ([, group, body, transactions]) => {
    const { response, asked } = await reverted(groupView(group), body)
    expect([response.status, asked]).toEqual([202, [{ kind: 'revert_group', reason: 'x', transactions }]])
  })

  test.for([
    ['a linked group needs txn_ids', LINKED, undefined, 400, ['txn_ids']],
    ['a registered group takes no txn_ids', {}, [TXN_ID], 400, ['txn_ids']],
    ['a registered group takes no empty list', {}, [], 400, ['txn_ids']],
    ['the error names the position of a malformed ID', LINKED, ['x', TXN_ID, 7], 400, ['txn_ids[0]', 'txn_ids[2]']],
    [
      'the error names the position of an unknown ID, or of one outside the group',
      LINKED,
      [ABSENT_ID, TXN_ID, STRANGE_ID],
      404,
      ['txn_ids[0]', 'txn_ids[2]'],
    ],
    ['a single ID outside the group is 404', LINKED, [STRANGE_ID], 404, ['txn_ids[0]']],
  ] as const)('D14: %s', async ([, group, ids, status, fields]) => {
    const { response, asked } = await reverted(groupView(group), ids === undefined ? {} : { txn_ids: ids })
    const codes = [status === 400 ? 'ERR_INVALID_FIELD' : 'ERR_NOT_FOUND']
    expect([await refusalOf(response), asked]).toEqual([{ status, codes, fields }, []])
  })

  test('an ill-formed group ID is 400', async () => {
    const edge = createEdgeFixture()
    const response = await edge.post(`${PATH}/x/revert`, { reason: 'x' }, await edge.tokenFor('admin'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: ['ERR_INVALID_GROUP_ID'], fields: ['group_id'] })
  })
})
