/** POST /v1/accounts: registers an account with its public key (D2). */
import { accountAddress } from '../../actors/address.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem } from '../problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../refusals.ts'
import { readRegistrationKey } from '../registration-key.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../route.ts'
import { readRegistration } from '../schemas/account.ts'
import { repeatHeaders } from '../signed-body.ts'
import { unexpectedAnswer } from '../unexpected-answer.ts'
import { accountMembers } from '../views.ts'

export function createAccount({ gateway, readPublicKey, jwkOf }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/accounts',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle({ http, caller, scope, trail }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const { registrationKey, keyErrors } = readRegistrationKey(http)
      const registration = readRegistration(body.value, readPublicKey)
      const invalid = [...keyErrors, ...(registration.ok ? [] : registration.error)]
      if (!registration.ok || invalid.length > 0) return invalidProblem('validation-error', invalid)
      const { accountId, key } = registration.value
      if (!scope.includes(accountId)) return noSuchAccount()
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
  }
}
