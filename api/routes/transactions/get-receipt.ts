/** GET /v1/transactions/{id}/receipt: exactly what the service signed, once the transaction is final (D9); or its proof. */
import * as v from 'valibot'
import { type Endpoint, type EndpointOutcome, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { isTransactionId } from '../../../actors/identifiers.ts'
import { notFound } from '../../http/problem.ts'
import { textReply } from '../../http/reply.ts'
import { seenReceipt } from '../../endpoint/scoped-reads.ts'
import { proofReply } from '../log/get-log-proof.ts'
import type { LedgerLog } from '../../../runtime/ports/ledger-log.ts'
import type { SignedReceipt } from '../../../runtime/ports/ledger-reads.ts'
import { receiptResponse } from '../../schemas/responses/transaction.ts'

/** Members of a receipt. */
interface ReceiptPlace {
  readonly account_id: string
  /** null: it failed. */
  readonly sequence: number | null
}

const PROOF = v.picklist(['log'], 'must be log')

export const getReceipt: Endpoint = {
  id: 'getReceipt',
  method: 'GET',
  path: '/v1/transactions/:txnId/receipt',
  summary: 'Get the signed receipt of a transaction',
  description: `The service signs a receipt when a transaction becomes final, also when it fails. The signature is over the canonical JSON (RFC 8785) of \`receipt\`; the key is in \`/.well-known/jwks.json\` under \`key_id\`. \`ledger verify\` checks a receipt offline.

With \`proof=log\` the response is the **proof that the log has the entry** of the receipt: a \`tlog-proof\` of C2SP, the same as that of the entry in the account’s chain. \`ledger verify --proof\` checks both offline.`,
  roles: EVERYONE,
  parameters: [{ name: 'proof', in: 'query', description: '`log`: the proof in place of the receipt.', schema: PROOF }],
  answers: [{ status: 200, description: 'The receipt; or the proof.', content: receiptResponse, text: 'text/plain' }],
  refusals: {
    ERR_NOT_FOUND:
      'There is no such transaction, or it is not final; or it failed, so that no chain has it; or the log does not have it yet.',
  },
  async handle({ reads, ledgerLog }, call) {
    const txnId = pathValue(call, 'txnId')
    const proof = call.query.checked('proof', PROOF, 'ERR_INVALID_QUERY')
    const invalid = call.query.problem()
    if (invalid !== undefined) return invalid
    const receipt = isTransactionId(txnId) ? await seenReceipt(reads, call.scope, txnId) : undefined
    if (receipt === undefined) return notFound('There is no such transaction, or it is not final.')
    if (proof !== null) return proofOf(receipt, ledgerLog)
    // The payload is canonical JSON already: the client gets the bytes that the signature is over.
    const body = `{"receipt":${receipt.payload},"signature":${JSON.stringify(receipt.signature)}}`
    return textReply(200, 'application/json', body)
  },
}

async function proofOf({ payload }: SignedReceipt, ledgerLog: LedgerLog): Promise<EndpointOutcome> {
  const { account_id: accountId, sequence } = JSON.parse(payload) as ReceiptPlace
  if (sequence === null) return notFound('The transaction failed: it has no entry in a chain, and none in the log.')
  return proofReply(await ledgerLog.proof(accountId, sequence))
}
