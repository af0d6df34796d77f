/** GET /v1/accounts/{id}/nfts: no NFT can be minted on this ledger yet, so every account owns none. */
import type { EdgeDependencies } from '../dependencies.ts'
import type { PageTokens } from '../page-token.ts'
import { listScope, readPageRequest } from '../paging.ts'
import { checkAccountId } from '../path-values.ts'
import { readQuery } from '../query.ts'
import { noSuchAccount } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'

export function listAccountNfts({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/accounts/:accountId/nfts',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const accountId = pathValue(call, 'accountId')
      const illFormed = checkAccountId(accountId)
      if (illFormed !== undefined) return illFormed
      const query = readQuery(call.http.req.url)
      readPageRequest(query, tokens, listScope('/v1/accounts/nfts', call.caller.clientId, [accountId]))
      const refused = query.problem()
      if (refused !== undefined) return refused
      if ((await reads.account(accountId)) === undefined) return noSuchAccount()
      return jsonReply(200, { account_id: accountId, nfts: [], next_page_token: '' })
    },
  }
}
