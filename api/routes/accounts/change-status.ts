/** POST /v1/accounts/{id}/status: freezes, closes, opens again, or says what the account takes in (D2). */
import { accountAddress } from '../../../actors/address.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { ADMINS, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { readStatusChange } from '../../schemas/account.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'

export function changeStatus(dependencies: EdgeDependencies): GuardedRoute {
  const { gateway, jwkOf } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/accounts/:accountId/status',
    roles: ADMINS,
    asksLedger: true,
    handle: idempotent(dependencies, {
      judgePath: (call) => checkAccountId(pathValue(call, 'accountId')),
      read: (body) => readStatusChange(body),
      find: (_change, call) => (call.scope.includes(pathValue(call, 'accountId')) ? undefined : noSuchAccount()),
      async run({ status = null, incoming = null, reason }, call, registrationKey) {
        const outcome = await gateway.ask({
          actor: accountAddress(pathValue(call, 'accountId')),
          caller: call.caller,
          trail: call.trail,
          operation: {
            kind: 'change_status',
            status,
            incoming,
            reason,
            ...(registrationKey === null ? {} : { registrationKey }),
          },
        })
        if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
        const { answer } = outcome
        if (answer.kind === 'refused') return refusalProblem(answer)
        if (answer.kind !== 'status_changed') return unexpectedAnswer(answer)
        return jsonReply(200, accountMembers(answer.account, jwkOf))
      },
    }),
  }
}
