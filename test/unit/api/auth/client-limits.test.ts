/** The limits of a client at the edge. Its rate: after token and role, before the body (D7), with the headers of the draft. */
import { describe, expect, test } from 'vitest'
import type { Rate } from '../../../../actors/rate.ts'
import type { Role } from '../../../../actors/account/commands.ts'
import { bodyOf, clientOf, createEdgeFixture } from '../fakes/edge-fixture.ts'
import { WRITTEN } from '../routes/written-requests.ts'

const { body: ORDER, answer: ACCEPTED } = WRITTEN.submitTransaction
const RATE: Rate = { perSecond: 2, burst: 3 }

async function limitedClient(role: Role, rate: Rate = RATE) {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer: ACCEPTED }
  edge.access.clients.set('limited', { ...clientOf('limited', role), rate })
  return { edge, token: await edge.tokenFor(role, 'limited') }
}

/** The refusal of a request, which leaves 100 ms late (L4 of runtime/edge/client-limits.ts). */
async function refusalOf(edge: ReturnType<typeof createEdgeFixture>, send: () => Promise<Response>): Promise<Response> {
  const timers = edge.clock.pending()
  const reply = send()
  await edge.clock.timersSet(timers + 1)
  await edge.clock.advance(100)
  return reply
}

test('each reply says what is left; beyond it is a 429 that applied nothing, and time gives requests back', async () => {
  const { edge, token } = await limitedClient('transactor')
  const order = () => edge.post('/v1/transactions', ORDER, token)
  const statuses: (string | number | null)[][] = []
  for (const sent of [order, order, order, () => refusalOf(edge, order)]) {
    const { status, headers } = await sent()
    statuses.push([status, headers.get('ratelimit-policy'), headers.get('ratelimit'), headers.get('retry-after')])
  }
  expect(statuses).toEqual([
    [202, '"client";q=3;w=2', '"client";r=2;t=1', null],
    [202, '"client";q=3;w=2', '"client";r=1;t=1', null],
    [202, '"client";q=3;w=2', '"client";r=0;t=2', null],
    [429, '"client";q=3;w=2', '"client";r=0;t=2', '1'],
  ])
  expect(edge.gateway.asked).toHaveLength(3)
  const refused = await bodyOf(await refusalOf(edge, order))
  expect(refused).toMatchObject({ status: 429, error_codes: ['ERR_RATE_LIMITED'], outcome: 'not_applied' })
  await edge.clock.advance(500)
  expect((await order()).status).toBe(202)
})

test('D7: token and role are checked before the limit, and the limit before the body, the path and the query', async () => {
  const { edge, token } = await limitedClient('viewer', { perSecond: 0.001, burst: 1 })
  expect((await edge.post('/v1/transactions', '{', token)).status).toBe(403)
  expect((await edge.get('/v1/fungible-tokens', token)).status).toBe(200)
  for (const path of ['/v1/fungible-tokens?wrong=1', '/v1/accounts/..%2F/state', '/v1/unknown']) {
    expect((await refusalOf(edge, () => edge.get(path, token))).status).toBe(429)
  }
  const refused = await refusalOf(edge, () => edge.get('/v1/fungible-tokens', token))
  expect(await bodyOf(refused)).not.toHaveProperty('outcome')
  expect((await edge.get('/v1/fungible-tokens', 'wrong')).status).toBe(401)
  const other = await edge.tokenFor('viewer', 'other')
  const unlimited = await edge.get('/v1/fungible-tokens', other)
  expect([unlimited.status, unlimited.headers.get('ratelimit')]).toEqual([200, null])
})

test('a change of the rate takes effect within 5 seconds, with the same token', async () => {
  const { edge, token } = await limitedClient('viewer', { perSecond: 0.001, burst: 1 })
  const get = () => edge.get('/v1/fungible-tokens', token)
  const { status: first } = await get()
  const { status: beyond } = await refusalOf(edge, get)
  await edge.access.setRate('limited', 'none')
  await edge.clock.advance(5_000)
  expect([first, beyond, (await get()).status]).toEqual([200, 429, 200])
})

test('a batch costs as many requests as it has orders: those beyond the limit are each a 429', async () => {
  const { edge, token } = await limitedClient('transactor')
  const submissions = Array.from({ length: 5 }, (_, index) => ({ ...ORDER, idempotency_key: `k${index}` }))
  const response = await edge.post('/v1/transactions/batch', { submissions }, token)
  expect([response.status, response.headers.get('ratelimit')]).toEqual([200, '"client";r=0;t=2'])
  const { results } = (await bodyOf(response)) as { results: { status: number; problem?: object }[] }
  expect(results.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429])
  expect(results[4]?.problem).toMatchObject({ error_codes: ['ERR_RATE_LIMITED'], outcome: 'not_applied' })
  expect(edge.gateway.asked).toHaveLength(3)
})

