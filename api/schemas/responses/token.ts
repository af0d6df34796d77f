/** What POST /v1/auth/token answers (D17). */
import * as v from 'valibot'
import { text } from './values.ts'

export const tokenResponse = v.object({
  access_token: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)),
  token_type: v.literal('Bearer'),
  expires_in: v.pipe(v.number(), v.integer(), v.minValue(1)),
  refresh_token: text,
})
