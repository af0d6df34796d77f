/** POST /v1/settlement-groups/{id}/decline: an account declines its legs, and the group reverts (D10). */
import { guarded, type GuardedRoute, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { checkGroupId } from '../../endpoint/path-values.ts'
import { invalidProblem } from '../../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { declineSchema, readDecline } from '../../schemas/settlement-group.ts'
import { carriedSignature, signedPayload } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { declinedGroupResponse } from '../../schemas/responses/settlement-group.ts'
import type { Operation } from '../../endpoint/operation.ts'

export const DECLINE_SETTLEMENT_GROUP: Operation = {
  id: 'declineSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups/:groupId/decline',
  summary: 'Decline a settlement group',
  description: `The account declines the legs that a group expects of it, and the group reverts. The account’s key signs all fields but \`signature\`. The request is idempotent. An account cannot decline a leg that it has signed.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: declineSchema,
  answers: [
    { status: 202, description: 'The legs are declined.', content: declinedGroupResponse, headers: ['Location'] },
  ],
  refusals: {
    ERR_NOT_FOUND: 'There is no such account, or no open group of this ID and terms expects a leg of it.',
    ERR_CONFLICT: 'The account has signed its leg, or is closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_WRONG_LEDGER: 'The request was signed for another ledger; in production `ledger_id` is required.',
  },
}

export function declineSettlementGroup({ gateway, isSignature }: EdgeDependencies): GuardedRoute {
  return {
    ...guarded(DECLINE_SETTLEMENT_GROUP),
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
