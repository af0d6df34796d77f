/** One problem of each type, as a client may meet it: made by what makes the real ones. */
import {
  downstreamFailure,
  invalidProblem,
  notFound,
  type Problem,
  problem,
  type ProblemType,
  roleForbidden,
  unauthorized,
} from '../http/problem.ts'
import { limited } from '../endpoint/request-limit.ts'
import { unavailableProblem } from '../endpoint/refusals.ts'

export interface ProblemExample {
  readonly problem: Problem
  /** The path of the request. */
  readonly instance: string
}

/** Placeholder for the ID of each request. */
export const EXAMPLE_REQUEST_ID = '4bf92f3577b34da6a3ce929d0e0e4736'

const SUBMISSIONS = '/v1/transactions'

export const PROBLEM_EXAMPLES = {
  'invalid-request': {
    instance: SUBMISSIONS,
    problem: invalidProblem('invalid-request', [
      { field: 'page_size', code: 'ERR_INVALID_QUERY', message: 'must be a positive integer' },
    ]),
  },
  'validation-error': {
    instance: SUBMISSIONS,
    problem: invalidProblem('validation-error', [
      {
        field: 'amount',
        code: 'ERR_INVALID_AMOUNT',
        message: 'must be a decimal string above zero with at most 18 integer and 18 fractional digits',
      },
      { field: 'idempotency_key', code: 'ERR_INVALID_IDEMPOTENCY_KEY', message: 'is required' },
    ]),
  },
  unauthorized: {
    instance: SUBMISSIONS,
    problem: unauthorized('The access token has expired. Get a new one from POST /v1/auth/token.', 'invalid_token'),
  },
  forbidden: {
    instance: SUBMISSIONS,
    problem: roleForbidden('viewer', ['transactor', 'admin']),
  },
  'not-found': {
    instance: SUBMISSIONS,
    problem: notFound('There is no such token.', 'token_id'),
  },
  'method-not-allowed': {
    instance: SUBMISSIONS,
    problem: problem('method-not-allowed', 'ERR_METHOD_NOT_ALLOWED', 'The resource has no such method.'),
  },
  conflict: {
    instance: '/v1/fungible-tokens',
    problem: problem('conflict', 'ERR_CONFLICT', 'A token of this symbol is registered already.'),
  },
  'payload-too-large': {
    instance: SUBMISSIONS,
    problem: problem('payload-too-large', 'ERR_PAYLOAD_TOO_LARGE', 'The body is larger than 1048576 bytes.'),
  },
  'unsupported-media-type': {
    instance: SUBMISSIONS,
    problem: problem(
      'unsupported-media-type',
      'ERR_UNSUPPORTED_CONTENT_TYPE',
      'Content-Type must be application/json.',
    ),
  },
  'rate-limited': {
    instance: SUBMISSIONS,
    problem: {
      ...limited('The client may send 50 requests a second, 200 at once; each order of a batch counts as one.', 1_000),
      outcome: 'not_applied',
    },
  },
  'shard-unavailable': {
    instance: SUBMISSIONS,
    problem: unavailableProblem('shard_unavailable', 'not_applied'),
  },
  'downstream-failure': {
    instance: SUBMISSIONS,
    problem: { ...downstreamFailure(), outcome: 'unknown' },
  },
} as const satisfies Record<ProblemType, ProblemExample>
