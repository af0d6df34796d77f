import { expect, test } from 'vitest'
import { REFUSAL_CODES, type RefusalCode } from '../../../../actors/refusal.ts'
import { answering, bodyOf, createEdgeFixture, GROUP_ID } from '../fakes/edge-fixture.ts'
import { WRITTEN } from './written-requests.ts'

const { body: SUBMISSION, answer: ACCEPTED } = WRITTEN.submitTransaction

test('D5: the receipt names the group, also a generated one', async () => {
  const edge = answering({ ...ACCEPTED, receipt: { ...ACCEPTED.receipt, groupId: GROUP_ID } })
  const transfer = { ...SUBMISSION, type: 'transfer', to_account_id: 'bob' }
  const response = await edge.post('/v1/transactions', transfer, await edge.tokenFor('transactor'))
  expect(await bodyOf(response)).toMatchObject({ status: 'pending', group_id: GROUP_ID })
  expect(edge.gateway.asked).toHaveLength(1)
})

/** By hand, from the interface. */
const REFUSED: readonly (readonly [status: number, slug: string, code: string, refusals: string])[] = [
  [
    404,
    'not-found',
    'ERR_NOT_FOUND',
    'account_not_found token_not_found class_not_found instance_not_found metadata_unchecked ' +
      'owner_not_found receiver_not_found group_not_found transaction_not_found hold_not_found',
  ],
  [
    409,
    'conflict',
    'ERR_CONFLICT',
    'account_exists class_exists instance_exists leg_signed group_registered group_terms_unknown ' +
      'public_key_conflict key_used_elsewhere account_not_active account_paused account_not_frozen account_departing ' +
      'account_not_closed account_closed account_not_empty account_refuses ' +
      'balance_limit asset_limit supply_limit supply_underflow pending_limit expectation_limit token_exists ' +
      'group_exists group_settled group_expired',
  ],
  [409, 'conflict', 'ERR_INSUFFICIENT_FUNDS', 'insufficient_funds'],
  [429, 'rate-limited', 'ERR_RATE_LIMITED', 'account_rate_limited'],
  [403, 'forbidden', 'ERR_FORBIDDEN', 'account_keyless boundary_not_granted not_allowed'],
  [403, 'forbidden', 'ERR_SIGNATURE_MISMATCH', 'signature_mismatch issuer_consent_missing proof_mismatch'],
  [400, 'validation-error', 'ERR_WRONG_LEDGER', 'wrong_ledger'],
  [400, 'validation-error', 'ERR_INVALID_TIMESTAMP', 'expired'],
  [
    400,
    'validation-error',
    'ERR_INVALID_FIELD',
    'metadata_invalid arrival_not_held arrival_out_of_order arrival_not_empty compensation_limit ' +
      'owner_refused cannot_be_stored cannot_be_processed wrong_shard unknown_operation',
  ],
  [400, 'validation-error', 'ERR_INVALID_AMOUNT', 'amount_precision'],
  [403, 'forbidden', 'ERR_NOT_ISSUER', 'not_issuer'],
  [400, 'validation-error', 'ERR_SELF_TRANSFER', 'self_transfer'],
  [400, 'validation-error', 'ERR_INVALID_SIGNATURE', 'proof_missing'],
]
const ALL_REFUSED = REFUSED.flatMap(([status, slug, errorCode, refusals]) =>
  refusals.split(' ').map((code) => [code as RefusalCode, status, slug, errorCode] as const),
)

test('the table has every refusal of the ledger', () => {
  expect(ALL_REFUSED.map(([code]) => code).toSorted()).toEqual(REFUSAL_CODES.toSorted())
})

test.for(ALL_REFUSED)('a refusal with %s is %i %s %s', async ([code, status, slug, errorCode]) => {
  const edge = answering({ kind: 'refused', code, detail: 'No.', field: null })
  const token = await edge.tokenFor('transactor')
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
})

test.for([
  ['no_shards', 'ERR_NO_SHARDS'],
  ['no_healthy_shards', 'ERR_NO_HEALTHY_SHARDS'],
  ['shard_unavailable', 'ERR_SHARD_UNAVAILABLE'],
  ['overloaded', 'ERR_OVERLOADED'],
] as const)('D8: %s is 503 with the outcome of the submission', async ([reason, code]) => {
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

test('R2: an unexpected error is 503 with the outcome unknown, without its message', async () => {
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
})
