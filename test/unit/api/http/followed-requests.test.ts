/** The edge passes the request ID and the trace on to the ledger, and counts each request under its route. */
import { describe, expect, test } from 'vitest'
import type { EdgeDependencies } from '../../../../api/http/dependencies.ts'
import { AccessStoreUnavailable } from '../../../../runtime/ports/access-store.ts'
import { accountView, createEdgeFixture, GROUP_ID, groupView } from '../fakes/edge-fixture.ts'
import { createMemoryTracing, OWN_TRACE } from '../../../support/memory/tracing-memory.ts'
import { DECIDED, WRITTEN } from '../routes/written-requests.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACED = { 'x-request-id': 'mine-1', traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, tracestate: 'a=b' }

function knowingEdge(real: Partial<EdgeDependencies> = {}) {
  const edge = createEdgeFixture(real)
  edge.reads.accountViews.set('alice', accountView('alice'))
  edge.reads.groupViews.set(GROUP_ID, groupView())
  return edge
}

describe('a request to the ledger', () => {
  test.for(DECIDED)('$kind carries the request ID and the trace of the HTTP request', async ({ kind, path, body }) => {
    const edge = knowingEdge()
    const response = await edge.post(path, body, await edge.tokenFor('admin'), TRACED)
    expect(response.headers.get('x-request-id')).toBe('mine-1')
    expect(edge.gateway.asked.map(({ operation }) => operation.kind)).toEqual([kind])
    expect(edge.gateway.trails).toEqual([
      {
        requestId: 'mine-1',
        trace: {
          traceId: TRACE_ID,
          spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
          parentSpanId: '00f067aa0ba902b7',
          sampled: true,
          state: 'a=b',
        },
      },
    ])
  })

  test('without a valid traceparent it carries a request ID and no trace', async () => {
    const edge = knowingEdge()
    const token = await edge.tokenFor('admin')
    for (const headers of [{}, { traceparent: 'x', tracestate: 'a=b' }]) {
      const response = await edge.post('/v1/transactions', WRITTEN.submitTransaction.body, token, headers)
      expect(edge.gateway.trails.pop()).toEqual({ requestId: response.headers.get('x-request-id') })
    }
  })
})

test('a failure is logged with the request ID and the trace', async () => {
  const edge = knowingEdge()
  const token = await edge.tokenFor('admin')
  edge.reads.failure = new AccessStoreUnavailable('away')
  await edge.get('/v1/accounts/alice', token, TRACED)
  expect(edge.log.at(-1)).toMatchObject({
    event: 'port_unavailable',
    fields: { request_id: 'mine-1', trace_id: TRACE_ID, parent_span_id: '00f067aa0ba902b7' },
  })
})

describe('the metric of a request', () => {
  function counting() {
    const counted: unknown[][] = []
    const metrics = { request: (...of: readonly unknown[]) => void counted.push([...of]) }
    return { edge: knowingEdge({ metrics }), counted }
  }

  test('has the method, the pattern of the route and the status, but no path or account', async () => {
    const { edge, counted } = counting()
    const token = await edge.tokenFor('viewer')
    counted.length = 0
    await edge.get('/v1/accounts/alice', token)
    await edge.get('/v1/accounts/alice')
    await edge.post('/v1/accounts/alice/status', {}, token)
    expect(counted).toEqual([
      ['GET', '/v1/accounts/:accountId', 200, 0],
      ['GET', '/v1/accounts/:accountId', 401, 0],
      ['POST', '/v1/accounts/:accountId/status', 403, 0],
    ])
  })

  test('has the same labels for every request without a route', async () => {
    const { edge, counted } = counting()
    await edge.get('/made-up/1')
    await edge.app.request('/v1/transactions', { method: 'PROPFIND' })
    await edge.app.request('/healthz', { method: 'DELETE' })
    expect(counted).toEqual([
      ['any', 'none', 404, 0],
      ['any', 'none', 401, 0],
      ['any', 'none', 405, 0],
    ])
  })
})

describe('the span of a request', () => {
  function tracing(takes?: Parameters<typeof createMemoryTracing>[1]) {
    const memory = createMemoryTracing({ monotonic: () => 7 }, takes)
    return { edge: knowingEdge({ tracing: memory }), spans: memory.spans }
  }
  const work = { kind: 'http', method: 'GET', route: '/v1/accounts/:accountId', status: 200 }

  test('is under the span of the client, with the route and not the path', async () => {
    const { edge, spans } = tracing()
    const token = await edge.tokenFor('viewer')
    spans.length = 0
    await edge.get('/v1/accounts/alice', token, TRACED)
    expect(spans).toEqual([
      {
        traceId: TRACE_ID,
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
        parentSpanId: '00f067aa0ba902b7',
        startedMs: 7,
        endedMs: 7,
        work,
      },
    ])
  })

  test('of a request without a trace begins one, which the ledger gets', async () => {
    const { edge, spans } = tracing()
    const token = await edge.tokenFor('admin')
    spans.length = 0
    await edge.post('/v1/transactions', WRITTEN.submitTransaction.body, token)
    expect(edge.gateway.trails.pop()?.trace).toEqual(OWN_TRACE)
    expect(spans).toMatchObject([{ traceId: OWN_TRACE.traceId, spanId: OWN_TRACE.spanId, parentSpanId: '' }])
  })

  test('is not recorded if the sampler leaves the request out, and the ledger learns that', async () => {
    const { edge, spans } = tracing(() => false)
    const token = await edge.tokenFor('admin')
    await edge.post('/v1/transactions', WRITTEN.submitTransaction.body, token, TRACED)
    await edge.post('/v1/transactions', WRITTEN.submitTransaction.body, token)
    expect(edge.gateway.trails.map((trail) => trail?.trace?.sampled)).toEqual([false, undefined])
    expect(spans).toEqual([])
  })

  test('has the same values for every request without a route', async () => {
    const { edge, spans } = tracing()
    await edge.get('/made-up/1')
    await edge.app.request('/v1/transactions', { method: 'PROPFIND' })
    expect(spans.map((span) => span.work)).toEqual([
      { kind: 'http', method: 'any', route: 'none', status: 404 },
      { kind: 'http', method: 'any', route: 'none', status: 401 },
    ])
  })
})
