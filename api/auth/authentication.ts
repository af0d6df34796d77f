/** From the header `Authorization` to what the caller may do, or to the 401 or 503 that stands in place of an answer. */
import { ok, refuse, type Result } from '../../actors/result.ts'
import { downstreamFailure, type Problem, unauthorized } from '../http/problem.ts'
import type { AccessTokens, TokenFault } from './access-tokens.ts'
import type { Grant, Grants } from './grants.ts'

export type Authenticate = (authorization: string | null) => Promise<Result<Grant, Problem>>

/** RFC 6750, 2.1: the scheme in any case, then b64token. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

const DETAILS = {
  malformed: 'The access token is malformed: this ledger issued no such token.',
  expired: 'The access token has expired. Get a new one from POST /v1/auth/token.',
  revoked: 'The access token was revoked.',
} as const satisfies Record<TokenFault, string>

export function createAuthentication(tokens: AccessTokens, grants: Grants): Authenticate {
  return async (authorization) => {
    if (authorization === null) {
      return refuse(unauthorized('The access token is missing: send it as `Authorization: Bearer <token>`.'))
    }
    const presented = BEARER.exec(authorization)?.[1]
    const token = presented === undefined ? refuse('malformed' as const) : await tokens.verify(presented)
    if (!token.ok) return refuse(invalidToken(token.error))
    const grant = await grants.grantOf(token.value.clientId, token.value.sessionId)
    if (grant.ok) return ok(grant.value)
    return refuse(grant.error === 'revoked' ? invalidToken('revoked') : downstreamFailure())
  }
}

function invalidToken(fault: TokenFault): Problem {
  return unauthorized(DETAILS[fault], 'invalid_token')
}
