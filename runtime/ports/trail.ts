/**
 * Identifies a request in the logs of every process that it passes. It travels with the item from edge to node, is
 * never stored, and decides nothing.
 *   T1. Everything in it is bounded and of a narrow alphabet, which the edge enforces.
 *   T2. There is a trace if the client's request was part of one, or if the edge exports spans and its sampler takes the
 *       request. Each hop has a span of its own.
 * The trace context is that of https://www.w3.org/TR/trace-context/.
 */
import { type Guarded, isAbsentOr, isFlag, isObjectOf, isText } from '../../actors/shapes.ts'
import type { LogFields } from './log.ts'
import type { Random } from './random.ts'

export type TraceContext = Guarded<typeof isTraceContext>
const isTraceContext = isObjectOf({
  /** 32 hexadecimal digits in lower case, not all zero. */
  traceId: isText,
  /** 16 of them: this hop, and the one before it; the latter is empty if the ledger began the trace. */
  spanId: isText,
  parentSpanId: isText,
  /** Whether spans of it are recorded. */
  sampled: isFlag,
  /** The members of `tracestate`, at most 512 characters; empty without any. */
  state: isText,
})

/** A span that others may be under; its members are those of `TraceContext`. */
export type SpanName = Guarded<typeof isSpanName>
export const isSpanName = isObjectOf({ traceId: isText, spanId: isText })

export type Trail = Guarded<typeof isTrail>
export const isTrail = isObjectOf({
  /** `X-Request-Id` of the request and its response: `^[A-Za-z0-9._-]{1,64}$`. */
  requestId: isText,
  trace: isAbsentOr(isTraceContext),
})

const SPAN_ID_BYTES = 8

/** The trail in the next hop. */
export function nextHop(trail: Trail, random: Pick<Random, 'hex'>): Trail {
  const { trace } = trail
  if (trace === undefined) return trail
  return { ...trail, trace: { ...trace, parentSpanId: trace.spanId, spanId: newSpanId(random) } }
}

export function newSpanId(random: Pick<Random, 'hex'>): string {
  return random.hex(SPAN_ID_BYTES)
}

/** Log fields; empty for a request without a trail. */
export function fieldsOf(trail: Trail | undefined): LogFields {
  if (trail === undefined) return {}
  const { requestId, trace } = trail
  if (trace === undefined) return { request_id: requestId }
  const { traceId, spanId, parentSpanId } = trace
  const parent = parentSpanId === '' ? {} : { parent_span_id: parentSpanId }
  return { request_id: requestId, trace_id: traceId, span_id: spanId, ...parent }
}
