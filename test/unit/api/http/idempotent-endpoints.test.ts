/** The header `Idempotency-Key` (D7): one client, one path, one key, one reply. */
import { expect, test, vi } from 'vitest'
import type { Answer } from '../../../../actors/account/outcome.ts'
import { type IdempotencyStore, IdempotencyStoreUnavailable } from '../../../../runtime/ports/idempotency-store.ts'
import type { GatewayOutcome } from '../../../../runtime/edge/ledger-gateway.ts'
import { createMemoryIdempotencyStore } from '../../../support/memory/idempotency-store-memory.ts'
import { attestationEdge, BODY as STATEMENT } from '../routes/attestation-scene.ts'
import { bodyOf, createEdgeFixture, type EdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'
import { WRITTEN } from '../routes/written-requests.ts'

/** Each POST with its body, a different body, and the ledger's reply. */
const POSTS: readonly (readonly [path: string, body: object, other: object, answer: Answer])[] = (
  [
    ['createAccount', { account_id: 'bob' }],
    ['createFungibleToken', { symbol: 'USD.x' }],
    ['createNftClass', { name: 'Stones' }],
    ['createSettlementGroup', { timeout_seconds: 61 }],
    ['changeStatus', { status: 'active' }],
  ] as const
).map(([id, change]) => {
  const { path, body, answer } = WRITTEN[id]
  return [path, body, { ...body, ...change }, answer]
})
const OVERLOADED = { kind: 'unavailable', reason: 'overloaded', outcome: 'not_applied' } as const

type Sent = (path: string, body: object, key?: string) => Promise<Response>

/** An administrator's request to an edge whose ledger gives this answer. */
async function sending(edge: EdgeFixture, outcome?: GatewayOutcome | Answer): Promise<Sent> {
  if (outcome !== undefined) {
    const isOutcome = outcome.kind === 'unavailable' || outcome.kind === 'answered'
    edge.gateway.outcome = isOutcome ? outcome : { kind: 'answered', answer: outcome }
  }
  const token = await edge.tokenFor('admin')
  return (path, body, key = 'one') => edge.post(path, body, token, { 'idempotency-key': key })
}

/** An edge and requests that register a token. */
async function registering(real?: Parameters<typeof createEdgeFixture>[0]) {
  const edge = createEdgeFixture(real)
  const { path, body, answer } = WRITTEN.createFungibleToken
  const send = await sending(edge, real?.gateway === undefined ? answer : undefined)
  const other = { ...body, symbol: 'USD.x' }
  return { edge, answer, body, path, first: () => send(path, body), another: () => send(path, other), send }
}

async function shown(response: Response): Promise<readonly unknown[]> {
  const names = ['location', 'idempotency-replayed', 'idempotency-payload-mismatch']
  return [response.status, await response.text(), ...names.map((name) => response.headers.get(name))]
}

test.for(POSTS)(
  'E: the same key replays the first reply byte for byte, with any body: %s',
  async ([path, body, other, answer]) => {
    const edge = createEdgeFixture()
    const send = await sending(edge, answer)
    const [status, text, location, ...notReplayed] = await shown(await send(path, body))
    expect([status, notReplayed]).toEqual([path.endsWith('/status') ? 200 : 201, [null, null]])
    edge.gateway.outcome = OVERLOADED
    // %61 spells the same account ID.
    const [again, mismatch] = [await send(path.replace('alice', '%61lice'), body), await send(path, other)]
    expect(await shown(again)).toEqual([status, text, location, 'true', null])
    expect(await shown(mismatch)).toEqual([status, text, location, 'true', 'true'])
    expect((await send(path, body, 'two')).status).toBe(503)
    expect((await send('/v1/accounts/bob/status', WRITTEN.changeStatus.body)).status).toBe(503)
  },
)

test('E: the same key replays the reply of an attestation, also after it was revoked', async () => {
  const edge = attestationEdge()
  const send = await sending(edge)
  const [status, text, location] = await shown(await send('/v1/attestations', STATEMENT))
  await send(`${String(location)}/revoke`, {})
  const again = await send('/v1/attestations', { ...STATEMENT, statement: 'Another.' })
  expect(await shown(again)).toEqual([status, text, location, 'true', 'true'])
  expect(edge.attestations.state.attestations.size).toBe(1)
})

test('the comparison ignores the signature and the order of members', async () => {
  const { send, path, body } = await registering()
  await send(path, { ...body, signature: 'c2ln' })
  const reversed = Object.fromEntries(Object.entries(body).toReversed())
  expect((await shown(await send(path, { signature: 'b3RoZXI', ...reversed }))).slice(3)).toEqual(['true', null])
})

test('a key is scoped to client and path', async () => {
  const edge = createEdgeFixture()
  const tokens = [await edge.tokenFor('admin'), await edge.tokenFor('admin', 'another')]
  for (const [path, body, , answer] of POSTS) {
    edge.gateway.outcome = { kind: 'answered', answer }
    for (const token of tokens) {
      const response = await edge.post(path, body, token, { 'idempotency-key': 'one' })
      expect(response.headers.get('idempotency-replayed')).toBeNull()
    }
  }
  expect(edge.gateway.asked).toHaveLength(2 * POSTS.length)
})

test('D7: a malformed request is refused before the replay', async () => {
  const { send, path, body, first } = await registering()
  await first()
  expect(await refusalOf(await send(path, { ...body, decimals: 19 }))).toMatchObject({ status: 400 })
})

test('K3: a refusal frees the key, as does a 503 that was not applied', async () => {
  const { edge, answer, first, another } = await registering()
  const refused = { kind: 'refused', code: 'token_exists', detail: 'Taken.', field: 'symbol' } as const
  for (const outcome of [{ kind: 'answered', answer: refused }, OVERLOADED] as const) {
    edge.gateway.outcome = outcome
    expect((await first()).status).toBeGreaterThanOrEqual(400)
  }
  edge.gateway.outcome = { kind: 'answered', answer }
  expect((await another()).headers.get('idempotency-replayed')).toBeNull()
})

test('K1, K3: after an unknown outcome the same request resumes, and another body is refused until it has a reply', async () => {
  const { edge, answer, first, another } = await registering()
  edge.gateway.outcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }
  expect(await bodyOf(await first())).toMatchObject({ status: 503, outcome: 'unknown' })
  const waiting = another()
  await edge.clock.timersSet(1)
  await edge.clock.advance(12_000)
  const refused = await waiting
  expect(refused.headers.get('idempotency-payload-mismatch')).toBe('true')
  expect(await refusalOf(refused)).toEqual({ status: 409, codes: ['ERR_CONFLICT'], fields: ['Idempotency-Key'] })
  expect(edge.gateway.asked).toHaveLength(1)
  edge.gateway.outcome = { kind: 'answered', answer }
  expect((await first()).status).toBe(201)
  expect((await another()).headers.get('idempotency-payload-mismatch')).toBe('true')
})

