/** POST /v1/holds/{id}/captures: one signed capture by the hold's beneficiary (D25). */
import { accountAddress } from '../../../actors/address.ts'
import { askLedger } from '../../endpoint/ask.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, pathValue, SUBMITTERS } from '../../endpoint/route.ts'
import { receiptMembers } from '../../endpoint/submit.ts'
import { jsonReply } from '../../http/reply.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../../http/signed-body.ts'
import { captureSchema, readCapture } from '../../schemas/requests/hold.ts'
import { submissionReceiptResponse } from '../../schemas/responses/transaction.ts'
import { noSuchHold } from '../../views/hold-views.ts'

const NOT_SIGNED = ['signature']

export const captureHold: Endpoint = {
  id: 'captureHold',
  method: 'POST',
  path: '/v1/holds/:holdId/captures',
  summary: 'Capture a hold',
  description: `Moves value from the hold to its beneficiary (\`account_id\`, whose key signs): a \`transfer\` with \`hold_id\`, answered like any order with a 202. The hold decides: captures together never exceed its amount. A capture that it refuses fails as \`hold_exceeded\`, \`hold_expired\`, \`hold_not_active\` or \`hold_not_found\`.

With \`final\` what remains after the capture is available to the payer again. The same \`idempotency_key\` on the same account gets the first receipt again, byte for byte.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: captureSchema,
  answers: [
    {
      status: 202,
      description: 'The capture is durable and will be decided. A replay returns the same.',
      content: submissionReceiptResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The hold or the account does not exist, or the hold is of others.',
    ERR_CONFLICT: '4,096 orders and holds of the account are undecided.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
  },
  handle: bodyEndpoint({
    read: (body, _, call) => readCapture(body, pathValue(call, 'holdId')),
    find: ({ account_id: accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
    async run({ account_id: accountId, signature }, context, call) {
      const hold = await context.reads.hold(pathValue(call, 'holdId'))
      if (hold === undefined || hold.toAccountId !== accountId) return noSuchHold()
      const payload = signedPayload(call.body, NOT_SIGNED)
      const { accountId: fromAccountId, tokenId } = hold
      const request = {
        actor: accountAddress(accountId),
        operation: { kind: 'capture', payload, signature: carriedSignature(signature), fromAccountId, tokenId },
        signed: { payload, signature },
      } as const
      return askLedger(context, call, request, 'accepted', (answer) => {
        const location = `/v1/transactions/${answer.receipt.txnId}`
        return jsonReply(202, receiptMembers(answer.receipt), { location, ...repeatHeaders(answer) })
      })
    },
  }),
}
