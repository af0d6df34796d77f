/** GET /v1/accounts: all accounts by ID (D2, D16). */
import type { EdgeDependencies } from '../dependencies.ts'
import type { PageTokens } from '../page-token.ts'
import { listScope, nextPageToken, readPageRequest } from '../paging.ts'
import { readQuery } from '../query.ts'
import { jsonReply } from '../reply.ts'
import { ADMINS, type GuardedRoute } from '../route.ts'
import { accountMembers } from '../views.ts'

export function listAccounts({ reads, jwkOf }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/accounts',
    roles: ADMINS,
    asksLedger: false,
    async handle({ http, caller }) {
      const scope = listScope('/v1/accounts', caller.clientId)
      const query = readQuery(http.req.url)
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      const page = await reads.accounts(after?.cursor ?? null, limit)
      return jsonReply(200, {
        accounts: page.accounts.map((account) => accountMembers(account, jwkOf)),
        next_page_token: nextPageToken(tokens, scope, page.next, null),
        total_count: page.total,
      })
    },
  }
}
