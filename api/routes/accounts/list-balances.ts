/** GET /v1/accounts/{id}/balances: what the account holds, by token (D4). */
import { accountRead } from '../../endpoint/path-values.ts'
import { listScope, nextPageToken, readPageRequest } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
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
  handle: accountRead(async (accountId, { reads, tokens }, call) => {
    const scope = listScope('/v1/accounts/balances', call.caller.clientId, [accountId])
    const { query } = call
    const { limit, after } = readPageRequest(query, tokens, scope)
    const refused = query.problem()
    if (refused !== undefined) return refused
    const balances = await reads.balances(accountId)
    if (balances === undefined) return noSuchAccount()
    // An account holds a bounded number of assets, and the read gives them all: pages are cut here.
    const rest = balances
      .filter((balance) => after === null || balance.tokenId > after.cursor)
      .sort((one, other) => (one.tokenId < other.tokenId ? -1 : 1))
    const page = rest.slice(0, limit)
    const last = page.length < rest.length ? page.at(-1) : undefined
    return jsonReply(200, {
      account_id: accountId,
      balances: page.map(balanceMembers),
      next_page_token: nextPageToken(tokens, scope, last?.tokenId ?? null, null),
    })
  }),
}
