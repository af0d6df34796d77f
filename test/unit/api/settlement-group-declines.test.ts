/** Goal: an account lists the legs that groups expect of it and can decline; a linked group shows its net (D10). */
import { describe, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import type { TransactionView } from '../../../runtime/ports/ledger-reads.ts'
import { legHold } from '../../support/ledger-rows-values.ts'
import { accountView, bodyOf, createEdgeFixture, GROUP_ID, groupView, transactionView } from './edge-fixture.ts'

const DECLINE = `/v1/settlement-groups/${GROUP_ID.toUpperCase()}/decline`
const TERMS_HASH = `sha256:${'ab'.repeat(32)}`
const BODY = { group_id: GROUP_ID, account_id: 'alice', terms_hash: TERMS_HASH, signature: 'c2ln' }

describe('POST /v1/settlement-groups/{id}/decline', () => {
  test('sends the signed request to the account: 202', async () => {
    const edge = createEdgeFixture()
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'legs_declined', groupId: GROUP_ID } }
    const response = await edge.post(DECLINE, BODY, await edge.tokenFor('transactor'))
    expect([response.status, response.headers.get('location')]).toEqual([202, `/v1/settlement-groups/${GROUP_ID}`])
    expect(await bodyOf(response)).toEqual({ group_id: GROUP_ID, account_id: 'alice', declined: true })
    expect(edge.gateway.asked).toMatchObject([
      {
        actor: accountAddress('alice'),
        operation: {
          kind: 'decline_legs',
          payload: `{"account_id":"alice","group_id":"${GROUP_ID}","terms_hash":"${TERMS_HASH}"}`,
          signature: 'c2ln',
        },
      },
    ])
  })
})

describe('GET /v1/accounts/{id}/expectations', () => {
  test('lists by group and leg, in pages', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    edge.reads.accountViews.set('alice', accountView('alice'))
    const [first, second] = [2, 10].map((leg) => legHold({ groupId: GROUP_ID, leg, state: 'expected', txnId: null }))
    if (first === undefined || second === undefined) throw new Error('two legs')
    edge.reads.expectationViews.set('alice', [first, second])
    const path = '/v1/accounts/alice/expectations?page_size=1'
    const page = await bodyOf(await edge.get(path, token))
    expect(page).toMatchObject({
      account_id: 'alice',
      expectations: [
        {
          group_id: GROUP_ID,
          leg: 2,
          role: 'own',
          terms: { account_id: 'alice', type: 'debit', amount: '2.5', token_id: 'BASE' },
          registered_by: first.clientId,
        },
      ],
    })
    const next = await bodyOf(await edge.get(`${path}&page_token=${String(page['next_page_token'])}`, token))
    expect(next).toMatchObject({ expectations: [{ leg: 10 }], next_page_token: '' })
  })
})

describe('a linked group', () => {
  async function seen(...transactions: readonly Partial<TransactionView>[]): Promise<Record<string, unknown>> {
    const edge = createEdgeFixture()
    edge.reads.groupViews.set(
      GROUP_ID,
      groupView({ status: 'linked', termsHash: null, legs: [], createdAtMs: null, dueAtMs: null }),
    )
    const views = transactions.map((fields, index) =>
      transactionView({ groupId: GROUP_ID, txnId: `txn_${index}`, status: 'completed', ...fields }),
    )
    edge.reads.page = { transactions: views, next: null, ended: true, count: null }
    const path = `/v1/settlement-groups/${GROUP_ID}`
    return bodyOf(await edge.get(path, await edge.tokenFor('viewer')))
  }

  test('is balanced if its debit and its credit cancel out', async () => {
    const legs = [
      { accountId: 'alice', type: 'debit', amount: '5.0' },
      { accountId: 'bob', type: 'credit', amount: '5' },
    ] as const
    expect(await seen(...legs)).toMatchObject({ status: 'linked', net: [], balanced: true })
    expect(await seen(legs[0], { ...legs[1], amount: '4.5' })).toMatchObject({
      net: [{ token_id: 'BASE', amount: '-0.5' }],
      balanced: false,
    })
    expect(await seen(legs[0])).toMatchObject({ net: [{ token_id: 'BASE', amount: '-5' }], balanced: false })
    const pending = await seen(...legs, { type: 'debit', amount: '1', status: 'pending' })
    expect(pending).toMatchObject({ net: [], balanced: false })
  })

  test('nets both sides of an exchange and an NFT, but no mint or burn', async () => {
    const nft = 'cls_01K6ZZZZZZ0000000000000000/milkmaid'
    const swap = { accountId: 'bob', type: 'exchange', amount: '3', tokenId: 'GOLD' } as const
    expect(
      await seen(
        { type: 'transfer', amount: '1', tokenId: nft },
        { ...swap, receive: { tokenId: 'BASE', amount: '9' } },
        { type: 'mint', amount: '7', tokenId: 'GOLD' },
      ),
    ).toMatchObject({
      net: [
        { class_id: 'cls_01K6ZZZZZZ0000000000000000', instance_id: 'milkmaid', amount: '-1' },
        { token_id: 'GOLD', amount: '-3' },
        { token_id: 'BASE', amount: '9' },
      ],
      balanced: false,
    })
  })
})
