/** GET /v1/accounts/{id}/balances: what the account holds, by token (D4). */
import { accountRead } from '../../endpoint/path-values.ts'
import { listReply, sliceAfter } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { balanceAtMembers, balanceMembers } from '../../views/views.ts'
import { balanceListResponse } from '../../schemas/responses/account.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import { AS_OF, pastTimeIn } from '../../endpoint/times.ts'

export const listBalances: Endpoint = {
  id: 'listBalances',
  method: 'GET',
  path: '/v1/accounts/:accountId/balances',
  summary: 'List what an account holds',
  description: `By token ID. A balance is listed from its first movement on, and stays, at \`0\` too.

With \`as_of\` each balance is that after the last entry of the account's chain at or before this time. It has \`as_of\` and the \`sequence\` of that entry, which proves it. Balances that had not moved by then are left out.`,
  roles: EVERYONE,
  parameters: [AS_OF, ...PAGING],
  answers: [{ status: 200, description: 'One page.', content: balanceListResponse }],
  refusals: { ERR_INVALID_TIMESTAMP: 'The time is ill-formed or lies in the future.' },
  handle: accountRead((accountId, context, call) => {
    const atMs = pastTimeIn(call.query, 'as_of', context.clock.now())
    return listReply(context, call, atMs === null ? [] : [atMs], async (request) => {
      if (atMs !== null) {
        const page = await context.reads.balancesAt(accountId, Math.floor(atMs), request.after, request.limit)
        if (page === undefined) return noSuchAccount()
        const balances = page.balances.map((balance) => balanceAtMembers(balance, atMs))
        return { members: { account_id: accountId, balances }, next: page.next }
      }
      const balances = await context.reads.balances(accountId)
      if (balances === undefined) return noSuchAccount()
      // An account holds a bounded number of assets, and the read gives them all: pages are cut here.
      const sorted = balances.toSorted((one, other) => (one.tokenId < other.tokenId ? -1 : 1))
      const page = sliceAfter(sorted, ({ tokenId }) => tokenId, request)
      return { members: { account_id: accountId, balances: page.rows.map(balanceMembers) }, next: page.next }
    })
  }),
}
