/** From the header `Authorization` to what the caller may do, or to the 401 or 503 that stands in place of an answer. */
import { ok, refuse, type Result } from '../../actors/result.ts'
import { downstreamFailure, type Problem, unauthorized } from '../problem.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { Grant, Grants } from './grants.ts'

export type Authenticate = (authorization: string | null) => Promise<Result<Grant, Problem>>

/** RFC 6750, 2.1: the scheme in any case, then b64token. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

export function createAuthentication(tokens: AccessTokens, grants: Grants): Authenticate {
  return async (authorization) => {
    if (authorization === null) return refuse(unauthorized('An access token is required.'))
    const presented = BEARER.exec(authorization)?.[1]
    const token = presented === undefined ? undefined : await tokens.verify(presented)
    if (token === undefined) return refuse(invalidToken())
    const grant = await grants.grantOf(token.clientId, token.sessionId)
    if (grant.ok) return ok(grant.value)
    return refuse(grant.error === 'revoked' ? invalidToken() : downstreamFailure())
  }
}

/** One text for all: what is wrong with a token is nobody's business but its owner's. */
function invalidToken(): Problem {
  return unauthorized('The access token is malformed, expired or revoked.', 'invalid_token')
}
