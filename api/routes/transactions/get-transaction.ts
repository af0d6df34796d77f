/** GET /v1/transactions/{id}: the detail (D5, D8). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { isTransactionId } from '../../../actors/identifiers.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenTransaction } from '../../endpoint/scoped-reads.ts'
import { transactionDetailMembers } from '../../views/views.ts'
import { transactionResponse } from '../../schemas/responses/transaction.ts'
import { PREFER_WAIT } from '../../endpoint/parameters.ts'

export const getTransaction: Endpoint = {
  id: 'getTransaction',
  method: 'GET',
  path: '/v1/transactions/:txnId',
  summary: 'Get a transaction',
  description: `All there is to say about it. It is there as soon as its 202 was given.

\`Prefer: wait=N\` waits until it is final. Final states never change; a completed transaction may later be compensated by another one, which \`compensated_by\` names.`,
  roles: EVERYONE,
  parameters: [PREFER_WAIT],
  answers: [
    { status: 200, description: 'The transaction.', content: transactionResponse, headers: ['Preference-Applied'] },
  ],
  async handle({ reads, preferWait }, call) {
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
