/** Every 'no' of the service (RFC 9457, D14). */
import * as v from 'valibot'
import { ERROR_CODES } from '../../http/error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES } from '../../http/problem.ts'
import { keyId, sha256, text } from './values.ts'

const codes = Object.keys(ERROR_CODES) as readonly ErrorCode[]
const statuses = [...new Set(Object.values(PROBLEM_TYPES).map(({ status }) => status))].sort((a, b) => a - b)

export const problemResponse = v.object({
  type: v.pipe(
    v.string(),
    v.regex(new RegExp(`/(${Object.keys(PROBLEM_TYPES).join('|')})$`)),
    v.metadata({ format: 'uri' }),
  ),
  title: text,
  status: v.picklist(statuses),
  detail: text,
  instance: v.pipe(v.string(), v.regex(/^\//)),
  request_id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{1,64}$/)),
  errors: v.exactOptional(
    v.pipe(v.array(v.object({ field: v.string(), message: text })), v.minLength(1), v.maxLength(100)),
  ),
  error_codes: v.pipe(v.array(v.picklist(codes)), v.minLength(1)),
  outcome: v.exactOptional(v.picklist(['not_applied', 'unknown'])),
  key_id: v.exactOptional(keyId),
  payload_digest: v.exactOptional(sha256),
})
