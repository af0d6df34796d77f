/** POST /v1/settlement-groups/{id}/decline: an account declines its legs, and the group reverts (D10). */
import { accountAddress } from '../../../actors/address.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkGroupId } from '../../endpoint/path-values.ts'
import { invalidProblem } from '../../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { readDecline } from '../../schemas/settlement-group.ts'
import { carriedSignature, signedPayload } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'

export function declineSettlementGroup({ gateway, isSignature }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/settlement-groups/:groupId/decline',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const groupId = pathValue(call, 'groupId').toLowerCase()
      const illFormed = checkGroupId(groupId)
      if (illFormed !== undefined) return illFormed
      const decline = readDecline(body.value, groupId)
      if (!decline.ok) return invalidProblem('validation-error', decline.error)
      const { account_id: accountId, signature } = decline.value
      if (!call.scope.includes(accountId)) return noSuchAccount()
      const payload = signedPayload(body.value, ['signature'])
      const outcome = await gateway.ask({
        actor: accountAddress(accountId),
        caller: call.caller,
        trail: call.trail,
        operation: { kind: 'decline_legs', payload, signature: carriedSignature(signature) },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return signedRefusal(answer, { payload, signature }, isSignature)
      if (answer.kind !== 'legs_declined') return unexpectedAnswer(answer)
      const location = `/v1/settlement-groups/${groupId}`
      return jsonReply(202, { group_id: groupId, account_id: accountId, declined: true }, { location })
    },
  }
}
