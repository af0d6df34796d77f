/** POST /v1/holds: one signed order that reserves value of its payer for a beneficiary (D25). */
import { accountAddress } from '../../../actors/address.ts'
import { askLedger } from '../../endpoint/ask.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { jsonReply } from '../../http/reply.ts'
import { carriedSignature, repeatHeaders, signedPayload } from '../../http/signed-body.ts'
import { holdSchema, readHold } from '../../schemas/requests/hold.ts'
import { holdResponse } from '../../schemas/responses/hold.ts'
import { holdMembers } from '../../views/hold-views.ts'

const NOT_SIGNED = ['signature']

export const createHold: Endpoint = {
  id: 'createHold',
  method: 'POST',
  path: '/v1/holds',
  summary: 'Put value on hold',
  description: `Reserves value of the payer (\`account_id\`, whose key signs) for a beneficiary: the payer’s \`available\` falls, its \`balance\` does not. The beneficiary captures it, in parts or whole, until the hold expires; what remains then is available again.

The same \`idempotency_key\` again gets the first answer again; a refusal does not use the key up, and reserves nothing.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: holdSchema,
  answers: [
    {
      status: 201,
      description: 'The value is on hold.',
      content: holdResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The account, the beneficiary or the token does not exist; `errors` names the field.',
    ERR_INSUFFICIENT_FUNDS: '',
    ERR_CONFLICT: 'The payer is frozen, closed or paused, or 4,096 orders and holds of it are undecided.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_WRONG_LEDGER: 'It was signed for another ledger; in production `ledger_id` is required.',
    ERR_SELF_TRANSFER: 'The payer is the beneficiary.',
    ERR_INVALID_TIMESTAMP: '`expires_at` is ill-formed, has passed, or lies more than 90 days ahead.',
  },
  handle: bodyEndpoint({
    read: (body) => readHold(body),
    find: ({ account_id: accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
    run({ account_id: accountId, signature }, context, call) {
      const payload = signedPayload(call.body, NOT_SIGNED)
      const request = {
        actor: accountAddress(accountId),
        operation: { kind: 'create_hold', payload, signature: carriedSignature(signature) },
        signed: { payload, signature },
      } as const
      return askLedger(context, call, request, 'hold_created', (answer) => {
        const location = `/v1/holds/${answer.hold.holdId}`
        return jsonReply(201, holdMembers(answer.hold), { location, ...repeatHeaders(answer) })
      })
    },
  }),
}
