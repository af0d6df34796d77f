/** The spans of one command on its node. Only commands of recorded traces have one, and only while tracing is on. */
import type { CommitResult } from '../../ports/metrics.ts'
import type { CommitVerdict } from '../../ports/ledger-store.ts'
import type { Random } from '../../ports/random.ts'
import type { Tracing, Work } from '../../ports/tracing.ts'
import { newSpanId, type SpanName, type TraceContext } from '../../ports/trail.ts'
import type { ShardDraft } from './draft.ts'

/** Begins the spans of a node. */
export interface NodeSpans {
  /** undefined: the trace is not recorded. `operation`: the request's kind. */
  readonly ofRequest: (trace: TraceContext | undefined, operation: string) => CommandSpan | undefined
  /** `delivery`: the span of its delivery; undefined if the message has no trace. */
  readonly ofMessage: (delivery: SpanName | undefined) => CommandSpan | undefined
  /** The commands of these were in a commit that began at `startedMs`. Called before their messages leave. */
  readonly committed: (drafts: readonly ShardDraft[], verdict: CommitVerdict, startedMs: number) => void
  /** These messages were acknowledged. */
  readonly delivered: (deliveries: readonly DeliverySpan[]) => void
}

/** The span of one message between shards, from the commit that sent it. */
export interface DeliverySpan extends SpanName {
  readonly parentSpanId: string
  readonly startedMs: number
}

export class CommandSpan {
  private readonly dependencies: SpanDependencies
  private readonly name: SpanName
  private readonly parentSpanId: string
  /** undefined: a message. */
  private readonly operation: string | undefined
  private readonly startedMs: number
  /** The span of the last commit; before one, of the command. */
  private commitSpanId: string

  constructor(dependencies: SpanDependencies, name: SpanName, parentSpanId: string, operation?: string) {
    this.dependencies = dependencies
    this.name = name
    this.parentSpanId = parentSpanId
    this.operation = operation
    this.startedMs = dependencies.tracing.nowMs()
    this.commitSpanId = name.spanId
  }

  /** Runs a step of the command. */
  around<T>(run: () => T): T {
    const startedMs = this.dependencies.tracing.nowMs()
    try {
      return run()
    } finally {
      this.child({ kind: 'step' }, startedMs)
    }
  }

  committed(result: CommitResult, commands: number, startedMs: number): void {
    this.commitSpanId = this.child({ kind: 'commit', result, commands }, startedMs)
    // Only a request has a verdict.
    if (this.operation === undefined && result === 'applied') this.end({ kind: 'message' })
  }

  /** A message of the command leaves. */
  delivery(): DeliverySpan {
    const { tracing, random } = this.dependencies
    const { traceId } = this.name
    return { traceId, spanId: newSpanId(random), parentSpanId: this.commitSpanId, startedMs: tracing.nowMs() }
  }

  /** Of a request; a message has none. `verdict`: its kind. */
  answered(verdict: string): void {
    if (this.operation !== undefined) this.end({ kind: 'request', operation: this.operation, verdict })
  }

  private end(work: Work): void {
    const { name, parentSpanId, startedMs } = this
    const { tracing } = this.dependencies
    tracing.record({ ...name, parentSpanId, startedMs, endedMs: tracing.nowMs(), work })
  }

  private child(work: Work, startedMs: number): string {
    const { tracing, random } = this.dependencies
    const { traceId, spanId: parentSpanId } = this.name
    const spanId = newSpanId(random)
    tracing.record({ traceId, spanId, parentSpanId, startedMs, endedMs: tracing.nowMs(), work })
    return spanId
  }
}

interface SpanDependencies {
  readonly tracing: Tracing
  readonly random: Pick<Random, 'hex'>
}

export function createNodeSpans(dependencies: SpanDependencies): NodeSpans {
  const { tracing, random } = dependencies
  return {
    ofRequest: (trace, operation) =>
      trace?.sampled === true ? new CommandSpan(dependencies, nameOf(trace), trace.parentSpanId, operation) : undefined,
    ofMessage: (delivery) => {
      if (delivery === undefined) return undefined
      const { traceId, spanId } = delivery
      return new CommandSpan(dependencies, { traceId, spanId: newSpanId(random) }, spanId)
    },
    committed: (drafts, verdict, startedMs) => {
      const commands = drafts.reduce((sum, { pendings }) => sum + pendings.length, 0)
      for (const { incarnation, pendings } of drafts) {
        const result = resultFor(incarnation.token.shardId, verdict)
        for (const { span } of pendings) span?.committed(result, commands, startedMs)
      }
    },
    delivered: (deliveries) => {
      const endedMs = tracing.nowMs()
      for (const span of deliveries) tracing.record({ ...span, endedMs, work: { kind: 'delivery' } })
    },
  }
}

function nameOf({ traceId, spanId }: SpanName): SpanName {
  return { traceId, spanId }
}

function resultFor(shardId: number, verdict: CommitVerdict): CommitResult {
  if (verdict.kind !== 'answered') return verdict.kind
  return verdict.committed.has(shardId) ? 'applied' : 'held_back'
}
