/** POST /v1/settlement-groups/{id}/decline: an account declines its legs, and the group reverts (D10). */
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { declineSchema, readDecline } from '../../schemas/requests/settlement-group.ts'
import { carriedSignature, signedPayload } from '../../http/signed-body.ts'
import { declinedGroupResponse } from '../../schemas/responses/settlement-group.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { groupIdOf } from '../../endpoint/path-values.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const declineSettlementGroup: Endpoint = {
  id: 'declineSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups/:groupId/decline',
  summary: 'Decline a settlement group',
  description: `The account declines the legs that a group expects of it, and the group reverts. The account’s key signs all fields but \`signature\`. The request is idempotent. An account cannot decline a leg that it has signed.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: declineSchema,
  answers: [
    { status: 202, description: 'The legs are declined.', content: declinedGroupResponse, headers: ['Location'] },
  ],
  refusals: {
    ERR_NOT_FOUND: 'There is no such account, or no open group of this ID and terms expects a leg of it.',
    ERR_CONFLICT: 'The account has signed its leg, or is closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_WRONG_LEDGER: 'The request was signed for another ledger; in production `ledger_id` is required.',
  },
  handle: bodyEndpoint({
    read: (body, _, call) => readDecline(body, groupIdOf(call)),
    find: ({ account_id: accountId }, { scope }) => (scope.includes(accountId) ? undefined : noSuchAccount()),
    run({ account_id: accountId, signature }, context, call) {
      const payload = signedPayload(call.body, ['signature'])
      const request = {
        actor: accountAddress(accountId),
        operation: { kind: 'decline_legs', payload, signature: carriedSignature(signature) },
        signed: { payload, signature },
      } as const
      return askLedger(context, call, request, 'legs_declined', () => {
        const groupId = groupIdOf(call)
        const location = `/v1/settlement-groups/${groupId}`
        return jsonReply(202, { group_id: groupId, account_id: accountId, declined: true }, { location })
      })
    },
  }),
}
