/** How clients get tokens (D17). */
import { tokenResponse } from '../schemas/responses/token.ts'
import { credentialsSchema, refreshSchema, tokenRequestSchema } from '../schemas/token-request.ts'
import type { Tag } from '../endpoint/operation.ts'
import { ISSUE_TOKEN } from '../routes/service/issue-token.ts'

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
  operations: [ISSUE_TOKEN],
}
