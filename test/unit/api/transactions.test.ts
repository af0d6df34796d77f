import { describe, expect, test } from 'vitest'
import type { Answer, RefusalCode } from '../../../actors/account/outcome.ts'
import { REFUSAL_CODES } from '../../../actors/account/outcome.ts'
import { bodyOf, createEdgeFixture, refusalOf, transactionView, TXN_ID } from './edge-fixture.ts'
import { ReadsUnavailable } from '../../../runtime/ports/ledger-reads.ts'

const GROUP = '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a'
const SUBMISSION = {
  type: 'credit',
  account_id: 'alice',
  amount: '10.50',
  idempotency_key: 'key-1',
  signature: 'c2ln',
  metadata: { z: '1', a: 'é' },
}
const RECEIPT = { txnId: TXN_ID, accountId: 'alice', shardId: 7, enqueuedAtMs: 1_760_000_000_000, groupId: null }
const ACCEPTED: Answer = { kind: 'accepted', receipt: RECEIPT, replayed: false, mismatch: false }

function answering(answer: Answer) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

describe('POST /v1/transactions', () => {
  test('D8: answers 202 with the receipt and where the transaction is', async () => {
    const edge = answering(ACCEPTED)
    const response = await edge.post('/v1/transactions', SUBMISSION, await edge.tokenFor('transactor'))
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/transactions/${TXN_ID}`)
    expect(response.headers.get('idempotency-replayed')).toBeNull()
    expect(await response.text()).toBe(
      `{"txn_id":"${TXN_ID}","account_id":"alice","status":"pending","shard_id":7,"enqueued_at":"2025-10-09T08:53:20.000Z"}`,
    )
  })

  test('D6: sends on the canonical body without its signature, and who asks', async () => {
    const edge = answering(ACCEPTED)
    const token = await edge.tokenFor('admin')
    await edge.post(
      '/v1/transactions',
      ` { "signature":"c2ln",${JSON.stringify(SUBMISSION).slice(1, -1)}`.replace(',"signature":"c2ln"', '') + '}',
      token,
    )
    expect(edge.gateway.asked).toEqual([
      {
        accountId: 'alice',
        caller: { clientId: 'client-admin', role: 'admin', boundary: true },
        operation: {
          kind: 'submit',
          payload:
            '{"account_id":"alice","amount":"10.50","idempotency_key":"key-1","metadata":{"a":"é","z":"1"},"type":"credit"}',
          signature: 'c2ln',
        },
      },
    ])
  })

  test('D7: a repeat says that it is one, and whether its payload was another', async () => {
    const edge = answering({ ...ACCEPTED, replayed: true })
    const token = await edge.tokenFor('transactor')
    const same = await edge.post('/v1/transactions', SUBMISSION, token)
    expect(same.headers.get('idempotency-replayed')).toBe('true')
    expect(same.headers.get('idempotency-payload-mismatch')).toBeNull()
    edge.gateway.outcome = { kind: 'answered', answer: { ...ACCEPTED, replayed: true, mismatch: true } }
    const other = await edge.post('/v1/transactions', SUBMISSION, token)
    expect(other.headers.get('idempotency-payload-mismatch')).toBe('true')
    expect(await other.text()).toBe(await same.text())
  })

  test('D7: token, role, size, content type and shape are judged in this order, and none asks the ledger', async () => {
    const edge = answering(ACCEPTED)
    const huge = 'x'.repeat(1_048_577)
    const viewer = await edge.tokenFor('viewer')
    const transactor = await edge.tokenFor('transactor')
    const text = { 'content-type': 'text/plain' }
    expect((await edge.post('/v1/transactions', huge, undefined, text)).status).toBe(401)
    expect((await edge.post('/v1/transactions', huge, viewer, text)).status).toBe(403)
    expect((await edge.post('/v1/transactions', huge, transactor, text)).status).toBe(413)
    expect((await edge.post('/v1/transactions', '{', transactor, text)).status).toBe(415)
    expect((await edge.post('/v1/transactions', '{', transactor)).status).toBe(400)
    expect(edge.gateway.asked).toEqual([])
  })

  test('D14: all fields and codes that are wrong stand in one 400', async () => {
    const edge = answering(ACCEPTED)
    const body = { account_id: '', amount: 1, kind: 'credit' }
    const response = await edge.post('/v1/transactions', body, await edge.tokenFor('transactor'))
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = await bodyOf(response)
    expect(problem).toMatchObject({
      type: 'https://ledger.example/errors/validation-error',
      title: 'Validation Error',
      status: 400,
      instance: '/v1/transactions',
      error_codes: [
        'ERR_INVALID_ACCOUNT_ID',
        'ERR_INVALID_AMOUNT',
        'ERR_INVALID_TYPE',
        'ERR_INVALID_SIGNATURE',
        'ERR_INVALID_IDEMPOTENCY_KEY',
        'ERR_UNKNOWN_FIELD',
      ],
    })
    expect(problem['errors']).toHaveLength(6)
    expect(problem).not.toHaveProperty('outcome')
  })

  test('a signature too long to verify is left to the owner as one that cannot', async () => {
    const edge = answering(ACCEPTED)
    const token = await edge.tokenFor('transactor')
    await edge.post('/v1/transactions', { ...SUBMISSION, signature: 'A'.repeat(1025) }, token)
    await edge.post('/v1/transactions', { ...SUBMISSION, signature: 'A'.repeat(1024) }, token)
    const signatures = edge.gateway.asked.map(({ operation }) => operation.kind === 'submit' && operation.signature)
    expect(signatures).toEqual(['-', 'A'.repeat(1024)])
  })

  const REFUSED: Record<RefusalCode, [number, string, string]> = {
    account_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    account_keyless: [403, 'forbidden', 'ERR_FORBIDDEN'],
    signature_mismatch: [403, 'forbidden', 'ERR_SIGNATURE_MISMATCH'],
    boundary_not_granted: [403, 'forbidden', 'ERR_FORBIDDEN'],
    wrong_ledger: [400, 'validation-error', 'ERR_WRONG_LEDGER'],
    expired: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    token_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    class_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    group_terms_unknown: [409, 'conflict', 'ERR_CONFLICT'],
    public_key_conflict: [409, 'conflict', 'ERR_CONFLICT'],
    proof_missing: [400, 'validation-error', 'ERR_INVALID_SIGNATURE'],
    proof_mismatch: [403, 'forbidden', 'ERR_SIGNATURE_MISMATCH'],
    account_not_active: [409, 'conflict', 'ERR_CONFLICT'],
    account_closed: [409, 'conflict', 'ERR_CONFLICT'],
    account_not_empty: [409, 'conflict', 'ERR_CONFLICT'],
    rejected: [400, 'validation-error', 'ERR_INVALID_FIELD'],
  }

  test.for(REFUSAL_CODES)('a refusal with %s is what the interface says', async (code) => {
    const edge = answering({ kind: 'refused', code, detail: 'No.', field: null })
    const token = await edge.tokenFor('transactor')
    const [status, slug, errorCode] = REFUSED[code]
    const response = await edge.post('/v1/transactions', SUBMISSION, token)
    expect(response.status).toBe(status)
    const problem = await bodyOf(response)
    expect(problem).toMatchObject({
      type: `https://ledger.example/errors/${slug}`,
      status,
      detail: 'No.',
      error_codes: [errorCode],
    })
    expect(problem['errors'] !== undefined).toBe(status === 400)
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'refused', code, detail: 'No.', field: 'a_field' } }
    const named = await refusalOf(await edge.post('/v1/transactions', SUBMISSION, token))
    expect(named.fields).toEqual(['a_field'])
  })

  test.for([
    ['no_shards', 'ERR_NO_SHARDS'],
    ['no_healthy_shards', 'ERR_NO_HEALTHY_SHARDS'],
    ['shard_unavailable', 'ERR_SHARD_UNAVAILABLE'],
    ['overloaded', 'ERR_OVERLOADED'],
  ] as const)('D8: %s is a 503 that says what became of the submission', async ([reason, code]) => {
    for (const outcome of ['not_applied', 'unknown'] as const) {
      const edge = createEdgeFixture()
      edge.gateway.outcome = { kind: 'unavailable', reason, outcome }
      const response = await edge.post('/v1/transactions', SUBMISSION, await edge.tokenFor('transactor'))
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await bodyOf(response)).toMatchObject({
        type: 'https://ledger.example/errors/shard-unavailable',
        error_codes: [code],
        outcome,
      })
    }
  })

  test('R2: what was never expected is 503 with the outcome unknown, and tells nothing of itself', async () => {
    const edge = createEdgeFixture()
    edge.gateway.outcome = new TypeError('SELECT secret FROM db.internal\n    at amount 10.50')
    const response = await edge.post('/v1/transactions', SUBMISSION, await edge.tokenFor('transactor'))
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ status: 503, outcome: 'unknown', error_codes: ['ERR_DOWNSTREAM_FAILURE'] })
    expect(text).not.toMatch(/SELECT|internal|TypeError|\.ts/)
    const line = edge.log.find((entry) => entry.event === 'request_failed')
    expect(line?.fields).toMatchObject({ failure: 'TypeError', request_id: response.headers.get('x-request-id') })
    expect(line?.fields['at']).toContain('edge-fixture.ts')
    expect(JSON.stringify(edge.log)).not.toMatch(/SELECT|10\.50/)
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'status_changed', account: {} as never } }
    const odd = await edge.post('/v1/transactions', SUBMISSION, await edge.tokenFor('transactor'))
    expect(await bodyOf(odd)).toMatchObject({ status: 503, outcome: 'unknown' })
  })
})

