/** Operators of a running ledger can trace a request, read metrics and see missing dependencies. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Holder, LedgerClient } from '../support/client/client.ts'
import { signed } from '../support/client/client-keys.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { sampleOf } from '../unit/metrics/samples.ts'
import { buildOnce, freshDirectory, LedgerUp, until } from './start-harness.ts'

const NODES = 2
const SHARDS = 16
const REQUEST_ID = 'followed-1'
const TRACE_ID = randomBytes(16).toString('hex')
const CLIENT_SPAN_ID = randomBytes(8).toString('hex')
const ACCOUNT_ID = 'alice-who-must-not-be-named'

let ledger: LedgerUp
let metricsPort: number
let client: LedgerClient
let alice: Holder

type Line = Readonly<Record<string, unknown>>

beforeAll(async () => {
  await buildOnce()
  const [first = 0] = await freePorts(2 + NODES)
  metricsPort = first
  ledger = await LedgerUp.start(await freshDirectory(), {
    nodes: NODES,
    env: { LEDGER_METRICS_PORT: String(metricsPort), LEDGER_LOG_LEVEL: 'debug' },
  })
  client = await ledger.client()
  alice = await client.register(ACCOUNT_ID)
})

afterAll(() => ledger.destroy())

/** Of the edge, and of each node after it. */
function watchOrigins(): readonly string[] {
  return Array.from({ length: 1 + NODES }, (_, index) => `http://127.0.0.1:${metricsPort + index}`)
}

async function metricsOf(origin: string): Promise<string> {
  const response = await fetch(`${origin}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/plain')
  return response.text()
}

async function readinessOf(origin: string): Promise<{ readonly status: number; readonly checks: Line }> {
  const response = await fetch(`${origin}/readyz`)
  const { checks } = (await response.json()) as { checks: Line }
  return { status: response.status, checks }
}

function textOf(part: string): string {
  return readFileSync(join(ledger.dataDir, 'logs', `${part}.log`), 'utf8')
}

function linesOf(part: string): readonly Line[] {
  return textOf(part)
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line)
}

async function credit(key: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const order = { account_id: ACCOUNT_ID, amount: '5', type: 'credit', idempotency_key: key }
  const body = signed(order, alice.keys.privateKey)
  expect((await client.post('/v1/transactions', body, headers)).status).toBe(202)
  return String(body['signature'])
}

test('logs show the ID and the trace of a request from the edge to the commit, and not its content', async () => {
  const signature = await credit('followed', {
    'x-request-id': REQUEST_ID,
    traceparent: `00-${TRACE_ID}-${CLIENT_SPAN_ID}-01`,
  })
  const edgeLines = await until('the edge has told of it', () => {
    const found = linesOf('edge-1').filter((line) => line['request_id'] === REQUEST_ID)
    return found.length === 2 ? found : undefined
  })
  const nodeLines = await until('a node has told of it', () => {
    const found = ['node-1', 'node-2'].flatMap(linesOf).filter((line) => line['request_id'] === REQUEST_ID)
    return found.length === 2 ? found : undefined
  })
  expect(edgeLines.map((line) => line['event'])).toEqual(['submission_received', 'submission_answered'])
  expect(nodeLines.map((line) => line['event'])).toEqual(['submission_stepped', 'submission_committed'])
  expect(new Set([...edgeLines, ...nodeLines].map((line) => line['trace_id']))).toEqual(new Set([TRACE_ID]))
  expect(new Set(edgeLines.map((line) => line['parent_span_id']))).toEqual(new Set([CLIENT_SPAN_ID]))
  const edgeSpan = edgeLines[0]?.['span_id']
  expect(edgeSpan).not.toBe(CLIENT_SPAN_ID)
  expect(new Set(nodeLines.map((line) => line['parent_span_id']))).toEqual(new Set([edgeSpan]))
  expect(nodeLines[0]?.['span_id']).not.toBe(edgeSpan)
  for (const part of ['edge-1', 'node-1', 'node-2']) {
    for (const secret of [ACCOUNT_ID, signature, client.token]) expect(textOf(part)).not.toContain(secret)
  }
})

test('metrics show requests, replies, commits and ownership, and name no client', async () => {
  await credit('counted')
  const sumOver = (texts: readonly string[], name: string, labels = {}): number =>
    texts.reduce((total, text) => total + (sampleOf(text, name, labels) ?? Number.NaN), 0)
  // A shard between two nodes has no owner for a moment.
  const [edge = '', ...nodes] = await until('every shard is owned', async () => {
    const texts = await Promise.all(watchOrigins().map(metricsOf))
    return sumOver(texts.slice(1), 'ledger_shards_owned') === SHARDS ? texts : undefined
  })
  const route = { method: 'POST', route: '/v1/transactions', status: '2xx' }
  expect(sampleOf(edge, 'ledger_http_requests_total', route)).toBeGreaterThanOrEqual(1)
  const accepted = { operation: 'submit', outcome: 'accepted' }
  expect(sampleOf(edge, 'ledger_submissions_total', accepted)).toBeGreaterThanOrEqual(1)
  expect(sampleOf(edge, 'ledger_submissions_waiting')).toBe(0)
  const sum = (name: string, labels = {}): number => sumOver(nodes, name, labels)
  expect(sum('ledger_commits_total', { result: 'applied' })).toBeGreaterThanOrEqual(2)
  expect(sum('ledger_commit_commands_sum')).toBeGreaterThanOrEqual(2)
  expect(sum('ledger_commit_duration_seconds_sum')).toBeGreaterThan(0)
  expect(sum('ledger_shard_moves_total', { move: 'acquired' })).toBeGreaterThanOrEqual(SHARDS)
  for (const origin of watchOrigins().slice(1)) {
    // Both are done every other second: an age that only grows never comes below again.
    await until('its session and PostgreSQL have been looked at', async () => {
      const text = await metricsOf(origin)
      const ages = ['ledger_session_renewed_age_seconds', 'ledger_postgres_probed_age_seconds'].map(
        (name) => sampleOf(text, name) ?? Number.NaN,
      )
      return ages.every((age) => age < 2) ? true : undefined
    })
  }
  for (const text of [edge, ...nodes]) expect(text).not.toContain(ACCOUNT_ID)
})

test('the public port serves no metrics', async () => {
  expect((await fetch(`${ledger.address}/metrics`)).status).toBe(404)
})

test('a ready process reports NATS as missing while it hangs, and is ready again afterwards', async () => {
  for (const origin of watchOrigins()) expect(await readinessOf(origin)).toMatchObject({ status: 200 })
  const nats = ledger.pidOf('nats-server')
  process.kill(nats, 'SIGSTOP')
  try {
    for (const origin of watchOrigins()) {
      const amiss = await until(`${origin} has noticed`, async () => {
        const found = await readinessOf(origin)
        return found.status === 503 && found.checks['nats'] === false ? found : undefined
      })
      expect(amiss.checks).toMatchObject({ database: true, serving: true })
    }
  } finally {
    process.kill(nats, 'SIGCONT')
  }
  for (const origin of watchOrigins()) {
    await until(`${origin} is ready again`, async () => ((await readinessOf(origin)).status === 200 ? true : undefined))
  }
})
