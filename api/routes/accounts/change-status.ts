/** POST /v1/accounts/{id}/status: freezes, closes or activates an account, or sets its `incoming` policy (D2). */
import { ADMINS, guarded, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { checkAccountId } from '../../endpoint/path-values.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { readStatusChange, statusSchema } from '../../schemas/account.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'

export const CHANGE_STATUS: Operation = {
  id: 'changeStatus',
  method: 'POST',
  path: '/v1/accounts/:accountId/status',
  summary: 'Freeze, close or reopen an account',
  description: `At least one of \`status\` and \`incoming\`; what is left out stays. The same values again change nothing and are a 200.

- \`frozen\`: it may only receive; its own orders fail. Earlier legs settle or revert as usual.
- \`closed\`: final. The account must have no balances, NFTs, pending transactions or reserved value, and no legs that its own client expects. Legs that other clients expect are declined.
- \`incoming: refuse\`: transfers to it fail.`,
  roles: ADMINS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: statusSchema,
  answers: [
    {
      status: 200,
      description: 'The current account.',
      content: accountResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: { ERR_CONFLICT: 'The account is closed, or is to be closed and is not empty.' },
}

export function changeStatus(dependencies: EdgeDependencies): GuardedRoute {
  const { gateway, jwkOf } = dependencies
  return {
    ...guarded(CHANGE_STATUS),
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
