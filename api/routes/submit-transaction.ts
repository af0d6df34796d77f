/** POST /v1/transactions: one signed submission on its way to the owner of its account's shard (D5 to D8). */
import { accountAddress } from '../../actors/address.ts'
import type { SubmissionReceipt } from '../../actors/account/outcome.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem } from '../problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../route.ts'
import { submissionErrors } from '../schemas/submission.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../signed-body.ts'
import { unexpectedAnswer } from '../unexpected-answer.ts'

const NOT_SIGNED = ['signature']

export function submitTransaction({ gateway }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/transactions',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle({ http, caller, scope, trail }) {
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      const invalid = submissionErrors(body.value)
      if (invalid.length > 0) return invalidProblem('validation-error', invalid)
      const { accountId, signature } = addressed(body.value)
      if (!scope.includes(accountId)) return noSuchAccount()
      const outcome = await gateway.ask({
        actor: accountAddress(accountId),
        caller,
        trail,
        operation: {
          kind: 'submit',
          payload: signedPayload(body.value, NOT_SIGNED),
          signature: carriedSignature(signature),
        },
      })
      if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
      const { answer } = outcome
      if (answer.kind === 'refused') return refusalProblem(answer)
      if (answer.kind !== 'accepted') return unexpectedAnswer(answer)
      return jsonReply(202, receiptMembers(answer.receipt), {
        location: `/v1/transactions/${answer.receipt.txnId}`,
        ...repeatHeaders(answer),
      })
    },
  }
}

/** Of a body without errors. */
function addressed(body: JsonObject): { readonly accountId: string; readonly signature: string } {
  return { accountId: body['account_id'] as string, signature: body['signature'] as string }
}

/** `status` is pending whatever has happened since: a repeat says the same, byte for byte. */
function receiptMembers(receipt: SubmissionReceipt): object {
  return {
    txn_id: receipt.txnId,
    account_id: receipt.accountId,
    status: 'pending',
    shard_id: receipt.shardId,
    enqueued_at: isoTimestamp(receipt.enqueuedAtMs),
    ...(receipt.groupId === null ? {} : { group_id: receipt.groupId }),
  }
}
