/**
 * Every 'no' of the edge as an RFC 9457 problem (D14): one table of types, one union of codes.
 *   P1. A status is never chosen at the place of the refusal: it follows from the type.
 *   P2. `errors` stands in every 400, `error_codes` in every problem, `outcome` in every 503 to a request that
 *       could have changed the ledger.
 *   P3. No text of a dependency, no stack and no address gets into a problem: `detail` is written here or by an actor.
 *   P4. At most 100 errors are listed: a body of one megabyte must not get an answer of several.
 */
import { jsonReply, type Reply } from './reply.ts'

/** Slug -> status, title, and what the page at `{error_base}/<slug>` says. */
export const PROBLEM_TYPES = {
  'invalid-request': {
    status: 400,
    title: 'Bad Request',
    meaning: 'The request could not be read: its JSON, its path or its query is not well formed.',
    remedy: 'Look at `errors`: it names each part that is wrong. Correct the request and send it again.',
  },
  'validation-error': {
    status: 400,
    title: 'Validation Error',
    meaning: 'The body is JSON, but some of its fields are missing, wrong or not known.',
    remedy:
      'Look at `errors` and `error_codes`: all that is wrong is listed at once. The idempotency key was not used up.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'The access token is missing, malformed, expired or revoked, or the credentials are wrong.',
    remedy: 'Get a new access token from POST /v1/auth/token and send it as `Authorization: Bearer <token>`.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The client may not do this, or the signature of the request does not match the key of the account.',
    remedy: 'Check the role and the grants of the client. For signatures, check the canonical payload and the key.',
  },
  'not-found': {
    status: 404,
    title: 'Not Found',
    meaning: 'There is nothing under this address, or the request names something that does not exist.',
    remedy: 'Check the identifier. Where the body names what is missing, `errors` says which field it is.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method Not Allowed',
    meaning: 'The resource exists, but not with this method.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The request contradicts what is there: it exists already, or its state does not permit the change.',
    remedy: 'Read the resource and decide again. Sending the same request again does not help.',
  },
  'payload-too-large': {
    status: 413,
    title: 'Payload Too Large',
    meaning: 'The body is larger than 1,048,576 bytes.',
    remedy: 'Send less in one request.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported Media Type',
    meaning: 'The body is not declared as `application/json`, or it is compressed.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
  },
  'shard-unavailable': {
    status: 503,
    title: 'Service Unavailable',
    meaning: 'The shard that decides this request has no owner at this moment, or is overloaded.',
    remedy:
      'Retry with the same idempotency key and exponential back-off. `outcome` says whether anything can have happened.',
  },
  'downstream-failure': {
    status: 503,
    title: 'Service Unavailable',
    meaning: 'Something that the service depends on is not available at this moment.',
    remedy:
      'Retry with the same idempotency key and exponential back-off. `outcome`, where it stands, says whether anything can have happened.',
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string; remedy: string }>

export type ProblemType = keyof typeof PROBLEM_TYPES

export type ErrorCode =
  | 'ERR_NOT_FOUND'
  | 'ERR_CONFLICT'
  | 'ERR_PAYLOAD_TOO_LARGE'
  | 'ERR_UNSUPPORTED_CONTENT_TYPE'
  | 'ERR_SHARD_UNAVAILABLE'
  | 'ERR_DOWNSTREAM_FAILURE'
  | 'ERR_INVALID_ACCOUNT_ID'
  | 'ERR_INVALID_AMOUNT'
  | 'ERR_INVALID_TYPE'
  | 'ERR_INVALID_SIGNATURE'
  | 'ERR_INVALID_IDEMPOTENCY_KEY'
  | 'ERR_INVALID_GROUP_ID'
  | 'ERR_SELF_TRANSFER'
  | 'ERR_INVALID_TOKEN_ID'
  | 'ERR_INVALID_CLASS_ID'
  | 'ERR_INVALID_SYMBOL'
  | 'ERR_INVALID_DECIMALS'
  | 'ERR_INVALID_ISSUER'
  | 'ERR_INVALID_TOTAL_SUPPLY'
  | 'ERR_NO_SHARDS'
  | 'ERR_NO_HEALTHY_SHARDS'
  | 'ERR_INVALID_TIMESTAMP'
  | 'ERR_UNAUTHORIZED'
  | 'ERR_FORBIDDEN'
  | 'ERR_SIGNATURE_MISMATCH'
  | 'ERR_NOT_ISSUER'
  | 'ERR_INVALID_PUBLIC_KEY'
  | 'ERR_WRONG_LEDGER'
  | 'ERR_INVALID_QUERY'
  | 'ERR_INVALID_FIELD'
  | 'ERR_UNKNOWN_FIELD'
  | 'ERR_METHOD_NOT_ALLOWED'
  | 'ERR_OVERLOADED'

/** One thing that is wrong with one part of a request. */
export interface FieldError {
  readonly field: string
  readonly message: string
}

/** A field error with the code that stands for it. */
export interface Invalid extends FieldError {
  readonly code: ErrorCode
}

/** Whether a request that got no verdict can have changed the ledger (D8). */
export type UnansweredOutcome = 'not_applied' | 'unknown'

export interface Problem {
  readonly kind: 'problem'
  readonly type: ProblemType
  readonly detail: string
  readonly codes: readonly ErrorCode[]
  readonly errors: readonly FieldError[] | null
  readonly outcome: UnansweredOutcome | null
  readonly headers: Readonly<Record<string, string>>
}

/** Seconds a client should let pass before it asks again: a planned move of a shard takes less. */
const RETRY_AFTER_S = '1'

export function problem(
  type: ProblemType,
  code: ErrorCode,
  detail: string,
  errors: readonly FieldError[] | null = null,
): Problem {
  const headers: Record<string, string> = PROBLEM_TYPES[type].status === 503 ? { 'retry-after': RETRY_AFTER_S } : {}
  return { kind: 'problem', type, detail, codes: [code], errors, outcome: null, headers }
}

/** How many errors a problem lists (P4). Whoever gathers them may stop once there are more. */
export const MAX_ERRORS = 100

/** A 400 that lists all that is wrong at once, up to the bound. `invalid` is not empty. */
export function invalidProblem(type: 'invalid-request' | 'validation-error', invalid: readonly Invalid[]): Problem {
  return {
    kind: 'problem',
    type,
    detail: detailOf(invalid),
    codes: [...new Set(invalid.map((one) => one.code))],
    errors: invalid.slice(0, MAX_ERRORS).map(({ field, message }) => ({ field, message })),
    outcome: null,
    headers: {},
  }
}

function detailOf(invalid: readonly Invalid[]): string {
  const [first] = invalid
  if (invalid.length === 1 && first !== undefined) return `${first.field}: ${first.message}`
  return invalid.length > MAX_ERRORS
    ? `More than ${MAX_ERRORS} parts of the request are not valid; errors tells the first ${MAX_ERRORS}.`
    : `${invalid.length} parts of the request are not valid; see errors.`
}

/** `challenge`: the RFC 6750 error that the client is told; none where it sent no token at all. */
export function unauthorized(detail: string, challenge: 'invalid_token' | null = null): Problem {
  const authenticate = challenge === null ? 'Bearer realm="ledger"' : `Bearer realm="ledger", error="${challenge}"`
  return { ...problem('unauthorized', 'ERR_UNAUTHORIZED', detail), headers: { 'www-authenticate': authenticate } }
}

export function notFound(detail: string, field: string | null = null): Problem {
  return problem('not-found', 'ERR_NOT_FOUND', detail, field === null ? null : [{ field, message: detail }])
}

export function downstreamFailure(): Problem {
  return problem(
    'downstream-failure',
    'ERR_DOWNSTREAM_FAILURE',
    'Something that the service depends on is not available. Try again.',
  )
}

export function isUnavailable(refused: Problem): boolean {
  return PROBLEM_TYPES[refused.type].status === 503
}

/** The problem as it is sent. `instance`: the path of the request. */
export function renderProblem(refused: Problem, errorBase: string, instance: string): Reply {
  const { status, title } = PROBLEM_TYPES[refused.type]
  const reply = jsonReply(
    status,
    {
      type: `${errorBase}/${refused.type}`,
      title,
      status,
      detail: refused.detail,
      instance,
      ...(refused.errors === null ? {} : { errors: refused.errors }),
      error_codes: refused.codes,
      ...(refused.outcome === null ? {} : { outcome: refused.outcome }),
    },
    refused.headers,
  )
  return { ...reply, contentType: 'application/problem+json' }
}
