/** GET /v1/accounts/{id}/balances: what the account holds, by token (D4). */
import { accountRead } from '../../endpoint/path-values.ts'
import { listReply, sliceAfter } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { balanceMembers } from '../../views/views.ts'
import { balanceListResponse } from '../../schemas/responses/account.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listBalances: Endpoint = {
  id: 'listBalances',
  method: 'GET',
  path: '/v1/accounts/:accountId/balances',
  summary: 'List what an account holds',
  description: 'By token ID. A balance is listed from its first movement on, and stays, at `0` too.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: balanceListResponse }],
  handle: accountRead((accountId, context, call) =>
    listReply(context, call, [], async (request) => {
      const balances = await context.reads.balances(accountId)
      if (balances === undefined) return noSuchAccount()
      // An account holds a bounded number of assets, and the read gives them all: pages are cut here.
      const sorted = balances.toSorted((one, other) => (one.tokenId < other.tokenId ? -1 : 1))
      const page = sliceAfter(sorted, ({ tokenId }) => tokenId, request)
      return { members: { account_id: accountId, balances: page.rows.map(balanceMembers) }, next: page.next }
    }),
  ),
}
