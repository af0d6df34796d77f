/** The two forms of POST /v1/auth/token (D17). Fields beyond them are ignored. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../problem.ts'

export type TokenRequest =
  | { readonly kind: 'credentials'; readonly clientId: string; readonly clientSecret: string }
  | { readonly kind: 'refresh'; readonly refreshToken: string }

export function readTokenRequest(body: JsonObject): Result<TokenRequest, readonly Invalid[]> {
  const grantType = body['grant_type']
  const invalid: Invalid[] = []
  const text = (field: string): string => {
    const value = body[field]
    if (typeof value === 'string' && value !== '') return value
    const message = value === undefined ? 'is required' : 'must be a string that is not empty'
    invalid.push({ field, code: 'ERR_INVALID_FIELD', message })
    return ''
  }
  if (grantType === 'refresh_token') {
    const refreshToken = text('refresh_token')
    return invalid.length > 0 ? refuse(invalid) : ok({ kind: 'refresh', refreshToken })
  }
  if (grantType !== undefined && grantType !== 'client_credentials') {
    const message = 'must be refresh_token or client_credentials'
    return refuse([{ field: 'grant_type', code: 'ERR_INVALID_FIELD', message }])
  }
  const clientId = text('client_id')
  const clientSecret = text('client_secret')
  return invalid.length > 0 ? refuse(invalid) : ok({ kind: 'credentials', clientId, clientSecret })
}
