/** POST /v1/accounts: registers an account with its public key (D2). */
import { guarded, type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { readRegistration, registrationSchema } from '../../schemas/account.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'

export const CREATE_ACCOUNT: Operation = {
  id: 'createAccount',
  method: 'POST',
  path: '/v1/accounts',
  summary: 'Register an account with its public key',
  description: `The private key never leaves the holder; every order of the account is signed with it.

The public key is a JWK, a PEM (SPKI), or base64url of a SEC1 point or of DER SPKI. The same account with the same key again is a 200, with another key a 409. An account that came into being without a key, as the issuer of a token, gets its key here, from the client that named it or from an administrator.`,
  roles: SUBMITTERS,
  changes: 'shard',
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
}

export function createAccount(dependencies: EdgeDependencies): GuardedRoute {
  const { gateway, readPublicKey, jwkOf } = dependencies
  return {
    ...guarded(CREATE_ACCOUNT),
    handle: idempotent(dependencies, {
      read: (body) => readRegistration(body, readPublicKey),
      find: ({ accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
      async run({ accountId, key }, { caller, trail }, registrationKey) {
        const outcome = await gateway.ask({
          actor: accountAddress(accountId),
          caller,
          trail,
          operation: { kind: 'register', key, registrationKey },
        })
        if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
        const { answer } = outcome
        if (answer.kind === 'refused') return refusalProblem(answer)
        if (answer.kind !== 'registered') return unexpectedAnswer(answer)
        return jsonReply(answer.created ? 201 : 200, accountMembers(answer.account, jwkOf), {
          ...(answer.created ? { location: `/v1/accounts/${encodeURIComponent(accountId)}` } : {}),
          ...repeatHeaders(answer),
        })
      },
    }),
  }
}
