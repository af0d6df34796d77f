/** The header `Idempotency-Key` (D7): one client, one path, one key, one reply. */
import { describe, expect, test, vi } from 'vitest'
import type { Answer } from '../../../actors/account/outcome.ts'
import { type IdempotencyStore, IdempotencyStoreUnavailable } from '../../../runtime/ports/idempotency-store.ts'
import type { GatewayOutcome } from '../../../runtime/ports/ledger-gateway.ts'
import { createMemoryIdempotencyStore } from '../../support/idempotency-store-memory.ts'
import { attestationEdge, BODY as STATEMENT } from './attestation-scene.ts'
import { accountView, bodyOf, createEdgeFixture, type EdgeFixture, refusalOf } from './edge-fixture.ts'
import { WRITTEN } from './written-requests.ts'

/** The body of each POST, and another body for it. */
const POSTS: readonly (readonly [path: string, body: object, other: object, answer: Answer])[] = (
  [
    ['createAccount', { account_id: 'bob' }],
    ['createFungibleToken', { symbol: 'USD.x' }],
    ['createNftClass', { name: 'Stones' }],
    ['createSettlementGroup', { timeout_seconds: 61 }],
  ] as const
).map(([id, change]) => {
  const { path, body, answer } = WRITTEN[id]
  return [path, body, { ...body, ...change }, answer]
})
const FREEZE = { status: 'frozen', reason: 'a court order' }
const TOKEN = postTo('/v1/fungible-tokens')

function postTo(path: string): (typeof POSTS)[number] {
  const found = POSTS.find(([other]) => other === path)
  if (found === undefined) throw new Error(`nothing is sent to ${path}`)
  return found
}

function sent(edge: EdgeFixture, token: string, path: string, body: object, key = 'one'): Promise<Response> {
  return edge.post(path, body, token, { 'idempotency-key': key })
}

async function shown(response: Response): Promise<readonly unknown[]> {
  const names = ['location', 'idempotency-replayed', 'idempotency-payload-mismatch']
  return [response.status, await response.text(), ...names.map((name) => response.headers.get(name))]
}

