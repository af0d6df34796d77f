/** GET /v1/accounts/{id}/nfts: no NFT can be minted on this ledger yet, so every account owns none. */
import { accountRead } from '../account-read.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import type { PageTokens } from '../page-token.ts'
import { listScope, readPageRequest } from '../paging.ts'
import { readQuery } from '../query.ts'
import { noSuchAccount } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import type { GuardedRoute } from '../route.ts'

export function listAccountNfts({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return accountRead('/v1/accounts/:accountId/nfts', async (accountId, call) => {
    const query = readQuery(call.http.req.url)
    readPageRequest(query, tokens, listScope('/v1/accounts/nfts', call.caller.clientId, [accountId]))
    const refused = query.problem()
    if (refused !== undefined) return refused
    if ((await reads.account(accountId)) === undefined) return noSuchAccount()
    return jsonReply(200, { account_id: accountId, nfts: [], next_page_token: '' })
  })
}
