import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { accountAddress } from '../../../actors/address.ts'
import { REFUSAL_CODES, type RefusalCode } from '../../../actors/refusal.ts'
import { bodyOf, createEdgeFixture, GROUP_ID, refusalOf, TXN_ID } from './edge-fixture.ts'

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

  test('D5: the receipt names the group, also the one that the service made', async () => {
    const edge = answering({
      kind: 'accepted',
      receipt: { ...RECEIPT, groupId: GROUP_ID },
      replayed: false,
      mismatch: false,
    })
    const transfer = { ...SUBMISSION, type: 'transfer', to_account_id: 'bob' }
    const response = await edge.post('/v1/transactions', transfer, await edge.tokenFor('transactor'))
    expect(response.status).toBe(202)
    expect(await bodyOf(response)).toMatchObject({ status: 'pending', group_id: GROUP_ID })
    expect(edge.gateway.asked).toHaveLength(1)
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
        actor: accountAddress('alice'),
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
    // A query error counts as an error of shape.
    for (const path of ['/v1/transactions', '/v1/transactions?unknown=1']) {
      expect((await edge.post(path, huge, undefined, text)).status).toBe(401)
      expect((await edge.post(path, huge, viewer, text)).status).toBe(403)
      expect((await edge.post(path, huge, transactor, text)).status).toBe(413)
      expect((await edge.post(path, '{', transactor, text)).status).toBe(415)
      expect((await edge.post(path, '{', transactor)).status).toBe(400)
    }
    expect((await edge.post('/v1/transactions?unknown=1', SUBMISSION, transactor)).status).toBe(400)
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
    account_exists: [409, 'conflict', 'ERR_CONFLICT'],
    account_keyless: [403, 'forbidden', 'ERR_FORBIDDEN'],
    signature_mismatch: [403, 'forbidden', 'ERR_SIGNATURE_MISMATCH'],
    boundary_not_granted: [403, 'forbidden', 'ERR_FORBIDDEN'],
    wrong_ledger: [400, 'validation-error', 'ERR_WRONG_LEDGER'],
    expired: [400, 'validation-error', 'ERR_INVALID_TIMESTAMP'],
    token_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    class_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    class_exists: [409, 'conflict', 'ERR_CONFLICT'],
    instance_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    instance_exists: [409, 'conflict', 'ERR_CONFLICT'],
    leg_signed: [409, 'conflict', 'ERR_CONFLICT'],
    metadata_invalid: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    metadata_unchecked: [404, 'not-found', 'ERR_NOT_FOUND'],
    owner_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    amount_precision: [400, 'validation-error', 'ERR_INVALID_AMOUNT'],
    not_issuer: [403, 'forbidden', 'ERR_NOT_ISSUER'],
    self_transfer: [400, 'validation-error', 'ERR_SELF_TRANSFER'],
    receiver_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    issuer_consent_missing: [403, 'forbidden', 'ERR_SIGNATURE_MISMATCH'],
    group_registered: [409, 'conflict', 'ERR_CONFLICT'],
    group_terms_unknown: [409, 'conflict', 'ERR_CONFLICT'],
    public_key_conflict: [409, 'conflict', 'ERR_CONFLICT'],
    key_used_elsewhere: [409, 'conflict', 'ERR_CONFLICT'],
    proof_missing: [400, 'validation-error', 'ERR_INVALID_SIGNATURE'],
    proof_mismatch: [403, 'forbidden', 'ERR_SIGNATURE_MISMATCH'],
    account_not_active: [409, 'conflict', 'ERR_CONFLICT'],
    account_not_frozen: [409, 'conflict', 'ERR_CONFLICT'],
    account_departing: [409, 'conflict', 'ERR_CONFLICT'],
    account_not_closed: [409, 'conflict', 'ERR_CONFLICT'],
    account_not_erasable: [409, 'conflict', 'ERR_CONFLICT'],
    account_closed: [409, 'conflict', 'ERR_CONFLICT'],
    account_not_empty: [409, 'conflict', 'ERR_CONFLICT'],
    account_refuses: [409, 'conflict', 'ERR_CONFLICT'],
    balance_limit: [409, 'conflict', 'ERR_CONFLICT'],
    asset_limit: [409, 'conflict', 'ERR_CONFLICT'],
    supply_limit: [409, 'conflict', 'ERR_CONFLICT'],
    supply_underflow: [409, 'conflict', 'ERR_CONFLICT'],
    pending_limit: [409, 'conflict', 'ERR_CONFLICT'],
    expectation_limit: [409, 'conflict', 'ERR_CONFLICT'],
    token_exists: [409, 'conflict', 'ERR_CONFLICT'],
    group_exists: [409, 'conflict', 'ERR_CONFLICT'],
    group_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    group_settled: [409, 'conflict', 'ERR_CONFLICT'],
    group_expired: [409, 'conflict', 'ERR_CONFLICT'],
    transaction_not_found: [404, 'not-found', 'ERR_NOT_FOUND'],
    not_allowed: [403, 'forbidden', 'ERR_FORBIDDEN'],
    arrival_not_held: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    arrival_out_of_order: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    arrival_not_empty: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    compensation_limit: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    owner_refused: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    cannot_be_stored: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    cannot_be_processed: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    wrong_shard: [400, 'validation-error', 'ERR_INVALID_FIELD'],
    unknown_operation: [400, 'validation-error', 'ERR_INVALID_FIELD'],
  }

  test.for(REFUSAL_CODES)('a refusal with %s is what the interface says', async (code) => {
    const edge = answering({ kind: 'refused', code, detail: 'No.', field: null })
    const token = await edge.tokenFor('transactor')
    const [status, slug, errorCode] = REFUSED[code]
    const submission = { ...SUBMISSION, signature: Buffer.alloc(64, 7).toString('base64url') }
    const response = await edge.post('/v1/transactions', submission, token)
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
    const named = await refusalOf(await edge.post('/v1/transactions', submission, token))
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
    expect(line?.fields['at']).toContain('transactions.test.ts')
    expect(JSON.stringify(edge.log)).not.toMatch(/SELECT|10\.50/)
    edge.gateway.outcome = { kind: 'answered', answer: { kind: 'status_changed', account: {} as never } }
    const odd = await edge.post('/v1/transactions', SUBMISSION, await edge.tokenFor('transactor'))
    expect(await bodyOf(odd)).toMatchObject({ status: 503, outcome: 'unknown' })
  })
})
