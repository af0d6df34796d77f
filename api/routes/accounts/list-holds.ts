/** GET /v1/accounts/{id}/holds: holds of which the account is the payer (D25, D16). */
import * as v from 'valibot'
import { HOLD_STATUSES } from '../../../actors/hold/state.ts'
import { listReply } from '../../endpoint/paging.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import { accountRead } from '../../endpoint/path-values.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { holdListResponse } from '../../schemas/responses/hold.ts'
import { holdMembers } from '../../views/hold-views.ts'

const STATUS_RULE = `must be one of ${HOLD_STATUSES.join(', ')}`
const STATUS = v.picklist(HOLD_STATUSES, STATUS_RULE)

export const listHolds: Endpoint = {
  id: 'listHolds',
  method: 'GET',
  path: '/v1/accounts/:accountId/holds',
  summary: 'List the holds of an account',
  description: 'The holds of which the account is the payer, with one status, oldest first.',
  roles: EVERYONE,
  parameters: [
    { name: 'status', in: 'query', description: 'The status; `active` by default.', schema: STATUS },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page.', content: holdListResponse }],
  handle: accountRead((accountId, context, call) => {
    const status = call.query.checked('status', STATUS, 'ERR_INVALID_QUERY') ?? 'active'
    return listReply(context, call, [status], async ({ after, limit }) => {
      const page = await context.reads.holds(accountId, status, after, limit)
      if (page === undefined) return noSuchAccount()
      return { members: { account_id: accountId, holds: page.holds.map(holdMembers) }, next: page.next }
    })
  }),
}
