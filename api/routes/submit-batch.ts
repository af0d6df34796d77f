/** POST /v1/transactions/batch: many signed submissions in one request, each judged as if it came alone (D21). */
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem, type Problem, problemMembers } from '../problem.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../route.ts'
import { BATCH_RULE, MAX_BATCH } from '../schemas/submission.ts'
import { type AcceptedSubmission, receiptMembers, submit } from '../submit.ts'

const PATH = '/v1/transactions/batch'

export function submitBatch({ gateway, settings }: EdgeDependencies): GuardedRoute {
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
        (submissions as readonly Json[]).map(async (submission) =>
          isObject(submission) ? submit(gateway, submission, call) : noObject(),
        ),
      )
      return jsonReply(200, { results: results.map((result) => resultMembers(result, settings.errorBase)) })
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
function resultMembers(result: AcceptedSubmission | Problem, errorBase: string): object {
  if (result.kind === 'problem') {
    const problem = problemMembers(result, errorBase, PATH)
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
