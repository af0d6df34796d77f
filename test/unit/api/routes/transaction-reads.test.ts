import { describe, expect, test } from 'vitest'
import {
  bodyOf,
  createEdgeFixture,
  refusalOf,
  transactionView,
  TXN_ID,
  groupView,
  signedIn,
} from '../fakes/edge-fixture.ts'

const GROUP = '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a'
const PENDING = { status: 'pending', auditHash: null, processedAtMs: null } as const

describe('GET /v1/transactions/{id} with Prefer: wait', () => {
  test('D8: a wait above 30 s is 30 s', async () => {
    const { edge, token } = await signedIn('viewer')
    edge.reads.transactionViews.set(TXN_ID, transactionView())
    for (const waitS of ['31', '1000000000', '9'.repeat(400), `${'0'.repeat(20)}31`]) {
      const { headers } = await edge.get(`/v1/transactions/${TXN_ID}`, token, { prefer: `wait=${waitS}` })
      expect([waitS, headers.get('preference-applied')]).toEqual([waitS, 'wait=30'])
    }
  })

  test('D8: a pending transaction is shown when the time is up; without the preference at once', async () => {
    const { edge, token } = await signedIn('viewer')
    edge.reads.transactionViews.set(TXN_ID, transactionView(PENDING))
    const pending = edge.get(`/v1/transactions/${TXN_ID}`, token, { prefer: 'wait="2"' })
    await edge.clock.timersSet(1)
    await edge.clock.advance(2000)
    expect(await bodyOf(await pending)).toMatchObject({ status: 'pending', audit_hash: null })
    const atOnce = await edge.get(`/v1/transactions/${TXN_ID}`, token, { prefer: 'await=2' })
    expect(atOnce.headers.get('preference-applied')).toBeNull()
    expect(await bodyOf(atOnce)).not.toHaveProperty('processed_at')
    expect(edge.clock.pending()).toBe(0)
  })
})

