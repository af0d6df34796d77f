/** POST /v1/auth/token: the only endpoint under /v1 that asks for no token (D17). */
import type { FailureThrottle } from '../auth/failure-throttle.ts'
import type { TokenGrants } from '../auth/token-grants.ts'
import { readJsonBody } from '../body.ts'
import { invalidProblem, problem, unauthorized } from '../problem.ts'
import { jsonReply } from '../reply.ts'
import type { PublicCall, PublicRoute } from '../route.ts'
import { readTokenRequest } from '../schemas/token-request.ts'

/** A hundred members; whoever asks has shown nothing yet, so nothing costly is read (B3). */
const MAX_PARTS = 200
/** Stands for the client in the count of failed refreshes, which name none; no client's name is empty. */
const NO_CLIENT = ''

export function issueToken(grants: TokenGrants, throttle: FailureThrottle, accessTokenTtlMs: number): PublicRoute {
  return {
    access: 'public',
    method: 'POST',
    path: '/v1/auth/token',
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw, MAX_PARTS)
      if (!body.ok) return body.error
      const read = readTokenRequest(body.value)
      if (!read.ok) return invalidProblem('validation-error', read.error)
      const request = read.value
      const address = addressOf(call)
      const granted =
        request.kind === 'credentials'
          ? await grants.forCredentials(request.clientId, request.clientSecret, address)
          : await grants.forRefreshToken(request.refreshToken)
      if (granted.kind === 'overloaded') {
        return problem('downstream-failure', 'ERR_OVERLOADED', 'Too many credentials are being checked. Try again.')
      }
      if (granted.kind === 'refused') {
        await throttle.failed(request.kind === 'credentials' ? request.clientId : NO_CLIENT, address)
        return unauthorized('The credentials are not valid.')
      }
      return jsonReply(200, {
        access_token: granted.tokens.accessToken,
        token_type: 'Bearer',
        expires_in: Math.floor(accessTokenTtlMs / 1000),
        refresh_token: granted.tokens.refreshToken,
      })
    },
  }
}

/** What the Node server tells of the connection, as far as it is needed here. */
interface NodeBindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
}

/** The peer of the connection: headers that claim another are the sender's own words. */
function addressOf(call: PublicCall): string {
  const bindings = call.http.env as NodeBindings | undefined
  return bindings?.incoming?.socket?.remoteAddress ?? ''
}
