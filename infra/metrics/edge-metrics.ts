/** The metrics of an edge. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { REFUSAL_CODES } from '../../actors/refusal.ts'
import { DISABLE_REASONS } from '../../runtime/ports/webhook-store.ts'
import {
  type EventMetrics,
  type GatewayMetrics,
  type HttpMetrics,
  LIMIT_REASONS,
  type LimitMetrics,
  type WebhookMetrics,
} from '../../runtime/ports/metrics.ts'
import type { SequencerMeasures } from '../../runtime/log/sequencer.ts'
import type { WebhookMeasures } from '../../runtime/webhooks/webhook-deliverer.ts'
import { MS_PER_SECOND, registerGauges } from './registry.ts'

const REQUEST_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const STATUS_CLASSES = 100
const LAG_SECONDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60]
/** A node of another version may send an unknown code. */
const OTHER_CODE = 'other'

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'ledger_http_requests_total',
    help: 'Requests by method, route pattern and status class.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'ledger_http_request_duration_seconds',
    help: 'Time from the headers of a request until its response is ready to be sent.',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  return {
    request: (method, route, status, durationMs) => {
      requests.inc({ method, route, status: `${Math.floor(status / STATUS_CLASSES)}xx` })
      durations.observe({ method, route }, durationMs / MS_PER_SECOND)
    },
  }
}

export function createEventMetrics(registry: Registry): EventMetrics {
  const registers = [registry]
  const listeners = new Gauge({
    name: 'ledger_event_listeners',
    help: 'Streams of events, and requests that wait for an event.',
    registers,
  })
  const lags = new Histogram({
    name: 'ledger_event_lag_seconds',
    help: 'Time from the decision of a fact until the edge had its event for its listeners.',
    buckets: LAG_SECONDS,
    registers,
  })
  return {
    listeners: (count) => listeners.set(count),
    seen: (lagMs) => lags.observe(Math.max(0, lagMs) / MS_PER_SECOND),
  }
}

/** One counter for all who count refusals by a limit. */
export function createLimitMetrics(registry: Registry): LimitMetrics {
  const name = 'ledger_requests_limited_total'
  const known = registry.getSingleMetric(name)
  const limited =
    known instanceof Counter
      ? known
      : new Counter({
          name,
          help: 'Requests refused with 429 by the limit that refused them; each order of a batch counts as one.',
          labelNames: ['reason'],
          registers: [registry],
        })
  for (const reason of LIMIT_REASONS) limited.inc({ reason }, 0)
  return { limited: (reason, requests) => limited.inc({ reason }, requests) }
}

export function createGatewayMetrics(registry: Registry): GatewayMetrics {
  const known = new Set<string>([...REFUSAL_CODES, 'no_shards', 'no_healthy_shards', 'shard_unavailable', 'overloaded'])
  const limits = createLimitMetrics(registry)
  const submissions = new Counter({
    name: 'ledger_submissions_total',
    help: 'Submissions of clients by operation, outcome and refusal code; the code is empty for accepted submissions.',
    labelNames: ['operation', 'outcome', 'code'],
    registers: [registry],
  })
  return {
    submission: (operation, end) => {
      const code = end.outcome === 'accepted' ? '' : end.code
      if (code === 'account_rate_limited') limits.limited('account_rate', 1)
      submissions.inc({ operation, outcome: end.outcome, code: code === '' || known.has(code) ? code : OTHER_CODE })
    },
  }
}

export function registerGatewayGauges(registry: Registry, measure: () => { readonly waiting: number }): void {
  registerGauges(registry, measure, [
    {
      name: 'ledger_submissions_waiting',
      help: 'Requests to nodes without a reply yet.',
      of: ({ waiting }) => waiting,
    },
  ])
}

/** `count`: undefined while PostgreSQL does not reply. */
export function registerShardGauges(
  registry: Registry,
  count: () => Promise<{ readonly total: number; readonly served: number } | undefined>,
): void {
  registerGauges(registry, count, [
    { name: 'ledger_shards', help: 'Shards of the ledger.', of: ({ total }) => total },
    {
      name: 'ledger_shards_without_owner',
      help: 'Shards without an owner, or whose owner has not proved for 18 s that it can commit.',
      of: ({ total, served }) => total - served,
    },
  ])
}

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'ledger_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook by result: accepted, or the reason of the failure.',
    labelNames: ['result'],
    registers,
  })
  const durations = new Histogram({
    name: 'ledger_webhook_attempt_duration_seconds',
    help: 'Time from the beginning of an attempt until its response has been read.',
    buckets: REQUEST_SECONDS,
    registers,
  })
  const disabled = new Counter({
    name: 'ledger_webhooks_disabled_total',
    help: 'Webhooks that were disabled by reason.',
    labelNames: ['reason'],
    registers,
  })
  // Counters start at 0, so that Prometheus sees the first increment.
  for (const reason of DISABLE_REASONS) disabled.inc({ reason }, 0)
  return {
    attempt: (result, latencyMs) => {
      attempts.inc({ result })
      durations.observe(latencyMs / MS_PER_SECOND)
    },
    disabled: (reason) => disabled.inc({ reason }),
  }
}

export function registerWebhookGauges(registry: Registry, measure: () => WebhookMeasures): void {
  registerGauges(registry, measure, [
    {
      name: 'ledger_webhooks_held',
      help: 'Webhooks that this edge delivers.',
      of: ({ held }) => held,
    },
    {
      name: 'ledger_webhooks_failing',
      help: 'Webhooks of this edge whose last attempt failed.',
      of: ({ failing }) => failing,
    },
    {
      name: 'ledger_webhook_lag_seconds',
      help: 'The largest age of an event that waits for its receiver at this edge.',
      of: ({ lagMs }) => lagMs / MS_PER_SECOND,
    },
  ])
}

export interface LogMeasures extends SequencerMeasures {
  readonly publishedSize: number
  readonly ageMs: number
}

export function registerLogGauges(registry: Registry, measure: () => LogMeasures): void {
  registerGauges(registry, measure, [
    {
      name: 'ledger_log_entries',
      help: 'Entries of the log, as far as this edge added them.',
      of: ({ size }) => size,
    },
    {
      name: 'ledger_log_published_entries',
      help: 'Entries of the newest head of the log that this edge published.',
      of: ({ publishedSize }) => publishedSize,
    },
    {
      name: 'ledger_log_unpublished_age_seconds',
      help: 'Time since all entries of the log that this edge added were published.',
      of: ({ ageMs }) => ageMs / MS_PER_SECOND,
    },
    {
      name: 'ledger_log_stalled_seconds',
      help: 'Time for which no commit could be added to the log, because a transaction in PostgreSQL has not ended; 0 below 15.',
      of: ({ stalledMs }) => stalledMs / MS_PER_SECOND,
    },
    {
      name: 'ledger_log_rolled_back',
      help: '1 if the database has lost entries of the log, or has other ones.',
      of: ({ isRolledBack }) => Number(isRolledBack),
    },
  ])
}
