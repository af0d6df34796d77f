/** An edge's metrics distinguish requests and outcomes, with bounded labels. */
import { expect, test } from 'vitest'
import { createEventTail } from '../../../api/endpoint/event-tail.ts'
import { createManualClock } from '../api/http/waiting-clock.ts'
import { accountEvent, createFakeEvents } from '../api/fakes/fake-events.ts'
import {
  createEventMetrics,
  createGatewayMetrics,
  createHttpMetrics,
  registerGatewayGauges,
  createWebhookMetrics,
  registerLogGauges,
  registerShardGauges,
} from '../../../infra/metrics/edge-metrics.ts'
import { createRegistry } from '../../../infra/metrics/registry.ts'
import type { RefusalCode } from '../../../actors/refusal.ts'
import { sampleOf } from './samples.ts'

test('requests are counted by method, route and class of status, and timed by method and route', async () => {
  const registry = createRegistry()
  const { request } = createHttpMetrics(registry)
  const [method, route] = ['POST', '/v1/transactions']
  request(method, route, 202, 45)
  request(method, route, 200, 5)
  request(method, route, 503, 2_000)
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_http_requests_total', { method, route, status: '2xx' })).toBe(2)
  expect(sampleOf(text, 'ledger_http_requests_total', { method, route, status: '5xx' })).toBe(1)
  expect(sampleOf(text, 'ledger_http_request_duration_seconds_sum', { method, route })).toBeCloseTo(2.05)
  expect(sampleOf(text, 'ledger_http_request_duration_seconds_bucket', { method, route, le: '0.05' })).toBe(2)
})

test('submissions are counted by operation, outcome and code', async () => {
  const registry = createRegistry()
  const { submission } = createGatewayMetrics(registry)
  submission('submit', { outcome: 'accepted' })
  submission('submit', { outcome: 'refused', code: 'signature_mismatch' })
  submission('mint', { outcome: 'unknown', code: 'shard_unavailable' })
  submission('submit', { outcome: 'overloaded', code: 'overloaded' })
  const text = await registry.metrics()
  const countOf = (operation: string, outcome: string, code: string) =>
    sampleOf(text, 'ledger_submissions_total', { operation, outcome, code })
  expect(countOf('submit', 'accepted', '')).toBe(1)
  expect(countOf('submit', 'refused', 'signature_mismatch')).toBe(1)
  expect(countOf('mint', 'unknown', 'shard_unavailable')).toBe(1)
  expect(countOf('submit', 'overloaded', 'overloaded')).toBe(1)
})

test('unknown codes share one label', async () => {
  const registry = createRegistry()
  const { submission } = createGatewayMetrics(registry)
  for (const code of ['made_up_1', 'made_up_2']) submission('submit', { outcome: 'refused', code: code as RefusalCode })
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_submissions_total', { outcome: 'refused', code: 'other' })).toBe(2)
  expect(text).not.toContain('made_up')
})

test('the number of waiting requests is measured at each scrape', async () => {
  const registry = createRegistry()
  let waiting = 3
  registerGatewayGauges(registry, () => ({ waiting }))
  expect(sampleOf(await registry.metrics(), 'ledger_submissions_waiting')).toBe(3)
  waiting = 0
  expect(sampleOf(await registry.metrics(), 'ledger_submissions_waiting')).toBe(0)
})

test('listeners of events are counted, and the lag of each event is measured once for all of them', async () => {
  const registry = createRegistry()
  const clock = createManualClock(1_760_000_000_000)
  const events = createFakeEvents()
  const tail = createEventTail({ events, clock, eventMetrics: createEventMetrics(registry) })
  const leave = [tail.listen(), tail.listen()]
  await clock.advance(60)
  events.log.push(accountEvent(events.log, 'alice', { timeMs: clock.now() - 30_000 }))
  await clock.advance(60)
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_event_listeners')).toBe(2)
  expect(sampleOf(text, 'ledger_event_lag_seconds_count')).toBe(1)
  expect(sampleOf(text, 'ledger_event_lag_seconds_sum')).toBeGreaterThanOrEqual(30)
  for (const end of leave) end()
  expect(sampleOf(await registry.metrics(), 'ledger_event_listeners')).toBe(0)
})

test('the log is measured at each scrape', async () => {
  const registry = createRegistry()
  registerLogGauges(registry, () => ({
    size: 9,
    isRolledBack: true,
    stalledMs: 20_000,
    publishedSize: 7,
    ageMs: 2_500,
  }))
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_log_entries')).toBe(9)
  expect(sampleOf(text, 'ledger_log_published_entries')).toBe(7)
  expect(sampleOf(text, 'ledger_log_unpublished_age_seconds')).toBe(2.5)
  expect(sampleOf(text, 'ledger_log_stalled_seconds')).toBe(20)
  expect(sampleOf(text, 'ledger_log_rolled_back')).toBe(1)
})

test('shards without an owner are counted, and unknown while PostgreSQL does not reply', async () => {
  const registry = createRegistry()
  let counts: { total: number; served: number } | undefined = { total: 16, served: 10 }
  registerShardGauges(registry, () => Promise.resolve(counts))
  expect(sampleOf(await registry.metrics(), 'ledger_shards')).toBe(16)
  expect(sampleOf(await registry.metrics(), 'ledger_shards_without_owner')).toBe(6)
  counts = undefined
  expect(sampleOf(await registry.metrics(), 'ledger_shards_without_owner')).toBeUndefined()
})

test('counters of disabled webhooks start at 0, so that the first is an increase', async () => {
  const registry = createRegistry()
  const metrics = createWebhookMetrics(registry)
  const disabled = async () =>
    sampleOf(await registry.metrics(), 'ledger_webhooks_disabled_total', { reason: 'delivery_failed' })
  expect(await disabled()).toBe(0)
  metrics.disabled('delivery_failed')
  expect(await disabled()).toBe(1)
})
