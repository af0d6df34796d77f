/** POST /v1/transactions: one signed submission (D5 to D8). */
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { jsonReply } from '../reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../route.ts'
import { repeatHeaders } from '../signed-body.ts'
import { receiptMembers, submit } from '../submit.ts'

export function submitTransaction({ gateway }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/transactions',
    roles: SUBMITTERS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const submitted = await submit(gateway, body.value, call)
      if (submitted.kind === 'problem') return submitted
      return jsonReply(202, receiptMembers(submitted.receipt), {
        location: `/v1/transactions/${submitted.receipt.txnId}`,
        ...repeatHeaders(submitted),
      })
    },
  }
}
