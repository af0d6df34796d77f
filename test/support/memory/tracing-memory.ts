/** Keeps spans in an array. Samples every request, or what `takes` says. */
import type { Clock } from '../../../runtime/ports/clock.ts'
import type { Span, Tracing } from '../../../runtime/ports/tracing.ts'
import type { TraceContext } from '../../../runtime/ports/trail.ts'

export interface MemoryTracing extends Tracing {
  readonly spans: Span[]
}

export const OWN_TRACE: TraceContext = {
  traceId: 'e'.repeat(32),
  spanId: 'f'.repeat(16),
  parentSpanId: '',
  sampled: true,
  state: '',
}

export function createMemoryTracing(
  clock: Pick<Clock, 'monotonic'>,
  takes: (client: TraceContext | undefined) => boolean = () => true,
): MemoryTracing {
  const spans: Span[] = []
  return {
    spans,
    sample: (client) => {
      const sampled = takes(client)
      if (client !== undefined) return { ...client, sampled }
      return sampled ? OWN_TRACE : undefined
    },
    nowMs: clock.monotonic,
    record: (span) => void spans.push(span),
  }
}
