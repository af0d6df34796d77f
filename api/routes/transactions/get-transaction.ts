/** GET /v1/transactions/{id}: the detail (D5, D8). */
import { isTransactionId } from '../../../actors/identifiers.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { PreferWait } from '../../endpoint/prefer-wait.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { seenTransaction } from '../../endpoint/scoped-reads.ts'
import { transactionDetailMembers } from '../../views/views.ts'

export function getTransaction({ reads }: EdgeDependencies, preferWait: PreferWait): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/transactions/:txnId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const txnId = pathValue(call, 'txnId')
      if (!isTransactionId(txnId)) return notFound('There is no such transaction.')
      const waited = await preferWait.until(
        call,
        (scope) => seenTransaction(reads, scope, txnId),
        (seen) => seen?.status !== 'pending',
      )
      if (!waited.ok) return waited.error
      const { value: transaction, headers } = waited.value
      if (transaction === undefined) return notFound('There is no such transaction.')
      return jsonReply(200, transactionDetailMembers(transaction), headers)
    },
  }
}
