/** Spans arrive at a collector by OTLP with standard names; a collector that fails costs nothing but its spans. */
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { SamplerName, TracingSettings } from '../../../infra/config/tracing-variables.ts'
import { createOtlpTracing, MAX_QUEUED } from '../../../infra/tracing/tracing-otlp.ts'
import { openTracing } from '../../../infra/tracing/open-tracing.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'
import type { Work } from '../../../runtime/ports/tracing.ts'
import type { TraceContext } from '../../../runtime/ports/trail.ts'
import { type Collector, startCollector } from '../../support/collector.ts'
import { freePort } from '../../support/processes/free-ports.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const WORKS: readonly Work[] = [
  { kind: 'http', method: 'POST', route: '/v1/transactions', status: 202 },
  { kind: 'http', method: 'any', route: 'none', status: 503 },
  { kind: 'request', operation: 'submit', verdict: 'answered' },
  { kind: 'request', operation: 'submit', verdict: 'undecided' },
  { kind: 'message' },
  { kind: 'step' },
  { kind: 'commit', result: 'applied', commands: 3 },
  { kind: 'commit', result: 'unknown', commands: 3 },
  { kind: 'delivery' },
  { kind: 'webhook', status: 500, error: 'status' },
  { kind: 'webhook', status: null, error: 'timeout' },
]

const collectors: Collector[] = []
afterEach(async () => {
  for (const collector of collectors.splice(0)) await collector.close()
})

async function collecting(reply?: (response: ServerResponse) => void): Promise<Collector> {
  const collector = await startCollector(reply)
  collectors.push(collector)
  return collector
}

function tracingTo(endpoint: string, changes: Partial<TracingSettings> = {}) {
  const lines: { readonly event: string; readonly fields: LogFields }[] = []
  const write = (event: string, fields: LogFields = {}): void => void lines.push({ event, fields })
  const settings = {
    endpoint,
    headers: {},
    serviceName: undefined,
    sampler: 'always_on',
    ratio: 1,
    ...changes,
  } as const
  const tracing = createOtlpTracing({
    settings,
    part: 'node',
    instance: 'node-1',
    log: { info: write, warn: write, error: write },
  })
  const record = (work: Work = { kind: 'step' }): void => {
    const endedMs = tracing.nowMs()
    tracing.record({
      traceId: TRACE_ID,
      spanId: 'b'.repeat(16),
      parentSpanId: '',
      startedMs: endedMs - 5,
      endedMs,
      work,
    })
  }
  return { ...tracing, record, lines }
}

describe('exported spans', () => {
  test('have the names, kinds and attributes of the semantic conventions, and no others', async () => {
    const collector = await collecting()
    const { record, stop } = tracingTo(`${collector.endpoint}/`, { headers: { 'api-key': 'secret' } })
    for (const work of WORKS) record(work)
    await stop()
    const messaging = { 'messaging.system': 'nats' }
    const process = { 'messaging.operation.name': 'process', 'messaging.operation.type': 'process' }
    const requests = {
      ...messaging,
      ...process,
      'messaging.destination.name': 'requests',
      'ledger.operation': 'submit',
    }
    const deliveries = { ...messaging, 'messaging.destination.name': 'deliveries' }
    const commit = { 'db.system.name': 'postgresql', 'db.operation.name': 'commit', 'ledger.commit.commands': 3 }
    const [internal, server, client, producer, consumer] = [1, 2, 3, 4, 5]
    const failed = { code: 2 }
    const shown = collector.spans.map(({ name, kind, attributes, status }) => ({ name, kind, attributes, status }))
    expect(shown).toMatchObject([
      { name: 'POST /v1/transactions', kind: server, status: { code: 0 } },
      { name: 'HTTP', kind: server, status: failed },
      { name: 'process requests', kind: consumer, status: { code: 0 } },
      { name: 'process requests', kind: consumer, status: failed },
      { name: 'process deliveries', kind: consumer },
      { name: 'step', kind: internal },
      { name: 'commit', kind: client, status: { code: 0 } },
      { name: 'commit', kind: client, status: failed },
      { name: 'send deliveries', kind: producer },
      { name: 'POST webhook', kind: client, status: failed },
      { name: 'POST webhook', kind: client, status: failed },
    ])
    expect(shown.map(({ attributes }) => attributes)).toEqual([
      { 'http.request.method': 'POST', 'http.route': '/v1/transactions', 'http.response.status_code': 202 },
      { 'http.request.method': '_OTHER', 'http.response.status_code': 503, 'error.type': '503' },
      { ...requests, 'ledger.verdict': 'answered' },
      { ...requests, 'ledger.verdict': 'undecided', 'error.type': 'undecided' },
      { ...deliveries, ...process },
      {},
      commit,
      { ...commit, 'error.type': 'unknown' },
      { ...deliveries, 'messaging.operation.name': 'send', 'messaging.operation.type': 'send' },
      { 'http.request.method': 'POST', 'http.response.status_code': 500, 'error.type': '500' },
      { 'http.request.method': 'POST', 'error.type': 'timeout' },
    ])
    const [first] = collector.spans
    expect(first).toMatchObject({ traceId: TRACE_ID, service: 'ledger-node', instance: 'node-1' })
    const lastedNs = BigInt(first?.endTimeUnixNano ?? 0) - BigInt(first?.startTimeUnixNano ?? 0)
    expect(Number(lastedNs) / 1e6).toBeCloseTo(5, 2)
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'api-key': 'secret' } })
  })

  test('are none if tracing is off', async () => {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const onStop = (): never => {
      throw new Error('nothing is to be stopped')
    }
    expect(await openTracing({ settings: undefined, part: 'edge', instance: 'edge-1', log, onStop })).toBeUndefined()
  })
})

