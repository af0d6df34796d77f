/**
 * Endpoints with a body. A request is judged in the order of D7: text, path, shape with key, scope.
 * Where the body has no key, the header `Idempotency-Key` makes the request idempotent. The key is scoped to client and
 * path: the same key with another body replays the original reply and creates nothing.
 *   K1. The edge sends a reply only after it is stored. A crash before that leaves an open request: a retry resumes it,
 *       and the actor recognizes the key, so that the request takes effect once.
 *   K2. A request with another body waits for the reply of an open request under the same key; the two never run together.
 *   K3. A refusal frees the key. A 503 with an unknown outcome keeps it until a retry of the same request gets its reply.
 */
import { sha256Hex } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import type { Result } from '../../actors/result.ts'
import { delay } from '../../runtime/ports/clock.ts'
import type { AnsweredRequest, BegunRequest, RequestKey } from '../../runtime/ports/idempotency-store.ts'
import { administer } from './administer.ts'
import { admittedStream, sameAdmission } from './admitted-stream.ts'
import { readJsonBody } from '../http/body.ts'
import { keptStream, replayedStream } from '../http/kept-stream.ts'
import { type Invalid, invalidProblem, isUnavailable, type Problem, problem } from '../http/problem.ts'
import { IDEMPOTENCY_KEY_HEADER } from './parameters.ts'
import { checkPath, findAccount } from './path-values.ts'
import { type Reply, streamReply, textReply } from '../http/reply.ts'
import type { EdgeContext, Endpoint, EndpointOutcome, GuardedCall } from './route.ts'
import { IDEMPOTENCY_KEY_RULE, isIdempotencyKey } from '../schemas/fields.ts'
import { repeatHeaders, signedPayload } from '../http/signed-body.ts'

export interface BodyCall extends GuardedCall {
  readonly body: JsonObject
  /** null: the request has no `Idempotency-Key`, or its endpoint takes none. */
  readonly registrationKey: string | null
}

export interface BodyEndpoint<Request> {
  /** The shape of the body. */
  readonly read: (body: JsonObject, context: EdgeContext, call: BodyCall) => Result<Request, readonly Invalid[]>
  /** Rejects a resource that the client cannot see, beyond the account of the path. */
  readonly find?: (request: Request, call: BodyCall) => Problem | undefined
  /** Members of the body with the defaults that the service chose, for the entry of an administrator's act. */
  readonly completed?: (request: Request) => JsonObject
  /** Idempotent under the same key. */
  readonly run: (request: Request, context: EdgeContext, call: BodyCall) => EndpointOutcome | Promise<EndpointOutcome>
}

type Dependencies = Pick<EdgeContext, 'idempotency' | 'clock' | 'random' | 'log'>

const KEY_HEADER = 'Idempotency-Key'
const NOT_SIGNED = ['signature', 'proof']
/** How long a request with another body waits for the reply under its key. */
const MAX_WAIT_MS = 10_000
const FIRST_INTERVAL_MS = 20
const MAX_INTERVAL_MS = 500
const REPLAY_HEADERS: ReadonlySet<string> = new Set(['idempotency-replayed', 'idempotency-payload-mismatch'])

export function bodyEndpoint<Request>({ read, find, completed, run }: BodyEndpoint<Request>): Endpoint['handle'] {
  return async (context, received) => {
    const text = await readJsonBody(received.http.req.raw)
    if (!text.ok) return text.error
    const body = text.value
    const misnamed = checkPath(received)
    if (misnamed !== undefined) return misnamed
    const isKeyed = received.endpoint.parameters?.includes(IDEMPOTENCY_KEY_HEADER) === true
    const registrationKey = isKeyed ? (received.http.req.header(KEY_HEADER) ?? null) : null
    const call: BodyCall = { ...received, body, registrationKey }
    const request = read(body, context, call)
    const invalid = [...keyErrors(registrationKey), ...(request.ok ? [] : request.error)]
    if (!request.ok || invalid.length > 0) return invalidProblem('validation-error', invalid)
    const hidden = findAccount(received) ?? find?.(request.value, call)
    if (hidden !== undefined) return hidden
    const work = (): Promise<EndpointOutcome> =>
      administer(context, call, { ...body, ...completed?.(request.value) }, () => run(request.value, context, call))
    if (registrationKey === null) return work()
    const key = { clientId: call.caller.clientId, path: pathOf(call), idempotencyKey: registrationKey }
    return once(context, { call, key, payloadHash: sha256Hex(signedPayload(body, NOT_SIGNED)) }, work)
  }
}