test('an order beyond the rate of its account is a 429 that names both limits', async () => {
  const { edge, token } = await limitedClient('transactor')
  const limit = { perSecond: 0.5, burst: 4, retryAfterMs: 1_200 }
  const answer = { kind: 'refused', code: 'account_rate_limited', detail: 'No.', field: null, limit } as const
  edge.gateway.outcome = { kind: 'answered', answer }
  const response = await edge.post('/v1/transactions', ORDER, token)
  const names = ['ratelimit-policy', 'ratelimit', 'retry-after'] as const
  expect([response.status, ...names.map((name) => response.headers.get(name))]).toEqual([
    429,
    '"client";q=3;w=2, "account";q=4;w=8',
    '"client";r=2;t=1, "account";r=0;t=8',
    '2',
  ])
  expect(await bodyOf(response)).toMatchObject({ error_codes: ['ERR_RATE_LIMITED'], outcome: 'not_applied' })
})

describe('turns of clients', () => {
  /** A client whose requests the ledger does not answer, beside another one. */
  async function stuckClient() {
    const edge = createEdgeFixture()
    const [token, calm] = [await edge.tokenFor('transactor', 'busy'), await edge.tokenFor('transactor', 'calm')]
    let resolve: () => void = () => undefined
    const promise = new Promise<void>((done) => (resolve = done))
    const { ask } = edge.gateway
    edge.gateway.outcome = { kind: 'answered', answer: ACCEPTED }
    Object.assign(edge.gateway, {
      ask: async (request: Parameters<typeof ask>[0]) => {
        const outcome = ask(request)
        if (request.caller.clientId === 'busy') await promise
        return outcome
      },
    })
    await edge.get('/v1/fungible-tokens', calm)
    return { edge, token, calm, answer: () => resolve() }
  }

  test('a batch is asked in parts while another client is active, which gets its reply at once', async () => {
    const { edge, token, calm, answer } = await stuckClient()
    const submissions = Array.from({ length: 20 }, (_, index) => ({ ...ORDER, idempotency_key: `k${index}` }))
    const batch = edge.post('/v1/transactions/batch', { submissions }, token)
    await expect.poll(() => edge.gateway.asked.length).toBe(4)
    expect((await edge.post('/v1/transactions', ORDER, calm)).status).toBe(202)
    answer()
    expect(((await bodyOf(await batch))['results'] as object[]).length).toBe(20)
    expect(edge.gateway.asked).toHaveLength(21)
  })

  test('a request whose client has gone before its turn is not asked of the ledger', async () => {
    const { edge, token, answer } = await stuckClient()
    const gone = new AbortController()
    const send = async (signal?: AbortSignal): Promise<Response> =>
      edge.app.request('/v1/transactions', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(ORDER),
        ...(signal === undefined ? {} : { signal }),
      })
    const first = [send(), send(), send(), send()]
    await expect.poll(() => edge.gateway.asked.length).toBe(4)
    const late = send(gone.signal)
    gone.abort()
    answer()
    await Promise.all(first)
    expect(await bodyOf(await late)).toMatchObject({ status: 503, outcome: 'not_applied' })
    expect(edge.gateway.asked).toHaveLength(4)
  })

  test('a request whose client was revoked before its turn is refused', async () => {
    const { edge, token, calm, answer } = await stuckClient()
    await edge.get('/v1/fungible-tokens', token)
    let deliver: () => void = () => undefined
    const delivered = new Promise<void>((done) => (deliver = done))
    const { changesSince } = edge.access
    const check = async (mark: string | null) => {
      await delivered
      return changesSince(mark)
    }
    Object.assign(edge.access, { changesSince: check })
    await edge.clock.advance(2_500)
    await edge.get('/v1/fungible-tokens', calm)
    const first = Array.from({ length: 4 }, () => edge.post('/v1/transactions', ORDER, token))
    await expect.poll(() => edge.gateway.asked.length).toBe(4)
    const late = [
      edge.post('/v1/transactions', ORDER, token),
      edge.post('/v1/transactions/batch', { submissions: [ORDER] }, token),
    ]
    await edge.clock.advance(1)
    await edge.access.revokeClient('busy', edge.clock.now())
    deliver()
    await edge.clock.advance(1)
    answer()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect((await Promise.all(late)).map(({ status }) => status)).toEqual([401, 401])
    expect(edge.gateway.asked).toHaveLength(4)
  })
})
