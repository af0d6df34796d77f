/** GET /v1/transactions/{id}/receipt: exactly what the service signed, once the transaction is final (D9). */
import { isTransactionId } from '../../../actors/identifiers.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { notFound } from '../../http/problem.ts'
import { textReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { seenReceipt } from '../../endpoint/scoped-reads.ts'

export function getReceipt({ reads }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/transactions/:txnId/receipt',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const txnId = pathValue(call, 'txnId')
      const receipt = isTransactionId(txnId) ? await seenReceipt(reads, call.scope, txnId) : undefined
      if (receipt === undefined) return notFound('There is no such transaction, or it is not final.')
      // The payload is canonical JSON already: the client gets the bytes that the signature is over.
      const body = `{"receipt":${receipt.payload},"signature":${JSON.stringify(receipt.signature)}}`
      return textReply(200, 'application/json', body)
    },
  }
}
