/** POST /v1/auth/token: the only endpoint under /v1 that asks for no token (D17). */
import type { EdgeContext, PublicCall, PublicEndpoint } from '../../endpoint/route.ts'
import { readAnyJsonBody } from '../../http/body.ts'
import { downstreamFailure, invalidProblem, type Problem, problem, unauthorized } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { clientNamedInAssertion } from '../../auth/client-assertions.ts'
import { TOKEN_PATH, type TokenGrant } from '../../auth/token-grants.ts'
import {
  readTokenRequest,
  type TokenRequest,
  tokenRequestSchema,
  tokenResponse,
} from '../../schemas/requests/token-request.ts'

export const issueToken: PublicEndpoint<EdgeContext> = {
  id: 'issueToken',
  method: 'POST',
  path: TOKEN_PATH,
  summary: 'Get an access token',
  description: `For the credentials of a client, for an assertion that it signs with its key, or for a refresh token.

An access token lives for \`expires_in\` seconds; when it has expired, send the refresh token instead of the secret. A refresh token works once: each answer brings the next one. A refresh token that is used again after more than 10 seconds counts as stolen: all tokens that came from the same sign-in are revoked.

The body is JSON, as in every request: the form that OAuth libraries send (\`application/x-www-form-urlencoded\`) is 415. Configure the library to send JSON, or request the token without it.

A client with a key sends \`client_assertion\` (\`private_key_jwt\`: RFC 7523, OpenID Connect Core 9) in place of a secret: a JWT with \`alg\` \`ES256\`, \`iss\` and \`sub\` the client ID, \`aud\` alone either \`urn:ledger:<ledger_id>\` or the URL of this endpoint, \`exp\` at most 5 minutes ahead, and a \`jti\` of at most 256 characters that was never used before. An assertion works once, whatever edge receives it.

A client that does not exist and a secret that is wrong or an assertion that is not valid get the same answer. After 20 failures a minute the answer is delayed; the right secret always gets in.`,
  roles: null,
  body: tokenRequestSchema,
  answers: [{ status: 200, description: 'The tokens.', content: tokenResponse }],
  refusals: {
    ERR_UNAUTHORIZED:
      'The client, the secret, the assertion or the refresh token is not good, or was used up or revoked.',
    ERR_OVERLOADED:
      'Too many logins are in progress, from this network or in total, or the client has begun too many sessions lately.',
  },
  async handle(context, call) {
    const { clientAddress, clockTrusted, failureThrottle, refusalLog, settings } = context
    // An untrusted clock cannot tell when the token would expire (E4).
    if (!clockTrusted()) return downstreamFailure()
    const body = await readAnyJsonBody(call.http.req.raw, { maxParts: MAX_PARTS })
    if (!body.ok) return withFormAdvice(body.error)
    const read = readTokenRequest(body.value.body)
    if (!read.ok) return invalidProblem('validation-error', read.error)
    const request = read.value
    const address = clientAddress(peerOf(call), call.http.req.header('x-forwarded-for'))
    const granted = await grantFor(request, address, context)
    if (granted.kind === 'overloaded') {
      refusalLog.note('overloaded', address)
      return problem(
        'downstream-failure',
        'ERR_OVERLOADED',
        'Too many logins are in progress, from this network or in total, or the client has begun too many sessions lately. Retry later.',
      )
    }
    if (granted.kind === 'refused') {
      refusalLog.note(granted.cause, address)
      await failureThrottle.failed(clientNamedIn(request), address)
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

function grantFor(request: TokenRequest, address: string, { tokenGrants }: EdgeContext): Promise<TokenGrant> {
  switch (request.kind) {
    case 'credentials':
      return tokenGrants.forCredentials(request.clientId, request.clientSecret, address)
    case 'assertion':
      return tokenGrants.forAssertion(request.assertion, address)
    case 'refresh':
      return tokenGrants.forRefreshToken(request.refreshToken, address)
  }
}

/** For the count of failures. Empty for a refresh token: no client's name is empty. */
function clientNamedIn(request: TokenRequest): string {
  switch (request.kind) {
    case 'credentials':
      return request.clientId
    case 'assertion':
      return clientNamedInAssertion(request.assertion)
    case 'refresh':
      return ''
  }
}

/** A hundred members: the caller is not authenticated yet, so reading the body must cost little (B3). */
const MAX_PARTS = 200

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
