/** The two forms of POST /v1/auth/token (D17). Fields beyond them are ignored. */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../http/problem.ts'
import { unsignedOptional } from './fields.ts'
import { objectMessage, schemaErrors } from '../http/invalid.ts'

export type TokenRequest =
  | { readonly kind: 'credentials'; readonly clientId: string; readonly clientSecret: string }
  | { readonly kind: 'refresh'; readonly refreshToken: string }

const TEXT_RULE = 'must be a string that is not empty'
const textField = v.pipe(v.string(TEXT_RULE), v.nonEmpty(TEXT_RULE))

export const credentialsSchema = v.object(
  { client_id: textField, client_secret: textField, grant_type: unsignedOptional(v.literal('client_credentials')) },
  objectMessage,
)
export const refreshSchema = v.object(
  { grant_type: v.literal('refresh_token'), refresh_token: textField },
  objectMessage,
)
/** The field `grant_type` decides between the two. */
export const tokenRequestSchema = v.union([credentialsSchema, refreshSchema])

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
  const invalid = schemaErrors(credentialsSchema, body)
  if (invalid.length > 0) return refuse(invalid)
  const { client_id: clientId, client_secret: clientSecret } = body as v.InferOutput<typeof credentialsSchema>
  return ok({ kind: 'credentials', clientId, clientSecret })
}
