/** POST /v1/accounts: registers an account with its public key (D2). */
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { readRegistration, registrationSchema } from '../../schemas/requests/account.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const createAccount: Endpoint = {
  id: 'createAccount',
  method: 'POST',
  path: '/v1/accounts',
  summary: 'Register an account with its public key',
  description: `The private key never leaves the holder; every order of the account is signed with it.

The public key is a JWK, a PEM (SPKI), or base64url of a SEC1 point or of DER SPKI. The same account with the same key again is a 200, with another key a 409. An account that came into being without a key, as the issuer of a token, gets its key here, from the client that named it or from an administrator.`,
  roles: SUBMITTERS,
  changes: 'shard',
  administrative: ['public_key'],
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: registrationSchema,
  answers: [
    {
      status: 201,
      description: 'The account is registered, or has its key now.',
      content: accountResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
    { status: 200, description: 'It was registered with this key before.', content: accountResponse },
  ],
  refusals: {
    ERR_CONFLICT: 'The ID is registered with another key, or is another client’s to claim.',
    ERR_NOT_FOUND: 'The client is scoped to accounts, and this is none of them.',
  },
  handle: bodyEndpoint({
    read: (body, { readPublicKey }) => readRegistration(body, readPublicKey),
    find: ({ accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
    run({ accountId, key }, context, call) {
      const operation = { kind: 'register', key, registrationKey: call.registrationKey } as const
      const request = { actor: accountAddress(accountId), operation }
      return askLedger(context, call, request, 'registered', (answer) =>
        jsonReply(answer.created ? 201 : 200, accountMembers(answer.account, context.jwkOf), {
          ...(answer.created ? { location: `/v1/accounts/${encodeURIComponent(accountId)}` } : {}),
          ...repeatHeaders(answer),
        }),
      )
    },
  }),
}
