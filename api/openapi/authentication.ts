/** How clients get tokens (D17). */
import { tokenResponse } from '../schemas/responses/token.ts'
import { credentialsSchema, refreshSchema, tokenRequestSchema } from '../schemas/token-request.ts'
import type { Operation, Tag } from './model/operation.ts'

export const issueToken: Operation = {
  id: 'issueToken',
  method: 'POST',
  path: '/v1/auth/token',
  summary: 'Get an access token',
  description: `For the credentials of a client, or for a refresh token.

An access token lives for \`expires_in\` seconds; when it has expired, send the refresh token instead of the secret. A refresh token works once: each answer brings the next one. One that comes back 10 seconds after its use or later has been stolen from somebody: all tokens that came from the same sign-in are revoked.

The body is JSON, as in every request: the form that OAuth libraries send (\`application/x-www-form-urlencoded\`) is 415. Configure the library to send JSON, or request the token without it.

A client that does not exist and a secret that is wrong get the same answer. After 20 failures a minute the answer is delayed; the right secret always gets in.`,
  roles: null,
  body: tokenRequestSchema,
  answers: [{ status: 200, description: 'The tokens.', content: tokenResponse }],
  refusals: {
    ERR_UNAUTHORIZED: 'The client, the secret or the refresh token is not good, or was used up or revoked.',
    ERR_OVERLOADED: 'Too many logins are in progress, from this network or in total.',
  },
}

export const AUTHENTICATION: Tag = {
  name: 'Authentication',
  description:
    'Tokens for clients. The operator provisions `client_id`, `client_secret` and one role: `viewer` reads everything, `transactor` submits too, `admin` may do all.',
  schemas: {
    CredentialsRequest: {
      schema: credentialsSchema,
      description: 'A client asks with its secret.',
      fields: {
        client_id: 'The client, as the operator named it.',
        client_secret: 'Its secret.',
        grant_type: 'May be left out.',
      },
    },
    RefreshRequest: {
      schema: refreshSchema,
      description: 'A client asks with the refresh token that it got last.',
      fields: { grant_type: 'Says that this is a refresh.', refresh_token: 'The last refresh token.' },
    },
    TokenRequest: { schema: tokenRequestSchema, description: 'One of the two forms. Further fields are ignored.' },
    Tokens: {
      schema: tokenResponse,
      description: 'An access token, and what the next one is got with.',
      fields: {
        access_token: 'A JWT (RFC 9068), to be sent as `Authorization: Bearer <access_token>`. Opaque to clients.',
        token_type: 'Always `Bearer`.',
        expires_in: 'How many seconds the access token lives.',
        refresh_token: 'Good once, for 30 days.',
      },
    },
  },
  operations: [issueToken],
}
