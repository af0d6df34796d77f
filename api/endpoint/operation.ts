/** How an endpoint is described: what its route does not say by itself. From it the document is built. */
import type { GenericSchema } from 'valibot'
import type { Role } from '../../actors/account/commands.ts'
import type { ErrorCode } from '../http/problem.ts'

/** The headers of answers, as the document describes them. */
export const HEADERS = {
  'X-Request-Id': 'The ID of the request: the one that the client gave, or a new one. Quote it when you ask for help.',
  Location: 'The address of what was created.',
  'Idempotency-Replayed': '`true`: this is the answer that an earlier request got; nothing was done again.',
  'Idempotency-Payload-Mismatch': '`true`: the key belongs to an earlier request with another payload.',
  'Preference-Applied': 'How long the service was ready to wait: `wait=N`, in seconds.',
  'RateLimit-Policy':
    'The limits of the client and, after a refusal by it, of the account: `q` tokens for `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
  RateLimit: 'The tokens that are left (`r`), and the seconds until all are there again (`t`).',
  'X-Total-Count-Relation': '`gte`: `total_count` is a lower bound.',
  ETag: 'Changes when the content does. Sent back as `If-None-Match`, it is answered 304 while it has not.',
  'Retry-After': 'Seconds to let pass before the next attempt.',
  'WWW-Authenticate': 'The scheme that is expected, and what is wrong with the token (RFC 6750).',
} as const

export type AnswerHeader = keyof typeof HEADERS

/** Texts are CommonMark, of which the documentation page knows paragraphs, lists and code. */
export interface Operation {
  /** Names the operation in clients that are generated from the document: never renamed. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As the route has it. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Roles that may call; null: no token is needed. */
  readonly roles: readonly Role[] | null
  /** Set if the operation changes something: who decides on the change. A 503 then carries `outcome` (D8). */
  readonly changes?: 'shard' | 'store'
  readonly parameters?: readonly Parameter[]
  /** Named by a tag. */
  readonly body?: GenericSchema
  readonly answers: readonly AnswerDescription[]
  /** Codes beyond those that follow from the rest of the description, with what they mean here; '': what they mean anywhere. */
  readonly refusals?: Readonly<Partial<Record<ErrorCode, string>>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'header'
  readonly required?: true
  readonly description: string
  readonly schema: GenericSchema
}

export interface AnswerDescription {
  readonly status: number
  readonly description: string
  /** Of JSON, named by a tag; or a media type, of whose content no more is said. */
  readonly content: GenericSchema | string | null
  /** The schema of a line, where `Accept` can ask for lines of JSON; named by a tag. */
  readonly lines?: GenericSchema
  /** Another media type that `Accept` can ask for, of whose content no more is said. */
  readonly text?: string
  /** Beyond those that every answer has. */
  readonly headers?: readonly AnswerHeader[]
}
