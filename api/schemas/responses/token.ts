/** What POST /v1/auth/token answers (D17). */
import * as v from 'valibot'
import { text } from './values.ts'
import { define } from '../named-schema.ts'

export const tokenResponse = define('Tokens', 'An access token, and what the next one is got with.', {
  access_token: [
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)),
    'A JWT (RFC 9068), to be sent as `Authorization: Bearer <access_token>`. Opaque to clients.',
  ],
  token_type: [v.literal('Bearer'), 'Always `Bearer`.'],
  expires_in: [v.pipe(v.number(), v.integer(), v.minValue(1)), 'How many seconds the access token lives.'],
  refresh_token: [text, 'Good once, for 30 days.'],
})
