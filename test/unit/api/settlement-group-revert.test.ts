import { describe, expect, test } from 'vitest'
import { groupAddress } from '../../../actors/address.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { GroupView } from '../../../actors/group/state.ts'
import { bodyOf, createEdgeFixture, GROUP_ID, groupView, refusalOf, transactionView, TXN_ID } from './edge-fixture.ts'

const LINKED = { status: 'linked', termsHash: null, legs: [], createdAtMs: null, dueAtMs: null } as const

describe('POST /v1/settlement-groups/{id}/revert', () => {
  const REVERT = `/v1/settlement-groups/${GROUP_ID.toUpperCase()}/revert`
  const OTHER_ID = 'txn_01K6ZZZZZZ0000000000000001'
  const REVERTING: Answer = { kind: 'group_reverting', group: groupView({ status: 'reverting' }) }

  function fixture(group: GroupView | undefined, answer: Answer = REVERTING) {
    const edge = createEdgeFixture()
    edge.gateway.outcome = { kind: 'answered', answer }
    if (group !== undefined) edge.reads.groupViews.set(GROUP_ID, group)
    edge.reads.transactionViews.set(TXN_ID, transactionView({ groupId: GROUP_ID }))
    return edge
  }

  test('a registered group is reverted as a whole: 202 with the group', async () => {
    const edge = fixture(groupView())
    const response = await edge.post(REVERT, { reason: 'é'.repeat(256), note: 1 }, await edge.tokenFor('transactor'))
    expect(response.status).toBe(202)
    expect(await bodyOf(response)).toMatchObject({
      group_id: GROUP_ID,
      status: 'reverting',
      expected_legs: 2,
      legs: [{}, {}],
    })
    expect(edge.gateway.asked).toEqual([
      {
        actor: groupAddress(GROUP_ID),
        caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
        operation: { kind: 'revert_group', reason: 'é'.repeat(256), transactions: [] },
      },
    ])
  })

  test('of a linked group the named transactions are sent on with their accounts', async () => {
    const edge = fixture(groupView(LINKED))
    edge.reads.transactionViews.set(OTHER_ID, transactionView({ txnId: OTHER_ID, accountId: 'bob', groupId: GROUP_ID }))
    const body = { reason: 'x', txn_ids: [OTHER_ID, TXN_ID] }
    expect((await edge.post(REVERT, body, await edge.tokenFor('admin'))).status).toBe(202)
    expect(edge.gateway.asked[0]?.operation).toEqual({
      kind: 'revert_group',
      reason: 'x',
      transactions: [
        { txnId: OTHER_ID, accountId: 'bob' },
        { txnId: TXN_ID, accountId: 'alice' },
      ],
    })
  })

  test('a linked group needs txn_ids, a registered one takes none', async () => {
    const refused = { status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['txn_ids'] }
    for (const [group, body] of [
      [groupView(LINKED), { reason: 'x' }],
      [groupView(), { reason: 'x', txn_ids: [TXN_ID] }],
      [groupView(), { reason: 'x', txn_ids: [] }],
    ] as const) {
      const edge = fixture(group)
      expect(await refusalOf(await edge.post(REVERT, body, await edge.tokenFor('admin')))).toEqual(refused)
      expect(edge.gateway.asked).toEqual([])
    }
  })

  test('transactions that do not exist, or are of another group, are 404, each by its place', async () => {
    const edge = fixture(groupView(LINKED))
    const strange = 'txn_01K6ZZZZZZ0000000000000002'
    edge.reads.transactionViews.set(strange, transactionView({ txnId: strange, groupId: null }))
    const body = { reason: 'x', txn_ids: [OTHER_ID, TXN_ID, strange] }
    expect(await refusalOf(await edge.post(REVERT, body, await edge.tokenFor('admin')))).toEqual({
      status: 404,
      codes: ['ERR_NOT_FOUND'],
      fields: ['txn_ids[0]', 'txn_ids[2]'],
    })
    const alone = { reason: 'x', txn_ids: [strange] }
    expect((await edge.post(REVERT, alone, await edge.tokenFor('admin'))).status).toBe(404)
    expect(edge.gateway.asked).toEqual([])
  })

  test('D14: each ID that can be none is told by its place', async () => {
    const edge = fixture(groupView(LINKED))
    const body = { reason: 'x', txn_ids: ['x', TXN_ID, 7] }
    const fields = ['txn_ids[0]', 'txn_ids[2]']
    const refused = await refusalOf(await edge.post(REVERT, body, await edge.tokenFor('admin')))
    expect(refused).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields })
  })

  test('an ill-formed group ID is 400', async () => {
    const edge = fixture(groupView())
    expect(
      await refusalOf(await edge.post('/v1/settlement-groups/x/revert', { reason: 'x' }, await edge.tokenFor('admin'))),
    ).toEqual({
      status: 400,
      codes: ['ERR_INVALID_GROUP_ID'],
      fields: ['group_id'],
    })
  })
})