describe('GET /v1/transactions', () => {
  test('passes every parameter on: dates in UTC, group IDs in lower case', async () => {
    const { edge, token } = await signedIn('viewer')
    const rows = [
      ['account_id', 'alice@bank', 'accountId', 'alice@bank'],
      ['date_from', '2025-01-01T01:00:00+01:00', 'createdFromMs', Date.UTC(2025, 0, 1)],
      ['date_to', '2025-01-02T00:00:00.0005Z', 'createdToMs', Date.UTC(2025, 0, 2) + 0.5],
      ['type', 'debit', 'type', 'debit'],
      ['token_id', 'BASE', 'tokenId', 'BASE'],
      ['token_class', 'nft', 'tokenClass', 'nft'],
      ['group_id', GROUP.toUpperCase(), 'groupId', GROUP],
      ['amount_min', '0', 'amountMin', '0'],
      ['amount_max', '10.5', 'amountMax', '10.5'],
      ['status', 'failed', 'status', 'failed'],
      ['idempotency_key', 'a +&b', 'idempotencyKey', 'a +&b'],
      ['order', 'asc', 'order', 'asc'],
      ['page_size', '5000', 'limit', 1000],
    ] as const
    const query = new URLSearchParams(Object.fromEntries(rows))
    expect((await edge.get(`/v1/transactions?${query.toString()}`, token)).status).toBe(200)
    const passed = Object.fromEntries(rows.map(([, , name, value]) => [name, value]))
    expect(edge.reads.queries).toEqual([{ ...passed, after: null, counted: true }])
  })

  test('the defaults are no filter, newest first, 100 rows, counted', async () => {
    const { edge, token } = await signedIn('viewer')
    await edge.get('/v1/transactions', token)
    const all = { order: 'desc', limit: 100, after: null, counted: true, status: null, accountId: null, groupId: null }
    expect(edge.reads.queries).toMatchObject([all])
  })

  test.for([
    ['account_id=a/b', 'account_id', 'ERR_INVALID_ACCOUNT_ID'],
    ['account_id=', 'account_id', 'ERR_INVALID_ACCOUNT_ID'],
    ['date_from=2025-01-01', 'date_from', 'ERR_INVALID_TIMESTAMP'],
    ['date_to=2025-02-30T00:00:00Z', 'date_to', 'ERR_INVALID_TIMESTAMP'],
    ['type=pay', 'type', 'ERR_INVALID_TYPE'],
    ['token_id=a%20b', 'token_id', 'ERR_INVALID_TOKEN_ID'],
    ['token_class=%00', 'token_class', 'ERR_INVALID_QUERY'],
    ['group_id=7', 'group_id', 'ERR_INVALID_GROUP_ID'],
    ['amount_min=-1', 'amount_min', 'ERR_INVALID_AMOUNT'],
    ['amount_max=1e3', 'amount_max', 'ERR_INVALID_AMOUNT'],
    ['status=done', 'status', 'ERR_INVALID_QUERY'],
    ['account_id=a&idempotency_key=', 'idempotency_key', 'ERR_INVALID_IDEMPOTENCY_KEY'],
    ['idempotency_key=k', 'account_id', 'ERR_INVALID_ACCOUNT_ID'],
    ['order=up', 'order', 'ERR_INVALID_QUERY'],
    ['page_size=0', 'page_size', 'ERR_INVALID_QUERY'],
    ['page_token=x', 'page_token', 'ERR_INVALID_QUERY'],
    ['status=failed&status=failed', 'status', 'ERR_INVALID_QUERY'],
  ] as const)('?%s is 400', async ([query, field, code]) => {
    const edge = createEdgeFixture()
    const response = await edge.get(`/v1/transactions?${query}`, await edge.tokenFor('viewer'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: [code], fields: [field] })
    expect(edge.reads.queries).toEqual([])
  })

  test('D16: one response reports all errors of a query, unknown parameters included', async () => {
    const edge = createEdgeFixture()
    const response = await edge.get('/v1/transactions?type=x&amount_min=y&z=1&z=2', await edge.tokenFor('viewer'))
    expect(await refusalOf(response)).toEqual({
      status: 400,
      codes: ['ERR_INVALID_QUERY', 'ERR_INVALID_TYPE', 'ERR_INVALID_AMOUNT'],
      fields: ['z', 'type', 'amount_min'],
    })
  })

  test.for([
    ['acount_id', ': did you mean account_id?'],
    ['accountId', ': did you mean account_id?'],
    ['pagesize', ': did you mean page_size?'],
    ['dateFrom', ': did you mean date_from?'],
    ['limit', ''],
    ['x', ''],
    ['', ''],
    ['account_id'.repeat(50), ''],
  ] as const)('D16: a misspelt filter does not return unfiltered rows: %s', async ([name, suggestion]) => {
    const edge = createEdgeFixture()
    const response = await edge.get(`/v1/transactions?${name}=alice`, await edge.tokenFor('viewer'))
    expect(await bodyOf(response)).toMatchObject({
      status: 400,
      error_codes: ['ERR_INVALID_QUERY'],
      errors: [{ field: name === '' ? 'query' : name, message: `is not a parameter of this request${suggestion}` }],
    })
    expect(edge.reads.queries).toEqual([])
  })

  test('D16: a page continues after the page before, with the count of the first, at any page size', async () => {
    const { edge, token } = await signedIn('viewer')
    const next = { position: '12 34', txnId: TXN_ID }
    edge.reads.page = { transactions: [], next, ended: false, count: { total: 10_000, exact: false } }
    const first = await edge.get('/v1/transactions?status=failed&order=asc&page_size=1', token)
    expect(first.headers.get('x-total-count-relation')).toBe('gte')
    const { next_page_token: pageToken, ...counted } = await bodyOf(first)
    expect(counted).toMatchObject({ total_count: 10_000, total_count_relation: 'gte' })
    const second = await edge.get(
      `/v1/transactions?order=asc&page_size=7&page_token=${String(pageToken)}&status=failed`,
      token,
    )
    expect(edge.reads.queries[1]).toMatchObject({ after: next, counted: false, limit: 7 })
    expect(second.headers.get('x-total-count-relation')).toBe('gte')
    expect((await bodyOf(second))['total_count']).toBe(10_000)
  })

  test('D16: a token of another query, list or client is 400', async () => {
    const { edge, token } = await signedIn('viewer')
    const next = { position: null, txnId: TXN_ID }
    edge.reads.page = { transactions: [], next, ended: false, count: { total: 1, exact: true } }
    const { next_page_token: pageToken } = await bodyOf(await edge.get('/v1/transactions?type=credit', token))
    const use = async (path: string, who = token) =>
      (await edge.get(`${path}page_token=${String(pageToken)}`, who)).status
    expect(await use('/v1/transactions?type=credit&')).toBe(200)
    expect(await use('/v1/transactions?')).toBe(400)
    expect(await use('/v1/transactions?type=debit&')).toBe(400)
    expect(await use('/v1/transactions?type=credit&order=asc&')).toBe(400)
    expect(await use(`/v1/transactions/group/${GROUP}?`)).toBe(400)
    expect(await use('/v1/transactions?type=credit&', await edge.tokenFor('admin'))).toBe(400)
  })
})

test('the transactions of a group are read by its ID, and a word of another path is no group ID', async () => {
  const { edge, token } = await signedIn('viewer')
  edge.reads.groupViews.set(GROUP, groupView({ groupId: GROUP }))
  expect((await edge.get(`/v1/transactions/group/${GROUP.toUpperCase()}`, token)).status).toBe(200)
  expect(edge.reads.queries).toMatchObject([{ groupId: GROUP, counted: false, accountId: null }])
  const word = await refusalOf(await edge.get('/v1/transactions/group/receipt', token))
  expect(word).toEqual({ status: 400, codes: ['ERR_INVALID_GROUP_ID'], fields: ['group_id'] })
})
