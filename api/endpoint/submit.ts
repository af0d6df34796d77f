/** One signed submission on its way to the owner of its account's shard (D5 to D8). */
import { accountAddress } from '../../actors/address.ts'
import type { SubmissionReceipt } from '../../actors/account/outcome.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { EdgeDependencies } from '../http/dependencies.ts'
import { type Invalid, invalidProblem, type Problem } from '../http/problem.ts'
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
  const order = signedOrder(body)
  if (!order.ok) return invalidProblem('validation-error', order.error)
  const { accountId, operation, signed } = order.value
  if (!scope.includes(accountId)) return noSuchAccount()
  const actor = accountAddress(accountId)
  const outcome = await gateway.ask({ actor, caller, trail, operation: { kind: 'submit', ...operation } })
  if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
  const { answer } = outcome
  if (answer.kind === 'refused') return signedRefusal(answer, signed, isSignature)
  return answer.kind === 'accepted' ? answer : unexpectedAnswer(answer)
}

interface Signed {
  readonly payload: string
  readonly signature: string
}

export interface SignedOrder {
  readonly accountId: string
  /** The members of the operation that the account's actor gets. */
  readonly operation: Signed
  /** As the client sent it. */
  readonly signed: Signed
}

/** The order of a body, or everything that is wrong with the body. */
export function signedOrder(body: JsonObject): Result<SignedOrder, readonly Invalid[]> {
  const invalid = submissionErrors(body)
  if (invalid.length > 0) return refuse(invalid)
  const payload = signedPayload(body, NOT_SIGNED)
  const signature = body['signature'] as string
  return ok({
    accountId: body['account_id'] as string,
    operation: { payload, signature: carriedSignature(signature) },
    signed: { payload, signature },
  })
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
