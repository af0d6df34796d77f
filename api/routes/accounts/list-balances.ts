/** GET /v1/accounts/{id}/balances: what the account holds, by token (D4). */
import { accountRead } from '../../endpoint/account-read.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { PageTokens } from '../../http/page-token.ts'
import { listScope, nextPageToken, PAGE_PARAMETERS, readPageRequest } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import type { GuardedRoute } from '../../endpoint/route.ts'
import { balanceMembers } from '../../views/views.ts'

export function listBalances({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return accountRead('/v1/accounts/:accountId/balances', PAGE_PARAMETERS, async (accountId, call) => {
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
  })
}
