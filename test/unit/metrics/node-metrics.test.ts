/** A node's metrics count events and measure states, in seconds, without names of accounts. */
import { expect, test } from 'vitest'
import { createNodeMetrics, registerNodeGauges } from '../../../infra/metrics/node-metrics.ts'
import { createRegistry } from '../../../infra/metrics/registry.ts'
import type { NodeMeasures } from '../../../runtime/node/ledger-node.ts'
import { sampleOf } from './samples.ts'

const MEASURES: NodeMeasures = {
  mailboxes: 7,
  lookUps: 3,
  parked: 2,
  residents: 900,
  unacknowledged: 11,
  unsent: 5,
  owned: 64,
  quarantined: 1,
  probedAgoMs: 1_500,
  renewedAgoMs: 250,
  clockSkewMs: 40,
  probed: true,
  renewed: true,
  clockInBounds: true,
  leaving: true,
  commitsFail: true,
  oldestPinAgeMs: 1_250,
}

test('events are counted by kind', async () => {
  const registry = createRegistry()
  const metrics = createNodeMetrics(registry)
  metrics.items('entered', 1)
  metrics.items('entered', 1)
  metrics.items('given_up', 3)
  metrics.commit('applied', 4)
  metrics.commit('unknown', 5_000)
  metrics.batch(30, 4)
  metrics.moves('handed_over', 1)
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_node_items_total', { fate: 'entered' })).toBe(2)
  expect(sampleOf(text, 'ledger_node_items_total', { fate: 'given_up' })).toBe(3)
  expect(sampleOf(text, 'ledger_commits_total', { result: 'applied' })).toBe(1)
  expect(sampleOf(text, 'ledger_commits_total', { result: 'unknown' })).toBe(1)
  expect(sampleOf(text, 'ledger_commit_duration_seconds_sum')).toBe(5.004)
  expect(sampleOf(text, 'ledger_commit_duration_seconds_bucket', { le: '0.005' })).toBe(1)
  expect(sampleOf(text, 'ledger_commit_commands_sum')).toBe(30)
  expect(sampleOf(text, 'ledger_commit_shards_sum')).toBe(4)
  expect(sampleOf(text, 'ledger_shard_moves_total', { move: 'handed_over' })).toBe(1)
})

test('counters start at 0', async () => {
  const registry = createRegistry()
  createNodeMetrics(registry)
  const text = await registry.metrics()
  for (const move of ['acquired', 'handed_over', 'released', 'fenced', 'quarantined'])
    expect(sampleOf(text, 'ledger_shard_moves_total', { move })).toBe(0)
  for (const result of ['applied', 'held_back', 'failed', 'unknown'])
    expect(sampleOf(text, 'ledger_commits_total', { result })).toBe(0)
})

test('gauges are measured at each scrape', async () => {
  const registry = createRegistry()
  let now: NodeMeasures = MEASURES
  registerNodeGauges(registry, () => now)
  const text = await registry.metrics()
  expect(sampleOf(text, 'ledger_queue_depth', { queue: 'mailboxes' })).toBe(7)
  expect(sampleOf(text, 'ledger_queue_depth', { queue: 'look_ups' })).toBe(3)
  expect(sampleOf(text, 'ledger_queue_depth', { queue: 'conclusions' })).toBe(2)
  expect(sampleOf(text, 'ledger_queue_depth', { queue: 'outbox' })).toBe(5)
  expect(sampleOf(text, 'ledger_backlog_messages')).toBe(11)
  expect(sampleOf(text, 'ledger_actors_in_memory')).toBe(900)
  expect(sampleOf(text, 'ledger_shards_owned')).toBe(64)
  expect(sampleOf(text, 'ledger_shards_quarantined')).toBe(1)
  expect(sampleOf(text, 'ledger_commits_failing')).toBe(1)
  expect(sampleOf(text, 'ledger_oldest_pin_age_seconds')).toBe(1.25)
  expect(sampleOf(text, 'ledger_session_renewed_age_seconds')).toBe(0.25)
  expect(sampleOf(text, 'ledger_postgres_probed_age_seconds')).toBe(1.5)
  expect(sampleOf(text, 'ledger_clock_skew_seconds')).toBe(0.04)
  expect(sampleOf(text, 'ledger_node_leaving')).toBe(1)
  now = { ...MEASURES, owned: 0, probedAgoMs: null, leaving: false }
  const later = await registry.metrics()
  expect(sampleOf(later, 'ledger_shards_owned')).toBe(0)
  expect(sampleOf(later, 'ledger_node_leaving')).toBe(0)
  // +Inf: never.
  expect(later).toContain('\nledger_postgres_probed_age_seconds +Inf\n')
})
