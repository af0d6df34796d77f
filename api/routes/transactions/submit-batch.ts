/** POST /v1/transactions/batch: many signed submissions in one request, each processed as if it came alone (D21). */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { inTurn } from '../../endpoint/client-turn.ts'
import { clientLimited } from '../../endpoint/request-limit.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { readJsonBody } from '../../http/body.ts'
import { logFailure } from '../../http/failure-log.ts'
import {
  downstreamFailure,
  invalidProblem,
  type Problem,
  problemMembers,
  type ProblemRequest,
} from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { BATCH_RULE, batchSchema, MAX_BATCH } from '../../schemas/requests/submission.ts'
import { type AcceptedSubmission, receiptMembers, submit } from '../../endpoint/submit.ts'
import { batchResponse } from '../../schemas/responses/transaction.ts'

export const submitBatch: Endpoint = {
  id: 'submitBatch',
  method: 'POST',
  path: '/v1/transactions/batch',
  summary: 'Submit many signed orders',
  description: `Up to 500 orders in one request, each signed by the key of its own account, each processed as if it came alone: a refused order does not affect the others, and they may complete in any order. It is no settlement group.

\`results\` has one entry for each order, in their order: \`status\` and \`receipt\`, or \`status\` and \`problem\`, as the order would have got them alone; \`replayed\` and \`payload_mismatch\` replace the headers. Of two orders under one idempotency key the second is a repeat. Of a client with a rate limit each order counts as one request: the orders beyond the limit have the result 429: this request did nothing with them, an earlier one may have. An order whose result is a 429 or a 503, or the whole batch after a broken connection, is sent again as it is.

The response comes as soon as each is accepted or refused; \`Prefer: wait=N\` has no effect. For the outcomes, follow the feed (\`GET /v1/transactions?order=asc\`).

The request is a 400 only if the array itself is wrong; the limit of one megabyte holds for all of it.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: batchSchema,
  answers: [{ status: 200, description: 'The result of each order.', content: batchResponse }],
  refusals: { ERR_INVALID_FIELD: '`submissions` is no array of 1 to 500.' },
  async handle(context, call) {
    const body = await readJsonBody(call.http.req.raw)
    if (!body.ok) return body.error
    const submissions = body.value['submissions']
    if (!Array.isArray(submissions) || submissions.length === 0 || submissions.length > MAX_BATCH) {
      return invalidProblem('validation-error', [
        { field: 'submissions', code: 'ERR_INVALID_FIELD', message: BATCH_RULE },
      ])
    }
    // The request has one of them already.
    const taken = call.limit === undefined ? submissions.length : 1 + call.limit.take(submissions.length - 1)
    const beyond = taken < submissions.length && call.limit !== undefined ? clientLimited(call.limit) : undefined
    // Each order is a turn of its own, and is checked then: a batch must not keep the edge busy.
    call.endTurn()
    // Asked at once, so that they travel together; of two under one key the first that is here comes first.
    const results = await Promise.all(
      (submissions as readonly Json[]).map(async (submission, index) => {
        if (beyond !== undefined && index >= taken) return { ...beyond, outcome: 'not_applied' } as const
        try {
          return isObject(submission)
            ? await inTurn(context, call, call, ({ caller, scope }) =>
                submit(context, submission, { ...call, caller, scope }),
              )
            : noObject()
        } catch (error) {
          // The other submissions keep their results.
          logFailure(context.log, error, call.trail, 'POST')
          return { ...downstreamFailure(), outcome: 'unknown' } as const
        }
      }),
    )
    const request = { errorBase: context.settings.errorBase, instance: PATH, requestId: call.trail.requestId }
    return jsonReply(200, { results: results.map((result) => resultMembers(result, request)) })
  },
}

const PATH = '/v1/transactions/batch'

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function noObject(): Problem {
  const invalid = { field: 'body', code: 'ERR_INVALID_FIELD', message: 'must be a JSON object' } as const
  return invalidProblem('validation-error', [invalid])
}

/** A response to a single order has this in a header; a batch has it beside the receipt. */
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
