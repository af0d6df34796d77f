/** GET /v1/fungible-tokens: all registered tokens by ID (D16). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { PageTokens } from '../../http/page-token.ts'
import {
  countHeaders,
  countMembers,
  countOfList,
  listScope,
  nextPageToken,
  PAGE_PARAMETERS,
  readPageRequest,
} from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute } from '../../endpoint/route.ts'
import { tokenMembers } from '../../views/views.ts'

export function listFungibleTokens({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/fungible-tokens',
    query: PAGE_PARAMETERS,
    roles: EVERYONE,
    asksLedger: false,
    async handle({ caller, query }) {
      const scope = listScope('/v1/fungible-tokens', caller.clientId)
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      const page = await reads.tokens(after?.cursor ?? null, limit)
      const count = countOfList(after, page.count)
      return jsonReply(
        200,
        {
          tokens: page.tokens.map(tokenMembers),
          next_page_token: nextPageToken(tokens, scope, page.next, count),
          ...countMembers(count),
        },
        countHeaders(count),
      )
    },
  }
}
