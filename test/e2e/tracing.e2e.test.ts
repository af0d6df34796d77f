/** A running ledger exports the spans of a transfer between two nodes under its client's trace, and none if tracing is off. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts'
import type { Holder, LedgerClient } from '../support/client/client.ts'
import { signed } from '../support/client/client-keys.ts'
import { buildOnce, freshDirectory, LedgerUp, until } from './start-harness.ts'

const NODES = 2

beforeAll(buildOnce)

function traced(traceId: string, spanId = randomBytes(8).toString('hex'), flags = '01'): Record<string, string> {
  return { traceparent: `00-${traceId}-${spanId}-${flags}` }
}

async function order(
  client: LedgerClient,
  { accountId, keys }: Holder,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const body = signed({ account_id: accountId, amount: '5', ...fields }, keys.privateKey)
  expect((await client.post('/v1/transactions', body, headers)).status).toBe(202)
}

/** Both nodes must own shards, and the accounts must be on different ones. */
async function onTwoNodes(client: LedgerClient): Promise<readonly [Holder, Holder]> {
  const ownerOf = async ({ accountId }: Holder): Promise<unknown> => {
    const { shard_id: shardId } = await client.read(`/v1/accounts/${accountId}`)
    return (await client.read(`/v1/shards/${String(shardId)}`))['owner']
  }
  await until('both nodes have shards', async () => {
    const shards = await client.readAll('/v1/shards', 'shards')
    return new Set(shards.map(({ owner }) => owner)).size === NODES ? true : undefined
  })
  const sender = await client.register('alice')
  for (let number = 0; ; number += 1) {
    const receiver = await client.register(`bob-${number}`)
    if ((await ownerOf(receiver)) !== (await ownerOf(sender))) return [sender, receiver]
  }
}

describe('with a collector', () => {
  let collector: Collector
  let ledger: LedgerUp
  let client: LedgerClient

  beforeAll(async () => {
    collector = await startCollector()
    ledger = await LedgerUp.start(await freshDirectory(), {
      nodes: NODES,
      env: {
        LEDGER_LOG_LEVEL: 'debug',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=for%20the%20collector',
        OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      },
    })
    client = await ledger.client()
  })
  afterAll(async () => {
    await ledger.destroy()
    await collector.close()
  })

  const spansOf = (traceId: string): readonly ReceivedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId)

  test('a transfer is one tree: request, node, commit, delivery, and the commit on the node of the receiver', async () => {
    const [sender, receiver] = await onTwoNodes(client)
    await order(client, sender, { type: 'credit', idempotency_key: 'first' }, {})
    const traceId = randomBytes(16).toString('hex')
    const clientSpanId = randomBytes(8).toString('hex')
    const headers = traced(traceId, clientSpanId)
    const fields = { type: 'transfer', to_account_id: receiver.accountId, idempotency_key: 'second' }
    await order(client, sender, fields, headers)
    const tree = await until('the spans of both nodes have come', () => {
      const edge = spansOf(traceId).find(({ name }) => name === 'POST /v1/transactions')
      const path = ['process requests', 'commit', 'send deliveries', 'process deliveries', 'commit'].reduce<
        readonly (ReceivedSpan | undefined)[]
      >(
        (above, name) => [
          ...above,
          spansOf(traceId).find((span) => span.name === name && span.parentSpanId === above.at(-1)?.spanId),
        ],
        [edge],
      )
      return path.every((span) => span !== undefined) ? path : undefined
    })
    const [edge, node, commit, delivery, target, last] = tree
    expect(edge).toMatchObject({
      parentSpanId: clientSpanId,
      service: 'ledger-edge',
      instance: 'edge-1',
      attributes: { 'http.request.method': 'POST', 'http.route': '/v1/transactions', 'http.response.status_code': 202 },
    })
    expect(node).toMatchObject({
      service: 'ledger-node',
      attributes: { 'messaging.system': 'nats', 'ledger.operation': 'submit', 'ledger.verdict': 'answered' },
    })
    expect([delivery?.instance, commit?.instance]).toEqual([node?.instance, node?.instance])
    expect(target?.instance).not.toBe(node?.instance)
    expect(last).toMatchObject({ instance: target?.instance, attributes: { 'db.system.name': 'postgresql' } })
    expect(spansOf(traceId).some(({ name, parentSpanId }) => name === 'step' && parentSpanId === node?.spanId)).toBe(
      true,
    )
    for (const { startTimeUnixNano, endTimeUnixNano } of spansOf(traceId)) {
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
    }
    const lines = ['edge-1', String(node?.instance)].map((part) =>
      readFileSync(join(ledger.dataDir, 'logs', `${part}.log`), 'utf8'),
    )
    expect(lines[0]).toContain(`"trace_id":"${traceId}","span_id":"${String(edge?.spanId)}"`)
    expect(lines[1]).toContain(`"trace_id":"${traceId}","span_id":"${String(node?.spanId)}"`)
  })

  test('a request without a trace begins one, and one whose client does not record it is left out', async () => {
    const traceId = randomBytes(16).toString('hex')
    await client.read('/v1/accounts/alice', traced(traceId, undefined, '00'))
    await client.read('/v1/accounts/alice/balances')
    const own = await until('its span has come', () =>
      collector.spans.find(({ name }) => name === 'GET /v1/accounts/:accountId/balances'),
    )
    expect(own.parentSpanId).toBeUndefined()
    expect(spansOf(traceId)).toEqual([])
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'api-key': 'for the collector' } })
  })
})