describe('the header Idempotency-Key', () => {
  test.for(POSTS)(
    'E: the same key replays the original reply byte for byte, with any body: %s',
    async ([path, body, other, answer]) => {
      const edge = createEdgeFixture()
      edge.gateway.outcome = { kind: 'answered', answer }
      const token = await edge.tokenFor('admin')
      const [status, text, location] = await shown(await sent(edge, token, path, body))
      expect(status).toBe(201)
      edge.gateway.outcome = { kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' }
      expect(await shown(await sent(edge, token, path, body))).toEqual([201, text, location, 'true', null])
      expect(await shown(await sent(edge, token, path, other))).toEqual([201, text, location, 'true', 'true'])
      expect(edge.gateway.asked).toHaveLength(1)
    },
  )

  test('E: likewise for attestations, also after the first was revoked', async () => {
    const edge = attestationEdge()
    const token = await edge.tokenFor('admin')
    const [status, text, location] = await shown(await sent(edge, token, '/v1/attestations', STATEMENT))
    await edge.post(`${String(location)}/revoke`, {}, token)
    const other = { ...STATEMENT, statement: 'Another.' }
    expect(await shown(await sent(edge, token, '/v1/attestations', other))).toEqual([
      status,
      text,
      location,
      'true',
      'true',
    ])
    expect(edge.attestations.state.attestations.size).toBe(1)
  })

  test('likewise for a change of status, once for each account', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('admin')
    const path = '/v1/accounts/alice@bank/status'
    edge.gateway.outcome = {
      kind: 'answered',
      answer: { kind: 'status_changed', account: accountView('alice@bank', { status: 'frozen' }) },
    }
    const [status, text] = await shown(await sent(edge, token, path, FREEZE))
    expect(status).toBe(200)
    expect(edge.gateway.asked[0]?.operation).toMatchObject({ kind: 'change_status', registrationKey: 'one' })
    edge.gateway.outcome = { kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' }
    const active = { ...FREEZE, status: 'active' }
    expect(await shown(await sent(edge, token, path, FREEZE))).toEqual([200, text, null, 'true', null])
    expect(await shown(await sent(edge, token, path.replace('@', '%40'), active))).toEqual([
      200,
      text,
      null,
      'true',
      'true',
    ])
    expect((await sent(edge, token, '/v1/accounts/bob/status', FREEZE)).status).toBe(503)
    expect(edge.gateway.asked).toHaveLength(2)
  })

  test('the comparison ignores the signature and the order of members', async () => {
    const edge = createEdgeFixture()
    const [path, body, , answer] = TOKEN
    edge.gateway.outcome = { kind: 'answered', answer }
    const token = await edge.tokenFor('admin')
    await sent(edge, token, path, { ...body, signature: 'c2ln' })
    const again = await sent(edge, token, path, {
      signature: 'b3RoZXI',
      ...Object.fromEntries(Object.entries(body).reverse()),
    })
    expect((await shown(again)).slice(3)).toEqual(['true', null])
  })

  test('it is scoped to client and path', async () => {
    const edge = createEdgeFixture()
    const [admin, transactor] = [await edge.tokenFor('admin'), await edge.tokenFor('transactor')]
    for (const [path, body, , answer] of POSTS) {
      edge.gateway.outcome = { kind: 'answered', answer }
      for (const token of [admin, transactor]) {
        expect((await sent(edge, token, path, body)).headers.get('idempotency-replayed')).toBeNull()
      }
    }
    expect(edge.gateway.asked).toHaveLength(2 * POSTS.length)
  })

  test('D7: a malformed request is refused before the replay', async () => {
    const edge = createEdgeFixture()
    const [path, body, , answer] = TOKEN
    edge.gateway.outcome = { kind: 'answered', answer }
    const token = await edge.tokenFor('admin')
    await sent(edge, token, path, body)
    expect(await refusalOf(await sent(edge, token, path, { ...body, decimals: 19 }))).toMatchObject({ status: 400 })
  })

  test('K3: a refusal frees the key, as does a 503 that was not applied', async () => {
    const edge = createEdgeFixture()
    const [path, body, other, answer] = TOKEN
    const token = await edge.tokenFor('admin')
    for (const outcome of [
      { kind: 'answered', answer: { kind: 'refused', code: 'token_exists', detail: 'Taken.', field: 'symbol' } },
      { kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' },
    ] as const) {
      edge.gateway.outcome = outcome
      expect((await sent(edge, token, path, body)).status).toBeGreaterThanOrEqual(400)
    }
    edge.gateway.outcome = { kind: 'answered', answer }
    expect((await sent(edge, token, path, other)).headers.get('idempotency-replayed')).toBeNull()
  })

  test('K1, K3: after an unknown outcome the same request resumes, and another body is refused until it has a reply', async () => {
    const edge = createEdgeFixture()
    const [path, body, other, answer] = TOKEN
    const token = await edge.tokenFor('admin')
    edge.gateway.outcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }
    expect(await bodyOf(await sent(edge, token, path, body))).toMatchObject({ status: 503, outcome: 'unknown' })
    const waiting = sent(edge, token, path, other)
    await edge.clock.timersSet(1)
    await edge.clock.advance(12_000)
    const refused = await waiting
    expect(refused.headers.get('idempotency-payload-mismatch')).toBe('true')
    expect(await refusalOf(refused)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['Idempotency-Key'] })
    expect(edge.gateway.asked).toHaveLength(1)
    edge.gateway.outcome = { kind: 'answered', answer }
    expect((await sent(edge, token, path, body)).status).toBe(201)
    expect((await sent(edge, token, path, other)).headers.get('idempotency-payload-mismatch')).toBe('true')
  })

  test('K2: another body waits for the reply of the open request', async () => {
    const [path, body, other, answer] = TOKEN
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let asked = 0
    const edge = createEdgeFixture({
      gateway: {
        ask: async () => {
          asked += 1
          await held
          return { kind: 'answered', answer }
        },
      },
    })
    const token = await edge.tokenFor('admin')
    const first = sent(edge, token, path, body)
    await vi.waitFor(() => expect(asked).toBe(1))
    const second = sent(edge, token, path, other)
    await edge.clock.timersSet(1)
    await edge.clock.advance(1_000)
    release()
    const [, text] = await shown(await first)
    await edge.clock.advance(1_000)
    expect(await shown(await second)).toMatchObject([201, text, expect.anything(), 'true', 'true'])
    expect(asked).toBe(1)
  })

  test('K1: a reply that cannot be stored is not sent, and the same request gets it later', async () => {
    const memory = createMemoryIdempotencyStore({ now: () => 0 }).store
    let failing = true
    const idempotency: IdempotencyStore = {
      ...memory,
      finish: (key, request) =>
        failing ? Promise.reject(new IdempotencyStoreUnavailable('away')) : memory.finish(key, request),
    }
    const edge = createEdgeFixture({ idempotency })
    const [path, body, , answer] = TOKEN
    edge.gateway.outcome = { kind: 'answered', answer }
    const token = await edge.tokenFor('admin')
    expect(await bodyOf(await sent(edge, token, path, body))).toMatchObject({ status: 503, outcome: 'unknown' })
    failing = false
    edge.gateway.outcome = { kind: 'answered', answer: { ...answer, replayed: true } as Answer }
    const [status, text, , replayed] = await shown(await sent(edge, token, path, body))
    expect([status, replayed]).toEqual([201, 'true'])
    expect(await shown(await sent(edge, token, path, body))).toMatchObject([201, text, expect.anything(), 'true', null])
  })

  test('of two equal concurrent requests the one that took effect is not a replay, in either order of replies', async () => {
    const [path, body, , answer] = TOKEN
    const answers: ((replayed: boolean) => void)[] = []
    const ask = (): Promise<GatewayOutcome> =>
      new Promise((resolve) => {
        answers.push((replayed) => resolve({ kind: 'answered', answer: { ...answer, replayed } as Answer }))
      })
    const edge = createEdgeFixture({ gateway: { ask } })
    const token = await edge.tokenFor('admin')
    const twins = [sent(edge, token, path, body), sent(edge, token, path, body)]
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    answers[1]?.(true)
    const repeated = await Promise.race(twins)
    answers[0]?.(false)
    const [status, text, location] = await shown(repeated.clone())
    const both = await Promise.all((await Promise.all(twins)).map((reply) => shown(reply)))
    expect(both).toContainEqual([status, text, location, null, null])
    expect(both).toContainEqual([status, text, location, 'true', null])
    expect(await shown(await sent(edge, token, path, body))).toEqual([status, text, location, 'true', null])
  })

  test('without the store the ledger gets no request', async () => {
    const away = (): Promise<never> => Promise.reject(new IdempotencyStoreUnavailable('away'))
    const memory = createMemoryIdempotencyStore({ now: () => 0 }).store
    const edge = createEdgeFixture({ idempotency: { ...memory, begin: away } })
    const [path, body] = TOKEN
    const response = await sent(edge, await edge.tokenFor('admin'), path, body)
    expect(await bodyOf(response)).toMatchObject({ status: 503, outcome: 'unknown' })
    expect(edge.gateway.asked).toEqual([])
  })
})
