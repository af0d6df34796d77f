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

  test.for([
    [{ replayed: true, mismatch: false }, 'true', null],
    [{ replayed: true, mismatch: true }, 'true', 'true'],
  ] as const)('D7: a repeat gives the original answer and says so: %j', async ([told, replayed, mismatch]) => {
    const edge = answering({ ...REGISTERED, ...told })
    const again = await edge.post(PATH, BODY, await edge.tokenFor('admin'))
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe(replayed)
    expect(again.headers.get('idempotency-payload-mismatch')).toBe(mismatch)
    expect(await bodyOf(again)).toEqual(SHOWN)
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ registrationKey: null })
  })

  test('D6: the issuer signs the canonical body without the signature', async () => {
    const edge = answering(REGISTERED)
    const token = await edge.tokenFor('transactor')
    await edge.post(PATH, { signature: 'c2ln', ...BODY }, token)
    await edge.post(PATH, { ...BODY, signature: 'A'.repeat(1025) }, token)
    expect(edge.gateway.asked.map(({ operation }) => operation)).toMatchObject([
      { payload: PAYLOAD, signature: 'c2ln' },
      { payload: PAYLOAD, signature: '-' },
    ])
  })

  test('D5: unknown fields are ignored without a signature and refused with one', async () => {
    const edge = answering(REGISTERED)
    const token = await edge.tokenFor('transactor')
    const body = { ...BODY, note: 'x', name: 'Euro' }
    expect((await edge.post(PATH, body, token)).status).toBe(201)
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ payload: PAYLOAD })
    expect(await refusalOf(await edge.post(PATH, { ...body, signature: 'c2ln' }, token))).toEqual({
      status: 400,
      codes: ['ERR_UNKNOWN_FIELD'],
      fields: ['note', 'name'],
    })
    expect(edge.gateway.asked).toHaveLength(1)
  })

  test('all that is wrong is told at once', async () => {
    const edge = answering(REGISTERED)
    const token = await edge.tokenFor('transactor')
    const body = { symbol: '', decimals: '2', issuer: '..', total_supply: 5, signature: '' }
    expect(await refusalOf(await edge.post(PATH, body, token, { 'idempotency-key': 'x'.repeat(256) }))).toEqual({
      status: 400,
      codes: [
        'ERR_INVALID_IDEMPOTENCY_KEY',
        'ERR_INVALID_SYMBOL',
        'ERR_INVALID_DECIMALS',
        'ERR_INVALID_ISSUER',
        'ERR_INVALID_TOTAL_SUPPLY',
        'ERR_INVALID_SIGNATURE',
      ],
      fields: ['Idempotency-Key', 'symbol', 'decimals', 'issuer', 'total_supply', 'signature'],
    })
    expect(await refusalOf(await edge.post(PATH, {}, token))).toEqual({
      status: 400,
      codes: ['ERR_INVALID_SYMBOL', 'ERR_INVALID_DECIMALS', 'ERR_INVALID_ISSUER', 'ERR_INVALID_TOTAL_SUPPLY'],
      fields: ['symbol', 'decimals', 'issuer', 'total_supply'],
    })
    expect(edge.gateway.asked).toEqual([])
  })

  test.for([
    [{ symbol: '.EUR' }, 'symbol', 'ERR_INVALID_SYMBOL'],
    [{ symbol: 'EU R' }, 'symbol', 'ERR_INVALID_SYMBOL'],
    [{ symbol: 'x'.repeat(65) }, 'symbol', 'ERR_INVALID_SYMBOL'],
    [{ symbol: 7 }, 'symbol', 'ERR_INVALID_SYMBOL'],
    [{ decimals: -1 }, 'decimals', 'ERR_INVALID_DECIMALS'],
    [{ decimals: 19 }, 'decimals', 'ERR_INVALID_DECIMALS'],
    [{ decimals: 2.5 }, 'decimals', 'ERR_INVALID_DECIMALS'],
    [{ decimals: '2' }, 'decimals', 'ERR_INVALID_DECIMALS'],
    [{ decimals: null }, 'decimals', 'ERR_INVALID_DECIMALS'],
    [{ issuer: 'a b' }, 'issuer', 'ERR_INVALID_ISSUER'],
    [{ total_supply: '-1' }, 'total_supply', 'ERR_INVALID_TOTAL_SUPPLY'],
    [{ total_supply: '1e3' }, 'total_supply', 'ERR_INVALID_TOTAL_SUPPLY'],
    [{ total_supply: '1000000000000000000' }, 'total_supply', 'ERR_INVALID_TOTAL_SUPPLY'],
    [{ total_supply: '1.001' }, 'total_supply', 'ERR_INVALID_TOTAL_SUPPLY'],
    [{ decimals: 0, total_supply: '0.5' }, 'total_supply', 'ERR_INVALID_TOTAL_SUPPLY'],
    [{ signature: '' }, 'signature', 'ERR_INVALID_SIGNATURE'],
  ] as const)('%j is 400', async ([change, field, code]) => {
    const edge = answering(REGISTERED)
    const response = await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: [code], fields: [field] })
  })

  test.for([
    { total_supply: '0' },
    { total_supply: '1.500000000000000000' },
    { decimals: 0, total_supply: '5.0' },
    { decimals: 18, total_supply: '999999999999999999.999999999999999999' },
    { symbol: '1', issuer: 'nobody' },
    { symbol: 'x'.repeat(64) },
    { symbol: 'BASE.1' },
  ])('%j goes to the ledger', async (change) => {
    const edge = answering(REGISTERED)
    expect((await edge.post(PATH, { ...BODY, ...change }, await edge.tokenFor('admin'))).status).toBe(201)
  })

  test.for(['BASE', 'base', 'Base'])('D3: the symbol %s is taken', async (symbol) => {
    const edge = answering(REGISTERED)
    const response = await edge.post(PATH, { ...BODY, symbol }, await edge.tokenFor('admin'))
    expect(await refusalOf(response)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['symbol'] })
    expect(edge.gateway.asked).toEqual([])
  })

  test.for([
    ['token_exists', 409, 'ERR_CONFLICT'],
    ['issuer_consent_missing', 403, 'ERR_SIGNATURE_MISMATCH'],
    ['signature_mismatch', 403, 'ERR_SIGNATURE_MISMATCH'],
    ['asset_limit', 409, 'ERR_CONFLICT'],
  ] as const)('a refusal with %s is %i', async ([code, status, errorCode]) => {
    const edge = answering({ kind: 'refused', code, detail: 'No.', field: null })
    const response = await edge.post(PATH, BODY, await edge.tokenFor('transactor'))
    expect(await refusalOf(response)).toMatchObject({ status, codes: [errorCode] })
  })

  test('D8: a shard that is away, or an answer to another question, is 503 with the outcome', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('transactor')
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'not_applied' })
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'status_changed', account: {} as never } }
    expect(await bodyOf(await edge.post(PATH, BODY, token))).toMatchObject({ status: 503, outcome: 'unknown' })
  })

  test('D7: token, role, content type and text are judged before the shape', async () => {
    const edge = answering(REGISTERED)
    const text = { 'content-type': 'text/plain' }
    expect((await edge.post(PATH, '{', undefined, text)).status).toBe(401)
    expect((await edge.post(PATH, '{', await edge.tokenFor('viewer'), text)).status).toBe(403)
    expect((await edge.post(PATH, '{', await edge.tokenFor('transactor'), text)).status).toBe(415)
    expect((await edge.post(PATH, '{', await edge.tokenFor('transactor'))).status).toBe(400)
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

  test.for(['BASE', 'eur.x', 'x', '%00', '%E0%A4%A', 'a%2Fb', 'x'.repeat(65)])(
    'GET /v1/fungible-tokens/%s is 404',
    async (id) => {
      const edge = fixture()
      const response = await edge.get(`${PATH}/${id}`, await edge.tokenFor('viewer'))
      expect(await refusalOf(response)).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
    },
  )

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
    const first = await bodyOf(await edge.get(`${PATH}?page_size=2`, token))
    expect(first).toMatchObject({ tokens: [SHOWN, { token_id: 'GBP' }], total_count: 3 })
    const rest = await bodyOf(await edge.get(`${PATH}?page_token=${String(first['next_page_token'])}`, token))
    expect(rest).toMatchObject({ tokens: [{ token_id: 'usd' }], next_page_token: '', total_count: 3 })
    expect(rest['tokens']).toHaveLength(1)
  })

  test('D16: a page size or token that is none is 400, and reads that are away are 503', async () => {
    const edge = fixture()
    const token = await edge.tokenFor('viewer')
    expect(await refusalOf(await edge.get(`${PATH}?page_size=0&page_token=x`, token))).toEqual({
      status: 400,
      codes: ['ERR_INVALID_QUERY'],
      fields: ['page_size', 'page_token'],
    })
    edge.reads.failure = new ReadsUnavailable('away')
    for (const path of [PATH, `${PATH}/EUR.x`]) expect((await edge.get(path, token)).status).toBe(503)
  })
})