test('a collector that never replies delays no order, and is one line in the log of each part', async () => {
  const collector = await startCollector(() => undefined)
  const ledger = await LedgerUp.start(await freshDirectory(), {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
  })
  const client = await ledger.client()
  const alice = await client.register('alice')
  const warnings = (part: string): number =>
    readFileSync(join(ledger.dataDir, 'logs', `${part}.log`), 'utf8').split('"spans_not_exported"').length - 1
  let orders = 0
  await until('each part has given up a request', async () => {
    orders += 1
    await order(client, alice, { type: 'credit', idempotency_key: `order-${orders}` }, {})
    return warnings('edge-1') > 0 && warnings('node-1') > 0 ? true : undefined
  })
  // So many requests more would be reported if each were.
  const requests = collector.requests.length
  await until('more requests were given up', async () => {
    orders += 1
    await order(client, alice, { type: 'credit', idempotency_key: `order-${orders}` }, {})
    return collector.requests.length >= requests + 2 * 2 ? true : undefined
  })
  expect([warnings('edge-1'), warnings('node-1')]).toEqual([1, 1])
  expect((await ledger.stop()).code).toBe(0)
  await ledger.destroy()
  await collector.close()
})

/** Writes the modules of a process that came from packages of OpenTelemetry to a file, when the process ends. */
const LISTS_MODULES = `
const { writeFileSync } = require('node:fs')
process.on('exit', () => {
  const names = Object.keys(require.cache).map((path) => /node_modules.(@opentelemetry.[^\\/\\\\]+)/.exec(path)?.[1])
  const [command = ''] = process.argv.slice(2)
  writeFileSync(process.env.MODULES_DIR + '/' + command + '-' + process.pid, [...new Set(names)].filter(Boolean).join(' '))
})
`

/** The packages of OpenTelemetry that each part of a ledger loaded. */
async function packagesOf(env: Record<string, string>): Promise<ReadonlyMap<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'ledger-modules-'))
  const preload = join(directory, 'list.cjs')
  await writeFile(preload, LISTS_MODULES)
  const ledger = await LedgerUp.start(await freshDirectory(), {
    env: { ...env, NODE_OPTIONS: `--require ${preload}`, MODULES_DIR: directory },
  })
  const client = await ledger.client()
  await client.register('alice')
  client.close()
  await ledger.destroy()
  const files = (await readdir(directory)).filter((file) => /^(?:edge|node)-/.test(file))
  const read = files.map(
    async (file) => [file.replace(/-.*/, ''), await readFile(join(directory, file), 'utf8')] as const,
  )
  const packages = new Map(await Promise.all(read))
  await rm(directory, { recursive: true })
  return packages
}

test('without a collector no package of OpenTelemetry is loaded, except its API by prom-client', async () => {
  const collector = await startCollector()
  const on = await packagesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })
  await collector.close()
  expect([on.get('edge'), on.get('node')]).toEqual([
    expect.stringContaining('sdk-trace') as string,
    expect.stringContaining('sdk-trace') as string,
  ])
  expect([...(await packagesOf({}))].toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
    ['edge', '@opentelemetry/api'],
    ['node', '@opentelemetry/api'],
  ])
})
