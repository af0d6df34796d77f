import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import {
  type BegunExport,
  type ExportOrder,
  ExportsUnavailable,
  type LedgerExports,
} from '../../../../runtime/ports/ledger-exports.ts'
import { createEdgeFixture, type EdgeFixture, refusalOf, signedIn } from '../fakes/edge-fixture.ts'
import { streamOf } from '../http/stream-of.ts'
import { WRITTEN } from './written-requests.ts'

const { body: ASKED } = WRITTEN.createExport
const { audience: AUDIENCE, recipient_public_key: RECIPIENT } = ASKED

interface Asked extends EdgeFixture {
  readonly orders: ExportOrder[]
  readonly ask: (body: JsonObject, headers?: Record<string, string>) => Promise<Response>
}

async function edgeWith(outcome: BegunExport | Error | (() => BegunExport)): Promise<Asked> {
  const orders: ExportOrder[] = []
  const exports: LedgerExports = {
    begin: (order) => {
      orders.push(order)
      const begun = typeof outcome === 'function' ? outcome() : outcome
      return begun instanceof Error ? Promise.reject(begun) : Promise.resolve(begun)
    },
  }
  const { edge, token } = await signedIn('admin', { exports })
  return { ...edge, orders, ask: (body, headers) => edge.post('/v1/exports', body, token, headers) }
}

const BUSY: BegunExport = { kind: 'busy' }

test('an export is streamed, one record a line', async () => {
  const edge = await edgeWith({ kind: 'begun', content: streamOf(['{"line":0}\n', '{"line":1}\n']) })
  const response = await edge.ask(ASKED)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toBe('{"line":0}\n{"line":1}\n')
})

test('the requested accounts are exported, for the requester', async () => {
  const edge = await edgeWith(BUSY)
  await edge.ask({ ...ASKED, account_ids: ['alice', 'bob', 'alice'], mode: 'move', audience: AUDIENCE.toUpperCase() })
  await edge.ask({ requester: 'x', all: true, audience: AUDIENCE, recipient_public_key: RECIPIENT })
  expect(edge.orders).toMatchObject([
    { accountIds: ['alice', 'bob'], mode: 'move', audience: AUDIENCE, requester: 'bank' },
    { accountIds: null, mode: 'copy', audience: AUDIENCE, requester: 'x' },
  ])
  const [order] = edge.orders
  expect(order?.caller.role).toBe('admin')
  expect(order?.scope.whole).toBe(true)
  expect(order?.recipient.publicKey).toHaveLength(44)
})

test.for([
  [{ account_ids: undefined }, 'account_ids', 'ERR_INVALID_FIELD'],
  [{ all: true }, 'account_ids', 'ERR_INVALID_FIELD'],
  [{ account_ids: ['alice', 'no account'] }, 'account_ids[1]', 'ERR_INVALID_ACCOUNT_ID'],
  [{ all: true, account_ids: undefined, mode: 'move' }, 'all', 'ERR_INVALID_FIELD'],
] as const)('a request with %j is refused, and the error names %s', async ([change, field, code]) => {
  const edge = await edgeWith(BUSY)
  const members = Object.entries({ ...ASKED, ...change }).filter(([, value]) => value !== undefined)
  const response = await edge.ask(Object.fromEntries<Json>(members))
  const body = (await response.json()) as { errors: { field: string }[]; error_codes: string[] }
  expect([response.status, body.error_codes, body.errors.map((error) => error.field)]).toEqual([400, [code], [field]])
  expect(edge.orders).toEqual([])
})

test('an export whose audience is this ledger is refused', async () => {
  const own = 'c0ffee00-5a0c-4f0e-9c3f-6d2b1a7e4c55'
  const edge = createEdgeFixture({ settings: { ...createEdgeFixture().settings, ledgerId: own } })
  const response = await edge.post('/v1/exports', { ...ASKED, audience: own }, await edge.tokenFor('admin'))
  expect(await refusalOf(response)).toMatchObject({ status: 400, codes: ['ERR_WRONG_LEDGER'] })
})

test('D7: the same key replays the same file byte for byte, without another export', async () => {
  const lines = Array.from({ length: 40 }, (_, line) => `{"line":${line},"text":"${'é'.repeat(10_000)}"}\n`)
  const edge = await edgeWith({ kind: 'begun', content: streamOf(lines) })
  const first = await (await edge.ask(ASKED, { 'idempotency-key': 'a key' })).text()
  expect(first).toBe(lines.join(''))
  for (const [body, mismatch] of [
    [ASKED, null],
    [{ ...ASKED, requester: 'Another' }, 'true'],
  ] as const) {
    const again = await edge.ask(body, { 'idempotency-key': 'a key' })
    expect([again.status, again.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect([again.headers.get('idempotency-replayed'), again.headers.get('idempotency-payload-mismatch')]).toEqual([
      'true',
      mismatch,
    ])
    expect(await again.text()).toBe(first)
  }
  expect(edge.orders).toHaveLength(1)
})

test('D7: an interrupted export runs again under its key', async () => {
  const edge = await edgeWith(() => ({ kind: 'begun', content: streamOf(['{"line":0}\n'], new Error('damaged')) }))
  for (let round = 1; round <= 2; round += 1) {
    await expect((await edge.ask(ASKED, { 'idempotency-key': 'a key' })).text()).rejects.toThrow('damaged')
    expect(edge.orders).toHaveLength(round)
  }
})

test.for([
  [{ kind: 'refused', code: 'not_found', detail: 'There is none.', field: 'account_ids[0]' }, 404, ['ERR_NOT_FOUND']],
  [{ kind: 'refused', code: 'conflict', detail: 'It is active.', field: null }, 409, ['ERR_CONFLICT']],
  [{ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }, 503, ['ERR_SHARD_UNAVAILABLE']],
  [BUSY, 503, ['ERR_OVERLOADED']],
] as const)('the outcome %j has its own problem', async ([begun, status, codes]) => {
  const edge = await edgeWith(begun)
  const response = await edge.ask(ASKED)
  const body = (await response.clone().json()) as JsonObject
  expect(await refusalOf(response)).toMatchObject({ status, codes })
  expect(response.headers.has('retry-after')).toBe(status === 503)
  expect(body['outcome']).toBe(status === 503 ? (begun.kind === 'busy' ? 'not_applied' : 'unknown') : undefined)
})

test('an unreadable ledger is 503 without the message of the error', async () => {
  const edge = await edgeWith(new ExportsUnavailable('secret words'))
  const response = await edge.ask(ASKED)
  const text = await response.clone().text()
  expect(await refusalOf(response)).toMatchObject({ status: 503, codes: ['ERR_DOWNSTREAM_FAILURE'] })
  expect(text).not.toContain('secret words')
})
