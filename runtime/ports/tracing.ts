/**
 * Spans of sampled requests, for an operator's collector. Absent where tracing is off.
 *   S1. A span has IDs, times, and values from closed sets: never an account, an amount, a token, a key or a client's text.
 *       It names no shard either: two shards in one trace would tell which accounts deal with each other.
 *   S2. A call does not wait and does not throw. A span may be lost.
 */
import type { CommitResult } from './metrics.ts'
import type { SpanName, TraceContext } from './trail.ts'
import type { AttemptError } from './webhook-store.ts'

export interface Tracing {
  /**
   * The trace of a request at the edge, with the sampler's decision. `client`: of the client's request. Without it: a new
   * trace, or undefined if the sampler leaves the request out.
   */
  readonly sample: (client: TraceContext | undefined) => TraceContext | undefined
  /** Milliseconds on the clock of spans, which never goes back. */
  readonly nowMs: () => number
  readonly record: (span: Span) => void
}

export interface Span extends SpanName {
  /** Empty: the span is the first of its trace. */
  readonly parentSpanId: string
  readonly startedMs: number
  readonly endedMs: number
  readonly work: Work
}

/**
 * `request`: a client's request on its node, until its verdict. `message`: a message from another shard, until the commit
 * that consumed it. `operation`, `verdict`: their kinds. `step`, `commit`: of a request or a message. `delivery`: of one
 * message, until its target has committed it.
 */
export type Work =
  | { readonly kind: 'http'; readonly method: string; readonly route: string; readonly status: number }
  | { readonly kind: 'request'; readonly operation: string; readonly verdict: string }
  | { readonly kind: 'message' }
  | { readonly kind: 'step' }
  | { readonly kind: 'commit'; readonly result: CommitResult; readonly commands: number }
  | { readonly kind: 'delivery' }
  | { readonly kind: 'webhook'; readonly status: number | null; readonly error: AttemptError | null }
