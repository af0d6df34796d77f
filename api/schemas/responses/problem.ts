/** Every 'no' of the service (RFC 9457, D14). */
import * as v from 'valibot'
import { PROBLEM_TYPES } from '../../problem.ts'
import { text } from './values.ts'

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
  errors: v.exactOptional(v.pipe(v.array(v.object({ field: text, message: text })), v.minLength(1), v.maxLength(100))),
  error_codes: v.pipe(v.array(v.pipe(v.string(), v.regex(/^ERR_[A-Z]+(_[A-Z]+)*$/))), v.minLength(1)),
  outcome: v.exactOptional(v.picklist(['not_applied', 'unknown'])),
})