describe('GET /v1/transactions/{id}', () => {
  test('shows what there is', async () => {
    const edge = createEdgeFixture()
    edge.reads.transactionViews.set(TXN_ID, transactionView({ groupId: GROUP, metadata: { a: 'b' } }))
    const response = await edge.get(`/v1/transactions/${TXN_ID}`, await edge.tokenFor('viewer'))
    expect(await bodyOf(response)).toEqual({
      txn_id: TXN_ID,
      account_id: 'alice',
      amount: '10.50',
      type: 'credit',
      status: 'completed',
      shard_id: 7,
      token_id: 'BASE',
      created_at: '2025-10-09T08:53:20.000Z',
      audit_hash: `sha256:${'cd'.repeat(32)}`,
      origin: 'client',
      group_id: GROUP,
      metadata: { a: 'b' },
      processed_at: '2025-10-09T08:53:20.004Z',
    })
  })

  test('a failed one has its failure and no audit hash', async () => {
    const edge = createEdgeFixture()
    const failure = { code: 'insufficient_funds' as const, detail: 'Too little.' }
    edge.reads.transactionViews.set(TXN_ID, transactionView({ status: 'failed', failure, auditHash: null }))
    const body = await bodyOf(await edge.get(`/v1/transactions/${TXN_ID}`, await edge.tokenFor('viewer')))
    expect(body).toMatchObject({ status: 'failed', audit_hash: null, failure })
    expect(body).not.toHaveProperty('group_id')
  })

  test.for([TXN_ID, 'x', 'txn_', '%00', '%E0%A4%A', 'a%2Fb'])('%s is 404 when it names nothing', async (id) => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    for (const path of [`/v1/transactions/${id}`, `/v1/transactions/${id}/receipt`]) {
      expect(await refusalOf(await edge.get(path, token))).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
    }
  })

  test('D8: Prefer: wait is honoured until the transaction is final', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    edge.reads.transactionViews.set(TXN_ID, transactionView({ status: 'pending', auditHash: null }))
    let answered: Response | undefined
    const pending = edge
      .get(`/v1/transactions/${TXN_ID}`, token, { prefer: 'respond-async, wait=99' })
      .then((response) => (answered = response))
    await edge.clock.advance(3000)
    expect(answered).toBeUndefined()
    edge.reads.transactionViews.set(TXN_ID, transactionView())
    await edge.clock.advance(1000)
    await pending
    expect(answered?.headers.get('preference-applied')).toBe('wait=30')
    expect(await bodyOf(answered as Response)).toMatchObject({ status: 'completed' })
  })

  test('D8: when the time is up, what is pending is shown as such; without the preference at once', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    edge.reads.transactionViews.set(TXN_ID, transactionView({ status: 'pending', auditHash: null }))
    const pending = edge.get(`/v1/transactions/${TXN_ID}`, token, { prefer: 'wait="2"' })
    await edge.clock.advance(2000)
    expect(await bodyOf(await pending)).toMatchObject({ status: 'pending', audit_hash: null })
    const atOnce = await edge.get(`/v1/transactions/${TXN_ID}`, token, { prefer: 'await=2' })
    expect(atOnce.headers.get('preference-applied')).toBeNull()
    expect(await bodyOf(atOnce)).not.toHaveProperty('processed_at')
    expect(edge.clock.pending()).toBe(0)
  })

  test('D9: the receipt is shown byte for byte as it was signed', async () => {
    const edge = createEdgeFixture()
    edge.reads.receipts.set(TXN_ID, { payload: '{"b":"\\u0007","a":1.0}', signature: 'MEUC+/==' })
    const response = await edge.get(`/v1/transactions/${TXN_ID}/receipt`, await edge.tokenFor('viewer'))
    expect(await response.text()).toBe('{"receipt":{"b":"\\u0007","a":1.0},"signature":"MEUC+/=="}')
  })
})