function keyErrors(registrationKey: string | null): readonly Invalid[] {
  if (registrationKey === null || isIdempotencyKey(registrationKey)) return []
  return [{ field: KEY_HEADER, code: 'ERR_INVALID_IDEMPOTENCY_KEY', message: IDEMPOTENCY_KEY_RULE }]
}

/** Decoded: one resource has one path in any encoding. */
function pathOf({ http }: GuardedCall): string {
  try {
    return decodeURIComponent(http.req.path)
  } catch {
    return http.req.path
  }
}

interface KeyedRequest {
  readonly call: GuardedCall
  readonly key: RequestKey
  readonly payloadHash: string
}

async function once(
  dependencies: Dependencies,
  request: KeyedRequest,
  work: () => Promise<EndpointOutcome>,
): Promise<EndpointOutcome> {
  const { idempotency, log, random } = dependencies
  const { key, payloadHash } = request
  const begun = await begin(dependencies, request)
  if (begun.kind === 'taken') return taken()
  if (begun.kind === 'answered') return replay(dependencies, request, begun.request)
  const outcome = await work()
  switch (outcome.kind) {
    case 'problem':
      if (isUnavailable(outcome) && outcome.outcome !== 'not_applied') return outcome
      await idempotency.refuse(key).catch(() => log.warn('idempotency_key_not_freed'))
      return outcome
    case 'reply': {
      const { first, request: kept } = await idempotency.finish(key, keptReply(outcome, payloadHash))
      // The attempt that took effect may reply after a concurrent retry, which was reported as a replay.
      const made = !isReplay(outcome.headers) && isReplay(kept.answer.headers)
      return first || made ? outcome : replay(dependencies, request, kept)
    }
    case 'stream': {
      const { status, contentType } = outcome
      const headers = ownHeaders(outcome.headers)
      const content = keptStream(outcome.body, {
        keep: (attempt, number, part) => idempotency.keepPart(key, attempt, number, part),
        finish: async (kept) => {
          await idempotency.finish(key, { payloadHash, answer: { status, contentType, headers, content: kept } })
        },
        attempt: random.hex(16),
      })
      return { ...outcome, body: content }
    }
  }
}

/** K2. */
async function begin(
  { idempotency, clock }: Pick<Dependencies, 'idempotency' | 'clock'>,
  { key, payloadHash }: KeyedRequest,
): Promise<BegunRequest> {
  const startedMs = clock.monotonic()
  for (let waitMs = FIRST_INTERVAL_MS; ; waitMs = Math.min(2 * waitMs, MAX_INTERVAL_MS)) {
    const begun = await idempotency.begin(key, payloadHash)
    if (begun.kind !== 'taken' || clock.monotonic() - startedMs >= MAX_WAIT_MS) return begun
    await delay(clock, waitMs)
  }
}

function taken(): Problem {
  const detail =
    'The Idempotency-Key belongs to an earlier request with another body, which has no reply yet. ' +
    'Retry that request for its reply, or use another key.'
  const refused = problem('conflict', 'ERR_CONFLICT', detail, [{ field: 'Idempotency-Key', message: detail }])
  return { ...refused, headers: { 'idempotency-payload-mismatch': 'true' } }
}

function keptReply({ status, contentType, headers, body }: Reply, payloadHash: string): AnsweredRequest {
  return { payloadHash, answer: { status, contentType, headers, content: { kind: 'text', text: body } } }
}

function isReplay(headers: Readonly<Record<string, string>>): boolean {
  return headers['idempotency-replayed'] !== undefined
}

/** The headers except those that mark a replay. */
function ownHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !REPLAY_HEADERS.has(name)))
}

function replay(
  { idempotency }: Pick<Dependencies, 'idempotency'>,
  { call, key, payloadHash }: KeyedRequest,
  kept: AnsweredRequest,
): EndpointOutcome {
  const { status, contentType, content } = kept.answer
  const mismatch = kept.payloadHash !== payloadHash
  const headers = { ...ownHeaders(kept.answer.headers), ...repeatHeaders({ replayed: true, mismatch }) }
  switch (content.kind) {
    case 'text':
      return textReply(status, contentType, content.text, headers)
    case 'parts': {
      const { attempt, count } = content
      const whole = replayedStream(count, (number) => idempotency.part(key, attempt, number))
      return streamReply(status, contentType, admittedStream(whole, sameAdmission(call)), headers)
    }
    case 'dropped':
      return problem(
        'conflict',
        'ERR_CONFLICT',
        'The request succeeded, but its reply was too long to store. Use another Idempotency-Key to repeat the request.',
      )
  }
}
