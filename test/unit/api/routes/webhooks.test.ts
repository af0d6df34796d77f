/** Webhooks (D23): registration, who sees and changes one, secrets, test messages. */
import { describe, expect, test } from 'vitest'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { signaturesOf } from '../../../../infra/webhooks/message-signature.ts'
import { type IdempotencyStore, IdempotencyStoreUnavailable } from '../../../../runtime/ports/idempotency-store.ts'
import { EventsUnavailable } from '../../../../runtime/ports/ledger-events.ts'
import {
  type AttemptResult,
  MAX_WEBHOOKS_OF_CLIENT,
  WebhookStoreUnavailable,
} from '../../../../runtime/ports/webhook-store.ts'
import { createMemoryIdempotencyStore } from '../../../support/memory/idempotency-store-memory.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { accountEvent, createFakeEvents } from '../fakes/fake-events.ts'
import { aDelivery } from '../../../contract/webhook-store/webhook-store-scene.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  HOUR_MS,
  LEDGER_ID,
  refusalOf,
  signedIn,
} from '../fakes/edge-fixture.ts'

const URL = 'https://receiver.example/ledger'

async function created(edge: EdgeFixture, token: string, body: object = {}) {
  const response = await edge.post('/v1/webhooks', { url: URL, ...body }, token)
  const members = await bodyOf(response)
  return { id: String(members['webhook_id']), secret: String(members['secret']), members, response }
}

function call(edge: EdgeFixture, method: string, path: string, token: string): Promise<Response> {
  return Promise.resolve(edge.app.request(path, { method, headers: { authorization: `Bearer ${token}` } }))
}

const CALLS = [
  ['GET', ''],
  ['GET', '/deliveries'],
  ['POST', '/test'],
  ['POST', '/enable'],
  ['POST', '/rotate-secret'],
  ['DELETE', ''],
] as const

describe('registration', () => {
  test('a webhook begins at the end of the log, and its secret is shown once', async () => {
    const { edge, token } = await signedIn('transactor')
    const filter = { types: ['ledger.group.*', 'ledger.group.*'], account_id: 'alice', description: 'books' }
    const { id, secret, members, response } = await created(edge, token, filter)
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`/v1/webhooks/${id}`)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const shown = {
      webhook_id: id,
      url: URL,
      types: ['ledger.group.*'],
      account_id: 'alice',
      description: 'books',
      owner: 'client-transactor',
      created_at: '2025-10-09T08:53:20.123Z',
      status: 'active',
      delivered_count: 0,
      failure_count: 0,
    }
    expect(members).toEqual({ ...shown, secret })
    expect(await bodyOf(await edge.get(`/v1/webhooks/${id}`, token))).toEqual(shown)
    const listed = await bodyOf(await edge.get('/v1/webhooks', token))
    expect(listed).toEqual({ webhooks: [shown], next_page_token: '' })
  })

  test('B7: a creation whose reply was not stored is repeated under its key, and no other webhook takes the key', async () => {
    const { store } = createMemoryIdempotencyStore(createManualClock(0))
    const replies = { away: true }
    const idempotency: IdempotencyStore = {
      ...store,
      finish: (key, kept) =>
        replies.away ? Promise.reject(new IdempotencyStoreUnavailable('away')) : store.finish(key, kept),
    }
    const { edge, token } = await signedIn('transactor', { idempotency })
    const send = (url: string) => edge.post('/v1/webhooks', { url }, token, { 'idempotency-key': 'k' })
    expect((await send(URL)).status).toBe(503)
    const [webhookId] = [...edge.webhooks.state.webhooks.keys()]
    await store.refuse({ clientId: 'client-transactor', path: '/v1/webhooks', idempotencyKey: 'k' })
    expect(await refusalOf(await send('https://other.example/'))).toMatchObject({
      status: 409,
      codes: ['ERR_CONFLICT'],
    })
    replies.away = false
    expect(await bodyOf(await send(URL))).toMatchObject({ webhook_id: webhookId })
    expect(edge.webhooks.state.webhooks.size).toBe(1)
  })

  test('production takes no http, and no edge takes an address that it may not send to', async () => {
    const sandbox = createEdgeFixture()
    const production = createEdgeFixture({ settings: { ...sandbox.settings, environment: 'production' } })
    const send = async (edge: EdgeFixture, url: string) =>
      refusalOf(await edge.post('/v1/webhooks', { url }, await edge.tokenFor('admin')))
    const refused = { status: 400, codes: ['ERR_INVALID_FIELD'], fields: ['url'] }
    expect(await send(production, 'http://receiver.example/')).toEqual(refused)
    expect(await send(production, 'https://receiver.example/')).toMatchObject({ status: 201 })
    expect(await send(sandbox, 'http://receiver.example/')).toMatchObject({ status: 201 })
    for (const edge of [sandbox, production]) expect(await send(edge, 'https://10.0.0.1/')).toEqual(refused)
  })

  test('B6: a client has a limited number of webhooks', async () => {
    const { edge, token } = await signedIn('transactor')
    for (let count = 0; count < MAX_WEBHOOKS_OF_CLIENT; count += 1) await created(edge, token)
    const refused = await edge.post('/v1/webhooks', { url: URL }, token)
    expect(await refusalOf(refused)).toMatchObject({ status: 409, codes: ['ERR_CONFLICT'] })
    const [first = ''] = edge.webhooks.state.webhooks.keys()
    expect((await call(edge, 'DELETE', `/v1/webhooks/${first}`, token)).status).toBe(204)
    expect((await created(edge, token)).response.status).toBe(201)
  })

  test('without the log or the store it is a 503 with its outcome', async () => {
    const away = { ...createFakeEvents(), end: () => Promise.reject(new EventsUnavailable('away')) }
    const { edge, token } = await signedIn('transactor', { events: away })
    expect(await bodyOf(await edge.post('/v1/webhooks', { url: URL }, token))).toMatchObject({
      status: 503,
      outcome: 'unknown',
    })
    edge.webhooks.state.failure = new WebhookStoreUnavailable('away')
    expect((await edge.get('/v1/webhooks', token)).status).toBe(503)
    expect(edge.log.map(({ event }) => event)).toEqual(['port_unavailable', 'port_unavailable'])
  })
})

