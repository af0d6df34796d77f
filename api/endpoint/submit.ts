/** One signed submission on its way to the owner of its account's shard (D5 to D8). */
import { accountAddress } from '../../actors/address.ts'
import type { SubmissionReceipt } from '../../actors/account/outcome.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import { invalidProblem, type Problem } from '../http/problem.ts'
import { noSuchAccount, signedRefusal, unavailableProblem } from './refusals.ts'
import type { GuardedCall } from './route.ts'
import { submissionErrors } from '../schemas/requests/submission.ts'
import { carriedSignature, signedPayload } from '../http/signed-body.ts'
import { unexpectedAnswer } from './ask.ts'

const NOT_SIGNED = ['signature']

/** `replayed`: it is what an earlier request was told; `mismatch`: which had another payload. */
export interface AcceptedSubmission {
  readonly kind: 'accepted'
  readonly receipt: SubmissionReceipt
  readonly replayed: boolean
  readonly mismatch: boolean
}

export async function submit(
  { gateway, isSignature }: Pick<EdgeDependencies, 'gateway' | 'isSignature'>,
  body: JsonObject,
  { caller, scope, trail }: Pick<GuardedCall, 'caller' | 'scope' | 'trail'>,
): Promise<AcceptedSubmission | Problem> {
  const invalid = submissionErrors(body)
  if (invalid.length > 0) return invalidProblem('validation-error', invalid)
  const { accountId, signature } = addressed(body)
  if (!scope.includes(accountId)) return noSuchAccount()
  const payload = signedPayload(body, NOT_SIGNED)
  const outcome = await gateway.ask({
    actor: accountAddress(accountId),
    caller,
    trail,
    operation: { kind: 'submit', payload, signature: carriedSignature(signature) },
  })
  if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
  const { answer } = outcome
  if (answer.kind === 'refused') return signedRefusal(answer, { payload, signature }, isSignature)
  return answer.kind === 'accepted' ? answer : unexpectedAnswer(answer)
}

/** Of a body without errors. */
function addressed(body: JsonObject): { readonly accountId: string; readonly signature: string } {
  return { accountId: body['account_id'] as string, signature: body['signature'] as string }
}

/** `status` is always pending: a replay returns the same bytes. */
export function receiptMembers(receipt: SubmissionReceipt): object {
  return {
    txn_id: receipt.txnId,
    account_id: receipt.accountId,
    status: 'pending',
    shard_id: receipt.shardId,
    enqueued_at: isoTimestamp(receipt.enqueuedAtMs),
    ...(receipt.groupId === null ? {} : { group_id: receipt.groupId }),
  }
}
