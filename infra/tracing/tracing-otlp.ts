/**
 * Exports spans by OTLP over HTTP, in JSON, through the packages of OpenTelemetry.
 *   O1. Memory is bounded: a span is dropped while `MAX_QUEUED` others wait for the collector.
 *   O2. Whatever the collector does, it delays no caller, and the log has one line when its failures begin and one when
 *       they end.
 *   O3. `stop` sends the spans that wait, and ends within `STOP_MS`.
 * IDs are those of the logs (trail.ts), so the tracer of OpenTelemetry, which makes its own, is not used.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace, type HrTime } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import { newSpanId, type TraceContext } from '../../runtime/ports/trail.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { Span, Tracing } from '../../runtime/ports/tracing.ts'
import type { SamplerName, TracingSettings } from '../config/tracing-variables.ts'
import { createSystemRandom } from '../system/random-system.ts'
import { watchExports } from './export-watch.ts'
import { viewOf } from './span-views.ts'

/** Spans that wait, without those in requests under way, which are no more: one batch at a time, and all of them at the end. */
export const MAX_QUEUED = 8_192
const MAX_BATCH = 512
const MAX_EXPORTS = MAX_QUEUED / MAX_BATCH
const BATCH_DELAY_MS = 1_000
const EXPORT_TIMEOUT_MS = 5_000
const STOP_MS = 3_000

const TRACE_ID_BYTES = 16
const MS_PER_SECOND = 1_000
const NS_PER_MS = 1_000_000
/** A smaller difference between the two clocks is rounding. */
const CLOCK_STEP_MS = 2

export interface OtlpTracing extends Tracing {
  readonly stop: () => Promise<void>
}

interface OtlpContext {
  readonly settings: TracingSettings
  readonly part: string
  readonly instance: string
  readonly log: Log
}

export function createOtlpTracing({ settings, part, instance, log }: OtlpContext): OtlpTracing {
  const random = createSystemRandom()
  const sampler = samplerOf(settings.sampler, settings.ratio)
  const resource = resourceFromAttributes({
    'service.name': settings.serviceName ?? `ledger-${part}`,
    'service.instance.id': instance,
  })
  const nowMs = (): number => performance.now()
  const watch = watchExports(exporterOf(settings), { maxQueued: MAX_QUEUED, log, nowMs })
  const processor = new BatchSpanProcessor({
    exporter: watch.exporter,
    maxQueueSize: MAX_QUEUED,
    maxExportBatchSize: MAX_BATCH,
    scheduledDelayMillis: BATCH_DELAY_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const timeOf = createTimes()
  const takes = (traceId: string, client: TraceContext | undefined): boolean => {
    const parent = client === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote(client))
    const { decision } = sampler.shouldSample(parent, traceId, '', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
  return {
    sample: (client) => {
      if (client !== undefined) return { ...client, sampled: takes(client.traceId, client) }
      const traceId = random.hex(TRACE_ID_BYTES)
      if (!takes(traceId, undefined)) return undefined
      return { traceId, spanId: newSpanId(random), parentSpanId: '', sampled: true, state: '' }
    },
    nowMs,
    record: (span) => {
      // O1.
      if (watch.admits()) processor.onEnd(readableOf(span, timeOf, resource))
    },
    stop: async () => {
      const late = new Promise<void>((resolve) => void setTimeout(resolve, STOP_MS).unref())
      await Promise.race([processor.shutdown().catch(() => undefined), late])
    },
  }
}

function exporterOf({ endpoint, headers }: TracingSettings): SpanExporter {
  return new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    concurrencyLimit: MAX_EXPORTS,
  })
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  }
}

function remote({ traceId, parentSpanId, sampled }: TraceContext) {
  return { traceId, spanId: parentSpanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true }
}

/** Wall clock times of the monotonic clock, in the same order: the offset changes only when a clock was set. */
function createTimes(): (ms: number) => HrTime {
  let offsetMs = Date.now() - performance.now()
  return (ms) => {
    const presentMs = Date.now() - performance.now()
    if (Math.abs(presentMs - offsetMs) > CLOCK_STEP_MS) offsetMs = presentMs
    const wallMs = ms + offsetMs
    const seconds = Math.floor(wallMs / MS_PER_SECOND)
    return [seconds, Math.round((wallMs - seconds * MS_PER_SECOND) * NS_PER_MS)]
  }
}

const SCOPE = { name: 'ledger' }
const NONE: [] = []

function readableOf(
  { traceId, spanId, parentSpanId, startedMs, endedMs, work }: Span,
  timeOf: (ms: number) => HrTime,
  resource: ReadableSpan['resource'],
): ReadableSpan {
  const { name, kind, attributes, failed } = viewOf(work)
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED }
  const parent = parentSpanId === '' ? {} : { parentSpanContext: { ...context, spanId: parentSpanId } }
  return {
    name,
    kind,
    spanContext: () => context,
    ...parent,
    startTime: timeOf(startedMs),
    endTime: timeOf(endedMs),
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    links: NONE,
    events: NONE,
    duration: [0, 0],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}