describe('GET /v1/transactions', () => {
  test('passes every parameter on, dates with their offset and group IDs in lower case', async () => {
    const edge = createEdgeFixture()
    const query = new URLSearchParams({
      account_id: 'alice@bank',
      date_from: '2025-01-01T01:00:00+01:00',
      date_to: '2025-01-02T00:00:00.0005Z',
      type: 'debit',
      token_id: 'BASE',
      token_class: 'nft',
      group_id: GROUP.toUpperCase(),
      amount_min: '0',
      amount_max: '10.5',
      status: 'failed',
      idempotency_key: 'a +&b',
      order: 'asc',
      page_size: '5000',
      unknown: 'ignored',
    })
    expect((await edge.get(`/v1/transactions?${query.toString()}`, await edge.tokenFor('viewer'))).status).toBe(200)
    expect(edge.reads.queries).toEqual([
      {
        accountId: 'alice@bank',
        createdFromMs: Date.UTC(2025, 0, 1),
        createdToMs: Date.UTC(2025, 0, 2) + 0.5,
        type: 'debit',
        tokenId: 'BASE',
        tokenClass: 'nft',
        groupId: GROUP,
        amountMin: '0',
        amountMax: '10.5',
        status: 'failed',
        idempotencyKey: 'a +&b',
        order: 'asc',
        limit: 1000,
        after: null,
        counted: true,
      },
    ])
  })

  test('the defaults are no filter, newest first, 100 rows, counted', async () => {
    const edge = createEdgeFixture()
    edge.reads.page = { transactions: [transactionView()], next: null, count: { total: 1, exact: true } }
    const response = await edge.get('/v1/transactions', await edge.tokenFor('viewer'))
    expect(edge.reads.queries[0]).toMatchObject({ order: 'desc', limit: 100, after: null, counted: true, status: null })
    expect(response.headers.get('x-total-count-relation')).toBeNull()
    expect(await bodyOf(response)).toEqual({
      transactions: [
        {
          txn_id: TXN_ID,
          account_id: 'alice',
          amount: '10.50',
          type: 'credit',
          token_id: 'BASE',
          status: 'completed',
          shard_id: 7,
          created_at: '2025-10-09T08:53:20.000Z',
        },
      ],
      next_page_token: '',
      total_count: 1,
    })
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
    ['page_size=-1', 'page_size', 'ERR_INVALID_QUERY'],
    ['page_size=1e3', 'page_size', 'ERR_INVALID_QUERY'],
    ['page_size=1.0', 'page_size', 'ERR_INVALID_QUERY'],
    ['page_size=', 'page_size', 'ERR_INVALID_QUERY'],
    ['page_token=x', 'page_token', 'ERR_INVALID_QUERY'],
    [`page_token=${'A'.repeat(513)}`, 'page_token', 'ERR_INVALID_QUERY'],
    ['status=failed&status=failed', 'status', 'ERR_INVALID_QUERY'],
    ['page_size=1&page_size=1', 'page_size', 'ERR_INVALID_QUERY'],
  ] as const)('?%s is 400', async ([query, field, code]) => {
    const edge = createEdgeFixture()
    const response = await edge.get(`/v1/transactions?${query}`, await edge.tokenFor('viewer'))
    expect(await refusalOf(response)).toEqual({ status: 400, codes: [code], fields: [field] })
    expect(edge.reads.queries).toEqual([])
  })

  test('all that is wrong with a query is told at once, and unknown parameters may be repeated', async () => {
    const edge = createEdgeFixture()
    const response = await edge.get('/v1/transactions?type=x&amount_min=y&z=1&z=2', await edge.tokenFor('viewer'))
    expect(await refusalOf(response)).toMatchObject({ codes: ['ERR_INVALID_TYPE', 'ERR_INVALID_AMOUNT'] })
  })

  test('an offset whose plus was not encoded is understood', async () => {
    const edge = createEdgeFixture()
    await edge.get('/v1/transactions?date_from=2025-01-01T01:00:00+01:00', await edge.tokenFor('viewer'))
    expect(edge.reads.queries[0]?.createdFromMs).toBe(Date.UTC(2025, 0, 1))
  })

  test('D16: a page goes on where the one before ended, with the count of the first, at any page size', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    const next = { position: '12 34', txnId: TXN_ID }
    edge.reads.page = { transactions: [], next, count: { total: 10_000, exact: false } }
    const first = await edge.get('/v1/transactions?status=failed&order=asc&page_size=1', token)
    expect(first.headers.get('x-total-count-relation')).toBe('gte')
    const { next_page_token: pageToken } = await bodyOf(first)
    const second = await edge.get(
      `/v1/transactions?order=asc&page_size=7&page_token=${String(pageToken)}&status=failed`,
      token,
    )
    expect(edge.reads.queries[1]).toMatchObject({ after: next, counted: false, limit: 7 })
    expect(second.headers.get('x-total-count-relation')).toBe('gte')
    expect((await bodyOf(second))['total_count']).toBe(10_000)
  })

  test('D16: a token of another query, list or client is 400', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    const next = { position: null, txnId: TXN_ID }
    edge.reads.page = { transactions: [], next, count: { total: 1, exact: true } }
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

  test('reads that are away are 503, and say nothing of what is away', async () => {
    const edge = createEdgeFixture()
    edge.reads.failure = new ReadsUnavailable('connect ECONNREFUSED 10.0.0.1:5432')
    const response = await edge.get('/v1/transactions', await edge.tokenFor('viewer'))
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ status: 503, error_codes: ['ERR_DOWNSTREAM_FAILURE'] })
    expect(text).not.toMatch(/ECONN|10\.0/)
    expect(edge.log.map((line) => line.event)).toEqual(['port_unavailable'])
  })
})

describe('GET /v1/transactions/group/{groupID}', () => {
  test('lists the legs of the group, whatever the case of its ID', async () => {
    const edge = createEdgeFixture()
    edge.reads.page = { transactions: [transactionView({ groupId: GROUP })], next: null, count: null }
    const path = `/v1/transactions/group/${GROUP.toUpperCase()}`
    expect(await bodyOf(await edge.get(path, await edge.tokenFor('viewer')))).toEqual({
      group_id: GROUP,
      transactions: [
        {
          txn_id: TXN_ID,
          account_id: 'alice',
          amount: '10.50',
          type: 'credit',
          token_id: 'BASE',
          status: 'completed',
        },
      ],
      next_page_token: '',
    })
    expect(edge.reads.queries[0]).toMatchObject({ groupId: GROUP, counted: false, accountId: null })
  })

  test('an ID that no transaction carries is 404, an ill-formed one 400', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    expect((await edge.get(`/v1/transactions/group/${GROUP}`, token)).status).toBe(404)
    expect(await refusalOf(await edge.get('/v1/transactions/group/receipt', token))).toEqual({
      status: 400,
      codes: ['ERR_INVALID_GROUP_ID'],
      fields: ['group_id'],
    })
  })
})
