/** D21: each submission of a batch gets the result that it would get alone, at its position. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import type { GatewayOutcome } from '../../../../runtime/edge/ledger-gateway.ts'
import { bodyOf, createEdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'
import { WRITTEN } from './written-requests.ts'

const PATH = '/v1/transactions/batch'
const { body: ORDER, answer: ACCEPTED } = WRITTEN.submitTransaction

function order(key: string): JsonObject {
  return { ...ORDER, idempotency_key: key }
}

/** An edge whose ledger replies by idempotency key. */
function answering(outcomes: Readonly<Record<string, GatewayOutcome>>) {
  const edge = createEdgeFixture()
  const { ask } = edge.gateway
  Object.assign(edge.gateway, {
    ask: (request: Parameters<typeof ask>[0]) => {
      const payload = 'payload' in request.operation ? request.operation.payload : '{}'
      const { idempotency_key: key } = JSON.parse(payload) as { idempotency_key: string }
      edge.gateway.outcome = outcomes[key] ?? { kind: 'answered', answer: ACCEPTED }
      return ask(request)
    },
  })
  return edge
}

const refused: GatewayOutcome = {
  kind: 'answered',
  answer: { kind: 'refused', code: 'signature_mismatch', detail: 'No.', field: 'signature' },
}

test('each submission gets its own result at its position', async () => {
  const edge = answering({
    k2: refused,
    k3: { kind: 'answered', answer: { ...ACCEPTED, replayed: true, mismatch: true } },
    k4: { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' },
    k6: { kind: 'answered', answer: { ...ACCEPTED, replayed: true } },
  })
  const token = await edge.tokenFor('transactor')
  const submissions = [order('k1'), order('k2'), order('k3'), order('k4'), { account_id: '' }, order('k6'), 7]
  const response = await edge.post(PATH, { submissions }, token)
  expect(response.status).toBe(200)
  const { results } = (await bodyOf(response)) as { results: Record<string, unknown>[] }
  const alone = await Promise.all(
    submissions.map(async (one) => bodyOf(await edge.post('/v1/transactions', one as object, token))),
  )
  const requestId = response.headers.get('x-request-id')
  const problemAt = (index: number) => ({ ...alone[index], instance: PATH, request_id: requestId })
  expect(results).toEqual([
    { status: 202, receipt: alone[0] },
    { status: 403, problem: problemAt(1) },
    { status: 202, receipt: alone[2], replayed: true, payload_mismatch: true },
    { status: 503, problem: problemAt(3) },
    { status: 400, problem: problemAt(4) },
    { status: 202, receipt: alone[5], replayed: true },
    { status: 400, problem: problemAt(6) },
  ])
  expect(results[3]?.['problem']).toMatchObject({ outcome: 'unknown', error_codes: ['ERR_SHARD_UNAVAILABLE'] })
})

test('a submission that fails inside the edge fails alone', async () => {
  const edge = answering({ k2: { kind: 'answered', answer: { kind: 'arrival', state: 'held' } } })
  const submissions = [order('k1'), order('k2'), order('k3')]
  const response = await edge.post(PATH, { submissions }, await edge.tokenFor('transactor'))
  expect(response.status).toBe(200)
  const { results } = (await bodyOf(response)) as { results: Record<string, unknown>[] }
  expect(results.map(({ status }) => status)).toEqual([202, 503, 202])
  expect(results[1]?.['problem']).toMatchObject({ outcome: 'unknown', error_codes: ['ERR_DOWNSTREAM_FAILURE'] })
  expect(edge.log.map(({ event }) => event)).toEqual(['request_failed'])
})

test('all submissions are sent to the ledger at once, in order', async () => {
  const edge = answering({})
  const keys = Array.from({ length: 500 }, (_, index) => `k${index}`)
  const response = await edge.post(PATH, { submissions: keys.map((key) => order(key)) }, await edge.tokenFor('admin'))
  expect(response.status).toBe(200)
  const asked = edge.gateway.asked.map(({ operation }) => ('payload' in operation ? operation.payload : ''))
  expect(asked.map((payload) => (JSON.parse(payload) as Record<string, unknown>)['idempotency_key'])).toEqual(keys)
})

test.for([
  ['a body without submissions', {}],
  ['an object', { submissions: {} }],
  ['an empty array', { submissions: [] }],
  ['an array of more than 500', { submissions: Array.from({ length: 501 }, () => order('k')) }],
] as const)('%s is 400, and the ledger gets no request', async ([, body]) => {
  const edge = answering({})
  const response = await edge.post(PATH, body, await edge.tokenFor('transactor'))
  expect(await refusalOf(response)).toEqual({ status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['submissions'] })
  expect(edge.gateway.asked).toEqual([])
})
