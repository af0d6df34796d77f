/** POST /v1/transactions/batch: many signed submissions in one request, each judged as if it came alone (D21). */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { logFailure } from '../../http/failure-log.ts'
import {
  downstreamFailure,
  invalidProblem,
  type Problem,
  problemMembers,
  type ProblemRequest,
} from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { BATCH_RULE, MAX_BATCH } from '../../schemas/submission.ts'
import { type AcceptedSubmission, receiptMembers, submit } from '../../endpoint/submit.ts'

const PATH = '/v1/transactions/batch'

export function submitBatch(dependencies: EdgeDependencies): GuardedRoute {
  const { log, settings } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: PATH,
    roles: SUBMITTERS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const submissions = body.value['submissions']
      if (!Array.isArray(submissions) || submissions.length === 0 || submissions.length > MAX_BATCH) {
        return invalidProblem('validation-error', [
          { field: 'submissions', code: 'ERR_INVALID_FIELD', message: BATCH_RULE },
        ])
      }
      // Asked at once, so that they travel together; of two under one key the first that is here comes first.
      const results = await Promise.all(
        (submissions as readonly Json[]).map(async (submission) => {
          try {
            return isObject(submission) ? await submit(dependencies, submission, call) : noObject()
          } catch (error) {
            // The other submissions keep their results.
            logFailure(log, error, call.trail, 'POST')
            return { ...downstreamFailure(), outcome: 'unknown' } as const
          }
        }),
      )
      const request = { errorBase: settings.errorBase, instance: PATH, requestId: call.trail.requestId }
      return jsonReply(200, { results: results.map((result) => resultMembers(result, request)) })
    },
  }
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function noObject(): Problem {
  const invalid = { field: 'body', code: 'ERR_INVALID_FIELD', message: 'must be a JSON object' } as const
  return invalidProblem('validation-error', [invalid])
}

/** What a header would say of it alone stands beside its receipt. */
function resultMembers(result: AcceptedSubmission | Problem, request: ProblemRequest): object {
  if (result.kind === 'problem') {
    const problem = problemMembers(result, request)
    return { status: problem.status, problem }
  }
  const { receipt, replayed, mismatch } = result
  return {
    status: 202,
    receipt: receiptMembers(receipt),
    ...(replayed ? { replayed } : {}),
    ...(replayed && mismatch ? { payload_mismatch: true } : {}),
  }
}
