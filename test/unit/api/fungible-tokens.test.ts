import { describe, expect, test } from 'vitest'
import { tokenAddress } from '../../../actors/address.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'
import { bodyOf, createEdgeFixture, refusalOf, tokenView } from './edge-fixture.ts'

const PATH = '/v1/fungible-tokens'
const BODY = { total_supply: '1000.50', symbol: 'EUR.x', issuer: 'issuer@bank', decimals: 2 }
const PAYLOAD = '{"decimals":2,"issuer":"issuer@bank","symbol":"EUR.x","total_supply":"1000.50"}'
const SHOWN = {
  token_id: 'EUR.x',
  symbol: 'EUR.x',
  decimals: 2,
  issuer: 'issuer@bank',
  total_supply: '1000.5',
  created_at: '2025-10-09T08:53:20.000Z',
}
const REGISTERED = { kind: 'token_registered', token: tokenView(), replayed: false, mismatch: false } as const

function answering(answer: Answer) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

describe('POST /v1/fungible-tokens', () => {
  test('a new token is 201, and is asked of the home of its symbol', async () => {
    const edge = answering(REGISTERED)
    const created = await edge.post(PATH, BODY, await edge.tokenFor('transactor'), { 'idempotency-key': 'once' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe('/v1/fungible-tokens/EUR.x')
    expect(created.headers.get('idempotency-replayed')).toBeNull()
    expect(await bodyOf(created)).toEqual(SHOWN)
    expect(edge.gateway.asked).toEqual([
      {
        actor: tokenAddress('eur.x'),
        caller: { clientId: 'client-transactor', role: 'transactor', boundary: true },
        operation: { kind: 'register_token', payload: PAYLOAD, signature: null, registrationKey: 'once' },
      },
    ])
  })

  test.for(['BASE', 'base', 'Base'])('D3: the symbol %s is taken', async (symbol) => {
    const edge = answering(REGISTERED)
    const response = await edge.post(PATH, { ...BODY, symbol }, await edge.tokenFor('admin'))
    expect(await refusalOf(response)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['symbol'] })
    expect(edge.gateway.asked).toEqual([])
  })
})

describe('reading tokens', () => {
  function fixture() {
    const edge = createEdgeFixture()
    for (const tokenId of ['usd', 'EUR.x', 'GBP']) edge.reads.tokenViews.set(tokenId, tokenView({ tokenId }))
    return edge
  }

  test('GET /v1/fungible-tokens/{id} shows one', async () => {
    const edge = fixture()
    expect(await bodyOf(await edge.get(`${PATH}/EUR.x`, await edge.tokenFor('viewer')))).toEqual(SHOWN)
  })

  test('what can be no symbol is looked for nowhere', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    edge.reads.failure = new ReadsUnavailable('away')
    for (const id of ['%00', 'a%2Fb', 'x'.repeat(65)]) expect((await edge.get(`${PATH}/${id}`, token)).status).toBe(404)
  })

  test('GET /v1/fungible-tokens lists by ID, paged', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    const all = await bodyOf(await edge.get(PATH, token))
    expect(all).toMatchObject({
      tokens: [SHOWN, { token_id: 'GBP' }, { token_id: 'usd' }],
      next_page_token: '',
      total_count: 3,
    })
  })
})
