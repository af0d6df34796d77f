/** GET /v1/transactions/{id}/receipt: exactly what the service signed, once the transaction is final (D9). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { isTransactionId } from '../../../actors/identifiers.ts'
import { notFound } from '../../http/problem.ts'
import { textReply } from '../../http/reply.ts'
import { seenReceipt } from '../../endpoint/scoped-reads.ts'
import { receiptResponse } from '../../schemas/responses/transaction.ts'

export const getReceipt: Endpoint = {
  id: 'getReceipt',
  method: 'GET',
  path: '/v1/transactions/:txnId/receipt',
  summary: 'Get the signed receipt of a transaction',
  description:
    'The service signs a receipt when a transaction becomes final, also when it fails. The signature is over the canonical JSON (RFC 8785) of `receipt`; the key is in `/.well-known/jwks.json` under `key_id`. `ledger verify` checks a receipt offline.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The receipt.', content: receiptResponse }],
  refusals: { ERR_NOT_FOUND: 'There is no such transaction, or it is not final.' },
  async handle({ reads }, call) {
    const txnId = pathValue(call, 'txnId')
    const receipt = isTransactionId(txnId) ? await seenReceipt(reads, call.scope, txnId) : undefined
    if (receipt === undefined) return notFound('There is no such transaction, or it is not final.')
    // The payload is canonical JSON already: the client gets the bytes that the signature is over.
    const body = `{"receipt":${receipt.payload},"signature":${JSON.stringify(receipt.signature)}}`
    return textReply(200, 'application/json', body)
  },
}
