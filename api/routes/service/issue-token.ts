/** POST /v1/auth/token: the only endpoint under /v1 that asks for no token (D17). */
import type { EdgeContext, PublicCall, PublicEndpoint } from '../../endpoint/route.ts'
import { readAnyJsonBody } from '../../http/body.ts'
import { downstreamFailure, invalidProblem, type Problem, problem, unauthorized } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { readTokenRequest, tokenRequestSchema, tokenResponse } from '../../schemas/requests/token-request.ts'

export const issueToken: PublicEndpoint<EdgeContext> = {
  id: 'issueToken',
  method: 'POST',
  path: '/v1/auth/token',
  summary: 'Get an access token',
  description: `For the credentials of a client, or for a refresh token.

An access token lives for \`expires_in\` seconds; when it has expired, send the refresh token instead of the secret. A refresh token works once: each answer brings the next one. A refresh token that is used again after more than 10 seconds counts as stolen: all tokens that came from the same sign-in are revoked.

The body is JSON, as in every request: the form that OAuth libraries send (\`application/x-www-form-urlencoded\`) is 415. Configure the library to send JSON, or request the token without it.

A client that does not exist and a secret that is wrong get the same answer. After 20 failures a minute the answer is delayed; the right secret always gets in.`,
  roles: null,
  body: tokenRequestSchema,
  answers: [{ status: 200, description: 'The tokens.', content: tokenResponse }],
  refusals: {
    ERR_UNAUTHORIZED: 'The client, the secret or the refresh token is not good, or was used up or revoked.',
    ERR_OVERLOADED: 'Too many logins are in progress, from this network or in total.',
  },
  async handle({ clientAddress, clockTrusted, failureThrottle, refusalLog, settings, tokenGrants }, call) {
    // An untrusted clock cannot tell when the token would expire (E4).
    if (!clockTrusted()) return downstreamFailure()
    const body = await readAnyJsonBody(call.http.req.raw, { maxParts: MAX_PARTS })
    if (!body.ok) return withFormAdvice(body.error)
    const read = readTokenRequest(body.value.body)
    if (!read.ok) return invalidProblem('validation-error', read.error)
    const request = read.value
    const address = clientAddress(peerOf(call), call.http.req.header('x-forwarded-for'))
    const granted =
      request.kind === 'credentials'
        ? await tokenGrants.forCredentials(request.clientId, request.clientSecret, address)
        : await tokenGrants.forRefreshToken(request.refreshToken, address)
    if (granted.kind === 'overloaded') {
      refusalLog.note('overloaded', address)
      return problem(
        'downstream-failure',
        'ERR_OVERLOADED',
        'Too many logins are in progress, from this network or in total. Retry later.',
      )
    }
    if (granted.kind === 'refused') {
      refusalLog.note(granted.cause, address)
      await failureThrottle.failed(request.kind === 'credentials' ? request.clientId : NO_CLIENT, address)
      return unauthorized('The credentials are not valid.')
    }
    refusalLog.flush()
    return jsonReply(200, {
      access_token: granted.tokens.accessToken,
      token_type: 'Bearer',
      expires_in: Math.floor(settings.accessTokenTtlMs / 1000),
      refresh_token: granted.tokens.refreshToken,
    })
  },
}

/** A hundred members: the caller is not authenticated yet, so reading the body must cost little (B3). */
const MAX_PARTS = 200
/** Stands for the client in the count of failed refreshes, which name none; no client's name is empty. */
const NO_CLIENT = ''

/** OAuth libraries send a form (RFC 6749, 4.4.2) by default. */
const FORM_ADVICE =
  'Send the credentials as JSON in the body, for example {"client_id": "...", "client_secret": "..."}; a form (application/x-www-form-urlencoded) is not accepted.'

function withFormAdvice(refused: Problem): Problem {
  const isUnsupported = refused.type === 'unsupported-media-type'
  return isUnsupported ? { ...refused, detail: `${refused.detail} ${FORM_ADVICE}` } : refused
}

/** The part of Node's connection that is used here. */
interface NodeBindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
}

function peerOf(call: PublicCall): string {
  const bindings = call.http.env as NodeBindings | undefined
  return bindings?.incoming?.socket?.remoteAddress ?? ''
}