test('K2: another body waits for the reply of the open request', async () => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const ask = vi.fn<() => Promise<GatewayOutcome>>(async () => {
    await held
    return { kind: 'answered', answer: WRITTEN.createFungibleToken.answer }
  })
  const { edge, first, another } = await registering({ gateway: { ask } })
  const open = first()
  await expect.poll(() => ask).toHaveBeenCalledTimes(1)
  const waiting = another()
  await edge.clock.timersSet(1)
  await edge.clock.advance(1_000)
  release()
  const [, text] = await shown(await open)
  await edge.clock.advance(1_000)
  expect(await shown(await waiting)).toMatchObject([201, text, expect.anything(), 'true', 'true'])
  expect(ask).toHaveBeenCalledTimes(1)
})

test('K1: a reply that cannot be stored is not sent, and the same request gets it later', async () => {
  const memory = createMemoryIdempotencyStore({ now: () => 0 }).store
  let failing = true
  const finish: IdempotencyStore['finish'] = (key, request) =>
    failing ? Promise.reject(new IdempotencyStoreUnavailable('away')) : memory.finish(key, request)
  const { edge, answer, first } = await registering({ idempotency: { ...memory, finish } })
  expect(await bodyOf(await first())).toMatchObject({ status: 503, outcome: 'unknown' })
  failing = false
  edge.gateway.outcome = { kind: 'answered', answer: { ...answer, replayed: true } }
  const [status, text, , replayed] = await shown(await first())
  expect([status, replayed]).toEqual([201, 'true'])
  expect(await shown(await first())).toMatchObject([201, text, expect.anything(), 'true', null])
})

test('of two equal concurrent requests only the one without effect is a replay, in either order of replies', async () => {
  const { answer } = WRITTEN.createFungibleToken
  const answers: ((replayed: boolean) => void)[] = []
  const ask = (): Promise<GatewayOutcome> =>
    new Promise((resolve) => {
      answers.push((replayed) => resolve({ kind: 'answered', answer: { ...answer, replayed } }))
    })
  const { first } = await registering({ gateway: { ask } })
  const twins = [first(), first()]
  await expect.poll(() => answers).toHaveLength(2)
  answers[1]?.(true)
  const repeated = await Promise.race(twins)
  answers[0]?.(false)
  const [status, text, location] = await shown(repeated.clone())
  const both = await Promise.all((await Promise.all(twins)).map((reply) => shown(reply)))
  expect(both).toContainEqual([status, text, location, null, null])
  expect(both).toContainEqual([status, text, location, 'true', null])
  expect(await shown(await first())).toEqual([status, text, location, 'true', null])
})

test('without the store the ledger gets no request', async () => {
  const away = (): Promise<never> => Promise.reject(new IdempotencyStoreUnavailable('away'))
  const memory = createMemoryIdempotencyStore({ now: () => 0 }).store
  const { edge, first } = await registering({ idempotency: { ...memory, begin: away } })
  expect(await bodyOf(await first())).toMatchObject({ status: 503, outcome: 'unknown' })
  expect(edge.gateway.asked).toEqual([])
})
