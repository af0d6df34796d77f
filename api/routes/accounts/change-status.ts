/** POST /v1/accounts/{id}/status: freezes, closes or activates an account, or sets its `incoming` policy (D2). */
import { ADMINS, type Endpoint, pathValue } from '../../endpoint/route.ts'
import { accountAddress } from '../../../actors/address.ts'
import { jsonReply } from '../../http/reply.ts'
import { readStatusChange, statusSchema } from '../../schemas/requests/account.ts'
import { accountMembers } from '../../views/views.ts'
import { accountResponse } from '../../schemas/responses/account.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const changeStatus: Endpoint = {
  id: 'changeStatus',
  method: 'POST',
  path: '/v1/accounts/:accountId/status',
  summary: 'Freeze, close or reopen an account',
  description: `At least one of \`status\` and \`incoming\`; what is left out stays. The same values again change nothing and are a 200.

- \`frozen\`: it may only receive; its own orders fail. Earlier legs settle or revert as usual.
- \`closed\`: final. The account must have no balances, NFTs, pending transactions or reserved value, and no legs that its own client expects. Legs that other clients expect are declined.
- \`incoming: refuse\`: transfers to it fail.`,
  roles: ADMINS,
  changes: 'shard',
  administrative: ['status', 'incoming'],
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: statusSchema,
  answers: [
    {
      status: 200,
      description: 'The current account.',
      content: accountResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: { ERR_CONFLICT: 'The account is closed, or is to be closed and is not empty.' },
  handle: bodyEndpoint({
    read: (body) => readStatusChange(body),
    run({ status = null, incoming = null, reason }, context, call) {
      const key = call.registrationKey === null ? {} : { registrationKey: call.registrationKey }
      const operation = { kind: 'change_status', status, incoming, reason, ...key } as const
      const request = { actor: accountAddress(pathValue(call, 'accountId')), operation }
      return askLedger(context, call, request, 'status_changed', ({ account }) =>
        jsonReply(200, accountMembers(account, context.jwkOf)),
      )
    },
  }),
}
