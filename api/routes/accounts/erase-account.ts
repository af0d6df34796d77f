/** POST /v1/accounts/{id}/erase: destroys what the ledger holds of a closed account (D19). */
import { accountAddress } from '../../../actors/address.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { invalidProblem } from '../../http/problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { ADMINS, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { readReason } from '../../schemas/account.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'

export function eraseAccount({ gateway, jwkOf }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/accounts/:accountId/erase',
    roles: ADMINS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const accountId = pathValue(call, 'accountId')
      const illFormed = checkAccountId(accountId)
      if (illFormed !== undefined) return illFormed
      const erasure = readReason(body.value)
      if (!erasure.ok) return invalidProblem('validation-error', erasure.error)
      if (!call.scope.includes(accountId)) return noSuchAccount()
      const outcome = await gateway.ask({
        actor: accountAddress(accountId),
        caller: call.caller,
        trail: call.trail,
        operation: { kind: 'erase', reason: erasure.value.reason },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return refusalProblem(answer)
      if (answer.kind !== 'status_changed') return unexpectedAnswer(answer)
      return jsonReply(200, accountMembers(answer.account, jwkOf))
    },
  }
}