describe('H1: the webhook of another client', () => {
  test.for(CALLS)('is a missing resource: %s %s', async ([method, rest]) => {
    const { edge, token } = await signedIn('transactor')
    const { id } = await created(edge, token)
    edge.access.clients.set('scoped', { ...clientOf('scoped', 'admin'), accounts: ['alice'] })
    const strangers = [await edge.tokenFor('transactor', 'other'), await edge.tokenFor('admin', 'scoped')]
    for (const stranger of strangers) {
      const there = await refusalOf(await call(edge, method, `/v1/webhooks/${id}${rest}`, stranger))
      expect(there).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
      expect(await bodyOf(await edge.get('/v1/webhooks', stranger))).toMatchObject({ webhooks: [] })
    }
    expect(edge.webhooks.state.webhooks.get(id)).toMatchObject({ lease: 0 })
    expect(edge.webhooks.sent).toEqual([])
  })

  test.for(CALLS)('is open to an administrator without a scope: %s %s', async ([method, rest]) => {
    const { edge, token } = await signedIn('transactor')
    const { id } = await created(edge, token)
    const admin = await edge.tokenFor('admin')
    expect(await bodyOf(await edge.get('/v1/webhooks', admin))).toMatchObject({ webhooks: [{ webhook_id: id }] })
    expect((await call(edge, method, `/v1/webhooks/${id}${rest}`, admin)).status).toBeLessThan(300)
  })
})

test('deliveries are shown newest first, without their attempts’ results that there are not', async () => {
  const { edge, token } = await signedIn('transactor')
  const { id } = await created(edge, token)
  const failing = {
    status: 'failing',
    attempts: 2,
    attempt: { httpStatus: null, error: 'timeout', latencyMs: 9 },
  } as const
  const stored = edge.webhooks.state.webhooks.get(id)
  for (const one of [aDelivery(0), aDelivery(1, failing)]) stored?.deliveries.set(one.number, one)
  const event = { event_type: 'ledger.transaction.completed.v1' }
  expect(await bodyOf(await edge.get(`/v1/webhooks/${id}/deliveries`, token))).toEqual({
    webhook_id: id,
    deliveries: [
      {
        event_id: 'evt_1',
        ...event,
        status: 'failing',
        attempts: 2,
        attempted_at: '2025-10-09T08:53:20.001Z',
        error: 'timeout',
        latency_ms: 9,
      },
      {
        event_id: 'evt_0',
        ...event,
        status: 'delivered',
        attempts: 1,
        attempted_at: '2025-10-09T08:53:20.000Z',
        http_status: 204,
        latency_ms: 12,
      },
    ],
  })
})

describe('secrets', () => {
  test('after a rotation both secrets sign for a day, and then the new one alone', async () => {
    const { edge, token } = await signedIn('transactor')
    const { id, secret } = await created(edge, token)
    const rotated = await bodyOf(await call(edge, 'POST', `/v1/webhooks/${id}/rotate-secret`, token))
    const next = String(rotated['secret'])
    expect(rotated).toEqual({ webhook_id: id, secret: next, previous_secret_expires_at: '2025-10-10T08:53:20.123Z' })
    expect(next).not.toBe(secret)
    await call(edge, 'POST', `/v1/webhooks/${id}/test`, token)
    await edge.clock.advance(24 * HOUR_MS)
    await call(edge, 'POST', `/v1/webhooks/${id}/test`, await edge.tokenFor('transactor'))
    expect(edge.webhooks.sent.map(({ target }) => target.secrets)).toEqual([[next, secret], [next]])
  })

  test('the secret that a receiver has goes on signing when responses are lost, and rotations are limited', async () => {
    const { edge, token } = await signedIn('transactor')
    const { id, secret } = await created(edge, token)
    const rotate = () => call(edge, 'POST', `/v1/webhooks/${id}/rotate-secret`, token)
    for (const status of [200, 200, 200, 409]) expect((await rotate()).status).toBe(status)
    const secrets = edge.webhooks.state.webhooks.get(id)?.stored.webhook.secrets
    expect(secrets?.previous).toHaveLength(3)
    expect(secrets?.previous.at(-1)?.secret).toBe(secret)
  })
})

