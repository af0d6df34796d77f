/** The three forms of POST /v1/auth/token, and its response (D17). Fields beyond them are ignored. */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import { ASSERTION_TYPE } from '../../auth/client-assertions.ts'
import { unsignedOptional } from '../fields.ts'
import { schemaErrors } from '../../http/invalid.ts'
import { define, named } from '../named-schema.ts'
import { text } from '../values.ts'

export type TokenRequest =
  | { readonly kind: 'credentials'; readonly clientId: string; readonly clientSecret: string }
  | { readonly kind: 'assertion'; readonly assertion: string }
  | { readonly kind: 'refresh'; readonly refreshToken: string }

const TEXT_RULE = 'must be a string that is not empty'
const textField = v.pipe(v.string(TEXT_RULE), v.nonEmpty(TEXT_RULE))

export const credentialsSchema = define('CredentialsRequest', 'A client asks with its secret.', {
  client_id: [textField, 'The client, as the operator named it.'],
  client_secret: [textField, 'Its secret.'],
  grant_type: [unsignedOptional(v.literal('client_credentials')), 'May be left out.'],
})
export const assertionSchema = define(
  'ClientAssertionRequest',
  'A client asks with an assertion that its key has signed.',
  {
    client_assertion_type: [v.literal(ASSERTION_TYPE), 'Says that this is a JWT.'],
    client_assertion: [textField, 'The signed JWT.'],
    grant_type: [unsignedOptional(v.literal('client_credentials')), 'May be left out.'],
  },
)
export const refreshSchema = define('RefreshRequest', 'A client asks with the refresh token that it got last.', {
  grant_type: [v.literal('refresh_token'), 'Says that this is a refresh.'],
  refresh_token: [textField, 'The last refresh token.'],
})
/** The fields `grant_type` and `client_assertion` decide between them. */
export const tokenRequestSchema = named(
  'TokenRequest',
  'One of the three forms. Further fields are ignored.',
  v.union([credentialsSchema, assertionSchema, refreshSchema]),
)

export function readTokenRequest(body: JsonObject): Result<TokenRequest, readonly Invalid[]> {
  const grantType = body['grant_type'] ?? 'client_credentials'
  if (grantType === 'refresh_token') {
    const invalid = schemaErrors(refreshSchema, body)
    if (invalid.length > 0) return refuse(invalid)
    const { refresh_token: refreshToken } = body as v.InferOutput<typeof refreshSchema>
    return ok({ kind: 'refresh', refreshToken })
  }
  if (grantType !== 'client_credentials') {
    const message = 'must be refresh_token or client_credentials'
    return refuse([{ field: 'grant_type', code: 'ERR_INVALID_FIELD', message }])
  }
  if (v.is(assertionSchema, body)) return ok({ kind: 'assertion', assertion: body.client_assertion })
  if (body['client_assertion'] !== undefined && body['client_secret'] === undefined) {
    return refuse(schemaErrors(assertionSchema, body))
  }
  const invalid = schemaErrors(credentialsSchema, body)
  if (invalid.length > 0) return refuse(invalid)
  const { client_id: clientId, client_secret: clientSecret } = body as v.InferOutput<typeof credentialsSchema>
  return ok({ kind: 'credentials', clientId, clientSecret })
}

export const tokenResponse = define('Tokens', 'An access token, and what the next one is got with.', {
  access_token: [
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)),
    'A JWT (RFC 9068), to be sent as `Authorization: Bearer <access_token>`. Opaque to clients.',
  ],
  token_type: [v.literal('Bearer'), 'Always `Bearer`.'],
  expires_in: [v.pipe(v.number(), v.integer(), v.minValue(1)), 'How many seconds the access token lives.'],
  refresh_token: [text, 'Good once, for 30 days.'],
})
