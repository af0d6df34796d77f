/**
 * The steps that every response goes through.
 *   R1. Every response carries `X-Request-Id`; under /v1 none may be stored.
 *   R2. Nothing that was thrown reaches a client: it becomes a 503 with a text of ours, and a line in the log that
 *       names where it happened and never what the request held.
 *   R3. Every 503 to a request that asks the ledger for a change says what can have become of it (D8).
 *   R4. A response to HEAD has the headers of GET, its length included. A body that is not built yet is not built.
 */
import type { Context } from 'hono'
import type { Clock } from '../runtime/ports/clock.ts'
import type { Log } from '../runtime/ports/log.ts'
import type { HttpMetrics } from '../runtime/ports/metrics.ts'
import type { Random } from '../runtime/ports/random.ts'
import type { Tracing } from '../runtime/ports/tracing.ts'
import type { Trail } from '../runtime/ports/trail.ts'
import { dropBody } from './http/body.ts'
import type { Cors } from './http/cors.ts'
import { logFailure } from './http/failure-log.ts'
import { downstreamFailure, type Problem, renderProblem } from './http/problem.ts'
import type { Reply, StaticReply, StreamReply } from './http/reply.ts'
import { isVersioned, sentPath } from './http/request-path.ts'
import type { PublicOutcome } from './endpoint/route.ts'
import { streamBody } from './http/stream-body.ts'
import { readTraceContext } from './http/trace-context.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/
const REQUEST_ID_BYTES = 16
/** Not even an empty body (RFC 9110, 15.3.5 and 15.4.5). */
const BODILESS: ReadonlySet<number> = new Set([204, 304])
/** The label of requests without a route, and of their methods: a client may send any method. */
export const UNROUTED: MeasuredRoute = { method: 'any', path: 'none' }

/** The route label of a request: never its own path. */
export interface MeasuredRoute {
  readonly method: string
  readonly path: string
}

export interface Frame {
  /** Runs the work and makes its outcome a response; `failed` is what a throw of the work means to the client. */
  readonly respond: (
    http: Context,
    route: MeasuredRoute,
    work: (trail: Trail) => PublicOutcome | Promise<PublicOutcome>,
    failed?: (problem: Problem) => Problem,
  ) => Promise<Response>
}

interface FrameContext {
  readonly random: Random
  readonly log: Log
  readonly errorBase: string
  readonly cors: Cors
  /** undefined: no metrics. */
  readonly measured?: { readonly metrics: HttpMetrics; readonly clock: Pick<Clock, 'monotonic'> } | undefined
  /** undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
}

export function createFrame({ random, log, errorBase, cors, measured, tracing }: FrameContext): Frame {
  return {
    async respond(http, route, work, failed) {
      const startedMs = measured?.clock.monotonic() ?? 0
      const tracedMs = tracing?.nowMs() ?? 0
      const { path } = http.req
      const trail = trailOf(http, random, tracing)
      let outcome: PublicOutcome
      try {
        outcome = await work(trail)
      } catch (error) {
        logFailure(log, error, trail, http.req.method)
        outcome = failed === undefined ? downstreamFailure() : failed(downstreamFailure())
      }
      const unread = outcome.kind === 'problem' && !(await dropBody(http.req.raw))
      const reply =
        outcome.kind === 'problem'
          ? renderProblem(outcome, { errorBase, instance: sentPath(http), requestId: trail.requestId })
          : outcome
      const headers: Record<string, string> = {
        'content-type': reply.contentType,
        'x-request-id': trail.requestId,
        'x-content-type-options': 'nosniff',
      }
      if (isVersioned(path)) headers['cache-control'] = 'no-store'
      if (unread) headers['connection'] = 'close'
      const body = await bodyOf(reply, http, headers)
      if (measured !== undefined) {
        const { metrics, clock } = measured
        metrics.request(route.method, route.path, reply.status, clock.monotonic() - startedMs)
      }
      if (tracing !== undefined) recordRequest(tracing, trail, tracedMs, route, reply.status)
      return new Response(body, { status: reply.status, headers: merged(headers, reply.headers, cors.headersOf(http)) })
    },
  }
}

/** The body. For a response without one, sets the headers that describe it. */
async function bodyOf(
  reply: Reply | StreamReply | StaticReply,
  http: Context,
  headers: Record<string, string>,
): Promise<string | Uint8Array | ReadableStream<Uint8Array> | null> {
  if (BODILESS.has(reply.status)) return null
  if (http.req.method === 'HEAD') {
    if (reply.kind === 'stream') await reply.body.cancel()
    else headers['content-length'] = String(Buffer.byteLength(reply.body))
    return null
  }
  return reply.kind === 'stream' ? streamBody(reply.body, http) : reply.body
}

function recordRequest(
  tracing: Tracing,
  { trace }: Trail,
  startedMs: number,
  { method, path }: MeasuredRoute,
  status: number,
): void {
  if (trace?.sampled !== true) return
  const { traceId, spanId, parentSpanId } = trace
  const work = { kind: 'http', method, route: path, status } as const
  tracing.record({ traceId, spanId, parentSpanId, startedMs, endedMs: tracing.nowMs(), work })
}

function merged(
  headers: Record<string, string>,
  own: Readonly<Record<string, string>>,
  cors: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const vary = [own['vary'], cors['vary']].filter((one) => one !== undefined).join(', ')
  return Object.assign(headers, own, cors, vary === '' ? {} : { vary })
}

/** The client's own request ID; undefined where it sent none, or one that is ill-formed. */
export function ownRequestId(claimed: string | undefined): string | undefined {
  return claimed !== undefined && REQUEST_ID.test(claimed) ? claimed : undefined
}

/** The client's own request ID if it is well formed, else a new one. */
function trailOf({ req }: Context, random: Random, tracing: Tracing | undefined): Trail {
  const requestId = ownRequestId(req.header('x-request-id')) ?? random.hex(REQUEST_ID_BYTES)
  const sent = readTraceContext(req.header('traceparent'), req.header('tracestate'), random)
  const trace = tracing === undefined ? sent : tracing.sample(sent)
  return trace === undefined ? { requestId } : { requestId, trace }
}
