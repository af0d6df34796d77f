/** POST /v1/accounts: registers an account with its public key (D2). */
import { accountAddress } from '../../../actors/address.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { readRegistration } from '../../schemas/account.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'

export function createAccount(dependencies: EdgeDependencies): GuardedRoute {
  const { gateway, readPublicKey, jwkOf } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/accounts',
    roles: SUBMITTERS,
    asksLedger: true,
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