describe('test messages', () => {
  test('a test message is signed, and its result is the response', async () => {
    const { edge, token } = await signedIn('transactor')
    const { id, secret } = await created(edge, token)
    const failed: AttemptResult = { httpStatus: 500, error: 'status', latencyMs: 7 }
    const answers: unknown[] = []
    for (const result of [edge.webhooks.result, failed]) {
      edge.webhooks.result = result
      answers.push(await bodyOf(await call(edge, 'POST', `/v1/webhooks/${id}/test`, token)))
    }
    const [sent] = edge.webhooks.sent
    const eventId = sent?.message.id
    expect(answers).toEqual([
      { webhook_id: id, event_id: eventId, accepted: true, http_status: 204, latency_ms: 5 },
      expect.objectContaining({ accepted: false, http_status: 500, error: 'status' }),
    ])
    const body = sent?.message.body ?? ''
    expect(JSON.parse(body)).toEqual({
      specversion: '1.0',
      id: eventId,
      source: `urn:ledger:${LEDGER_ID}`,
      type: 'ledger.webhook.test.v1',
      subject: id,
      time: '2025-10-09T08:53:20.123Z',
      datacontenttype: 'application/json',
      data: { webhook_id: id },
    })
    const seconds = Math.floor(Date.now() / 1_000)
    const headers = {
      'webhook-id': String(eventId),
      'webhook-timestamp': String(seconds),
      'webhook-signature': signaturesOf({ id: String(eventId), body }, seconds, sent?.target.secrets ?? []),
    }
    expect(() => new StandardWebhook(secret).verify(body, headers)).not.toThrow()
    expect(edge.webhooks.forgotten).toEqual(edge.webhooks.sent.map(({ target }) => target.connection))
  })

  test('tests of one client are bounded', async () => {
    const { edge, token } = await signedIn('transactor')
    const { id } = await created(edge, token)
    let end: (result: AttemptResult) => void = () => undefined
    edge.webhooks.result = new Promise((resolve) => (end = resolve))
    const running = [1, 2].map(() => call(edge, 'POST', `/v1/webhooks/${id}/test`, token))
    await expect.poll(() => edge.webhooks.sent.length).toBe(2)
    const refused = await call(edge, 'POST', `/v1/webhooks/${id}/test`, token)
    expect(await refusalOf(refused)).toMatchObject({ status: 503, codes: ['ERR_OVERLOADED'] })
    end({ httpStatus: 200, error: null, latencyMs: 1 })
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('enabling', () => {
  test.for([
    ['delivery_failed', '1', '1'],
    ['client_revoked', '1', '1'],
    ['position_lost', 'elsewhere', '2'],
    // An operator has moved it back.
    ['position_lost', '1', '1'],
  ] as const)('after %s at %s the webhook goes on at %s', async ([reason, stopped, position]) => {
    const events = createFakeEvents()
    events.log.push(accountEvent(events.log, 'alice'), accountEvent(events.log, 'bob'))
    const { edge, token } = await signedIn('transactor', { events })
    const { id } = await created(edge, token)
    await edge.webhooks.store.change(id, ({ webhook }) => ({
      webhook: { ...webhook, disabled: { atMs: edge.clock.now(), reason } },
      progress: { position: stopped, delivered: 4, failures: 9, failingSinceMs: 5, nextAttemptAtMs: 9e12 },
    }))
    const disabled = await bodyOf(await edge.get(`/v1/webhooks/${id}`, token))
    expect(disabled).toMatchObject({ status: 'disabled', disabled_reason: reason, failure_count: 9 })
    expect(disabled).not.toHaveProperty('next_attempt_at')
    for (const _ of [1, 2]) {
      const enabled = await bodyOf(await call(edge, 'POST', `/v1/webhooks/${id}/enable`, token))
      expect(enabled).toMatchObject({ status: 'active', failure_count: 0, delivered_count: 4 })
      expect(enabled).not.toHaveProperty('disabled_reason')
    }
    expect(await edge.webhooks.store.claim('edge', 1)).toMatchObject([{ progress: { position } }])
  })
})
