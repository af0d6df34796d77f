/**
 * Every 'no' of the edge as an RFC 9457 problem (D14): one table of types, one union of codes.
 *   P1. A status is never chosen at the place of the refusal: it follows from the type.
 *   P2. `errors` stands in every 400, `error_codes` in every problem, `outcome` in every 429 and 503 to a request
 *       that could have changed the ledger.
 *   P3. No text of a dependency, no stack and no address gets into a problem: `detail` is written here or by an actor.
 *   P4. At most 100 errors are listed: a body of one megabyte must not get an answer of several.
 *   P5. Every problem carries the request ID of its response.
 */
import type { Role } from '../../actors/account/commands.ts'
import { showHash } from '../../actors/audit-chain.ts'
import type { ERROR_CODES } from './error-codes.ts'
import { jsonReply, type Reply } from './reply.ts'

/** Slug -> status, title, and the texts of the page at `{error_base}/<slug>`; `retry`: whether to send the request again. */
export const PROBLEM_TYPES = {
  'invalid-request': {
    status: 400,
    title: 'Bad Request',
    meaning: 'The request could not be read: its JSON, its path or its query is not well formed.',
    remedy: 'Look at `errors`: it names each part that is wrong.',
    retry: 'Not as it is. Corrected, yes, with the same idempotency key: nothing was done under it.',
  },
  'validation-error': {
    status: 400,
    title: 'Validation Error',
    meaning: 'The body is JSON, but some of its fields are missing, wrong or not known.',
    remedy: 'Look at `errors` and `error_codes`: all that is wrong is listed at once, up to 100 fields.',
    retry: 'Not as it is. Corrected and signed again, yes, with the same idempotency key: nothing was done under it.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'The access token is missing, malformed, expired or revoked, or the credentials are wrong.',
    remedy: 'Get a new access token from POST /v1/auth/token and send it as `Authorization: Bearer <token>`.',
    retry: 'With a new token, yes: the same request, with the same idempotency key.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The client may not do this, or the signature of the request does not match the key of the account.',
    remedy:
      'Check the role and the grants of the client. For a signature, compare `payload_digest` with the SHA-256 of your canonical payload, and `key_id` with your key.',
    retry: 'Not as it is. Once the cause is gone, yes, with the same idempotency key: a refusal does not use it up.',
  },
  'not-found': {
    status: 404,
    title: 'Not Found',
    meaning: 'There is nothing under this address, or the request names something that does not exist.',
    remedy: 'Check the identifier. If it is in the body, `errors` names the field.',
    retry: 'Once what is missing is there, yes, with the same idempotency key: a refusal does not use it up.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method Not Allowed',
    meaning: 'The resource exists, but not with this method.',
    remedy: 'Use one of the methods in the header `Allow`.',
    retry: 'Not with this method.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The request contradicts what is there: it exists already, or its state does not permit the change.',
    remedy: 'Read the resource and decide again.',
    retry:
      'Not as it is: while the state stays, the answer does. The idempotency key may be used again: a refusal does not use it up.',
  },
  'payload-too-large': {
    status: 413,
    title: 'Payload Too Large',
    meaning: 'The body is larger than 1,048,576 bytes.',
    remedy: 'Send less in one request.',
    retry: 'Not as it is. In smaller parts, yes; nothing was done.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported Media Type',
    meaning: 'The body is not declared as `application/json`, or it is compressed.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
    retry: 'With the right headers, yes, with the same idempotency key: nothing was done under it.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too Many Requests',
    meaning: 'The client has sent more requests, or the account more orders, than the operator allows.',
    remedy:
      'Send fewer: the headers `RateLimit-Policy` and `RateLimit` show the limit and what is left of it. Ask the operator for a higher one.',
    retry:
      'Yes, not before `Retry-After` (seconds), with the same idempotency key. This request did nothing; an earlier one may have used the key.',
  },
  'shard-unavailable': {
    status: 503,
    title: 'Service Unavailable',
    meaning: 'The shard that decides this request has no owner at this moment, or is overloaded.',
    remedy:
      'Wait and try again. `outcome`, if present, says whether the request was applied: `not_applied` is proved, `unknown` means that it may have been applied.',
    retry:
      'Yes: with exponential back-off, not before `Retry-After` (seconds), and with the same idempotency key, so that whatever happened happens once.',
  },
  'downstream-failure': {
    status: 503,
    title: 'Service Unavailable',
    meaning: 'Something that the service depends on is not available at this moment.',
    remedy:
      'Wait and try again. `outcome`, if present, says whether the request was applied: `not_applied` is proved, `unknown` means that it may have been applied.',
    retry:
      'Yes: with exponential back-off, not before `Retry-After` (seconds), and with the same idempotency key, so that whatever happened happens once.',
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string; remedy: string; retry: string }>

export type ProblemType = keyof typeof PROBLEM_TYPES

export type ErrorCode = keyof typeof ERROR_CODES

/** The codes that a problem of this type may carry. */
export type CodeOf<T extends ProblemType> = {
  [C in ErrorCode]: T extends (typeof ERROR_CODES)[C]['types'][number] ? C : never
}[ErrorCode]

/** One thing that is wrong with one part of a request. */
export interface FieldError {
  readonly field: string
  readonly message: string
}

/** A field error with its code. */
export interface Invalid extends FieldError {
  readonly code: ErrorCode
}

/** Whether a request that got no verdict can have changed the ledger (D8). */
export type UnansweredOutcome = 'not_applied' | 'unknown'

/** The expected key and payload: they distinguish a wrong key from a wrong canonical form. */
export interface SignatureExpectation {
  /** undefined: the account has no key. */
  readonly keyId: string | undefined
  /** SHA-256 of the canonical payload, in hexadecimal. */
  readonly payloadHash: string
}

export interface Problem {
  readonly kind: 'problem'
  readonly type: ProblemType
  readonly detail: string
  readonly codes: readonly ErrorCode[]
  readonly errors: readonly FieldError[] | null
  readonly outcome: UnansweredOutcome | null
  /** Set for a signature mismatch. */
  readonly signed?: SignatureExpectation
  readonly headers: Readonly<Record<string, string>>
}

/** Seconds a client should let pass before it asks again: a planned move of a shard takes less. */
const RETRY_AFTER_S = '1'

export function problem<T extends ProblemType>(
  type: T,
  code: CodeOf<T>,
  detail: string,
  errors: readonly FieldError[] | null = null,
): Problem {
  const headers: Record<string, string> = PROBLEM_TYPES[type].status === 503 ? { 'retry-after': RETRY_AFTER_S } : {}
  return { kind: 'problem', type, detail, codes: [code], errors, outcome: null, headers }
}

/** The most errors that a problem lists (P4). A collector may stop once there are more. */
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

/** `challenge`: the RFC 6750 error; none if the request had no token. */
export function unauthorized(detail: string, challenge: 'invalid_token' | null = null): Problem {
  const authenticate = challenge === null ? 'Bearer realm="ledger"' : `Bearer realm="ledger", error="${challenge}"`
  return { ...problem('unauthorized', 'ERR_UNAUTHORIZED', detail), headers: { 'www-authenticate': authenticate } }
}

/** `roles`: the permitted roles, at least one. */
export function roleForbidden(role: Role, roles: readonly Role[]): Problem {
  const detail = `The client has the role ${role}. This needs the role ${roles.join(' or ')}.`
  return problem('forbidden', 'ERR_FORBIDDEN', detail)
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

/** The request of a problem. */
export interface ProblemRequest {
  readonly errorBase: string
  /** The path of the request as it was sent, percent-encoded. */
  readonly instance: string
  /** As in the header `X-Request-Id` of the response. */
  readonly requestId: string
}

/** The problem's JSON. */
export function renderProblem(refused: Problem, request: ProblemRequest): Reply {
  const { status } = PROBLEM_TYPES[refused.type]
  const reply = jsonReply(status, problemMembers(refused, request), refused.headers)
  return { ...reply, contentType: 'application/problem+json' }
}

export function problemMembers(refused: Problem, { errorBase, instance, requestId }: ProblemRequest) {
  const { status, title } = PROBLEM_TYPES[refused.type]
  return {
    type: `${errorBase}/${refused.type}`,
    title,
    status,
    detail: refused.detail,
    instance,
    request_id: requestId,
    ...(refused.errors === null ? {} : { errors: refused.errors }),
    error_codes: refused.codes,
    ...(refused.outcome === null ? {} : { outcome: refused.outcome }),
    ...(refused.signed === undefined ? {} : signedMembers(refused.signed)),
  }
}

function signedMembers({ keyId, payloadHash }: SignatureExpectation) {
  return { ...(keyId === undefined ? {} : { key_id: keyId }), payload_digest: showHash(payloadHash) }
}
