/** Every 'no' of the service (RFC 9457, D14). */
import * as v from 'valibot'
import { ERROR_CODES } from '../../http/error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES } from '../../http/problem.ts'
import { keyId, sha256, text } from '../values.ts'
import { define } from '../named-schema.ts'

const codes = Object.keys(ERROR_CODES) as readonly ErrorCode[]
const statuses = [...new Set(Object.values(PROBLEM_TYPES).map(({ status }) => status))].sort((a, b) => a - b)

export const problemResponse = define('Problem', 'Why a request was refused, or could not be answered (RFC 9457).', {
  type: [
    v.pipe(
      v.string(),
      v.regex(new RegExp(`/(${Object.keys(PROBLEM_TYPES).join('|')})$`)),
      v.metadata({ format: 'uri' }),
    ),
    'Which kind of problem this is: an address that explains it.',
  ],
  title: [text, 'The kind of problem in words.'],
  status: [v.picklist(statuses), 'The HTTP status.'],
  detail: [text, 'An explanation of this occurrence.'],
  instance: [v.pipe(v.string(), v.regex(/^\//)), 'The path of the request as it was sent, percent-encoded.'],
  request_id: [
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{1,64}$/)),
    'The ID of the request, as in the header `X-Request-Id`. Quote it in a support request.',
  ],
  errors: [
    v.exactOptional(v.pipe(v.array(v.object({ field: v.string(), message: text })), v.minLength(1), v.maxLength(100))),
    'Each part of the request that is wrong: in every 400, and where a body names what does not exist. At most 100.',
  ],
  error_codes: [v.pipe(v.array(v.picklist(codes)), v.minLength(1)), 'For programs: every code that applies.'],
  outcome: [
    v.exactOptional(v.picklist(['not_applied', 'unknown'])),
    'In a 503 to a request that changes the ledger: `not_applied` is proved, `unknown` is not. Retry both with the same key.',
  ],
  key_id: [
    v.exactOptional(keyId),
    'For a signature mismatch: the key expected to sign. Absent if the account has no key.',
  ],
  payload_digest: [
    v.exactOptional(sha256),
    'For a signature mismatch: the SHA-256 of the canonical payload that the service computed. If it differs from yours, the canonical forms differ.',
  ],
})