describe('the sampler', () => {
  const client: TraceContext = {
    traceId: TRACE_ID,
    spanId: 'b'.repeat(16),
    parentSpanId: 'c'.repeat(16),
    sampled: true,
    state: 'x=y',
  }

  test.for([
    ['always_on', 1, [true, true, true]],
    ['always_off', 1, [false, false, false]],
    ['traceidratio', 0, [false, false, false]],
    ['traceidratio', 1, [true, true, true]],
    ['parentbased_always_on', 1, [true, true, false]],
    ['parentbased_always_off', 1, [false, true, false]],
    ['parentbased_traceidratio', 0, [false, true, false]],
    ['parentbased_traceidratio', 1, [true, true, false]],
  ] as const satisfies readonly (readonly [SamplerName, number, readonly boolean[]])[])(
    '%s of %d takes requests without a trace, of a recorded and of another trace: %j',
    async ([sampler, ratio, taken]) => {
      const { sample, stop } = tracingTo('http://127.0.0.1:9', { sampler, ratio })
      const clients = [undefined, client, { ...client, sampled: false }]
      expect(clients.map((one) => sample(one)?.sampled ?? false)).toEqual(taken)
      // A client's trace goes on, recorded or not; the ledger begins none that is not recorded.
      expect(sample(client)).toMatchObject({ traceId: TRACE_ID, spanId: client.spanId, state: 'x=y' })
      expect(sample(undefined) === undefined).toBe(!taken[0])
      await stop()
    },
  )

  test('takes about the share of new traces that it was given, each with IDs of its own', async () => {
    const { sample, stop } = tracingTo('http://127.0.0.1:9', { sampler: 'parentbased_traceidratio', ratio: 0.25 })
    const traces = Array.from({ length: 4_000 }, () => sample(undefined)).filter((trace) => trace !== undefined)
    expect(Math.abs(traces.length - 1_000)).toBeLessThan(200)
    expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(traces.length)
    expect(traces[0]).toMatchObject({ parentSpanId: '', state: '' })
    await stop()
  })
})

function writeForEver(response: ServerResponse): void {
  if (!response.destroyed) response.write(Buffer.alloc(1_000_000), () => writeForEver(response))
}

describe('a collector that', () => {
  const bursts = 3 * MAX_QUEUED

  test('never replies costs callers nothing, a bounded number of spans waits, and the end is bounded', async () => {
    const collector = await collecting(() => undefined)
    const { record, stop, lines } = tracingTo(collector.endpoint)
    for (let count = 0; count < bursts; count += 1) record()
    await stop()
    expect(collector.spans.length).toBeLessThanOrEqual(MAX_QUEUED)
    expect(lines.map(({ event }) => event)).toEqual(['spans_dropped'])
  })

  test('is not there is reported by one line', async () => {
    const { record, stop, lines } = tracingTo(`http://127.0.0.1:${await freePort()}`)
    record()
    await expect.poll(() => lines, { timeout: 180_000 }).toHaveLength(1)
    record()
    await stop()
    expect(lines).toEqual([{ event: 'spans_not_exported', fields: { cause: 'ECONNREFUSED' } }])
  })

  test.for([
    [
      'refuses',
      (response: ServerResponse): void => void response.writeHead(400).end('the collector’s text'),
      'HTTP status 400',
    ],
    [
      'replies without an end',
      (response: ServerResponse): void => writeForEver(response.writeHead(200)),
      'no valid response in time',
    ],
  ] as const)('%s is reported by one line, without its text', async ([, reply, cause]) => {
    const collector = await collecting(reply)
    const { record, stop, lines } = tracingTo(collector.endpoint)
    for (let count = 0; count < 2_000; count += 1) record()
    await stop()
    expect(collector.requests.length).toBeGreaterThan(1)
    expect(lines).toEqual([{ event: 'spans_not_exported', fields: { cause } }])
  })

  test('accepts with nonsense has accepted', async () => {
    const collector = await collecting((response) => void response.writeHead(200).end('}{'))
    const { record, stop, lines } = tracingTo(collector.endpoint)
    record()
    await stop()
    expect([collector.spans.length, lines]).toEqual([1, []])
  })
})
