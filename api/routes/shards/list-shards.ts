/** GET /v1/shards: all shards by ID (D15, D16). Their counts may be some seconds old. */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { PageTokens } from '../../http/page-token.ts'
import { countMembers, listScope, nextPageToken, PAGE_PARAMETERS, readPageRequest } from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute } from '../../endpoint/route.ts'
import { shardMembers } from '../../endpoint/shard-resource.ts'

const BEFORE_THE_FIRST = -1

export function listShards({ shardHealth }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/shards',
    query: PAGE_PARAMETERS,
    roles: EVERYONE,
    asksLedger: false,
    async handle({ caller, query }) {
      const scope = listScope('/v1/shards', caller.clientId)
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      const page = await shardHealth.shards(after === null ? BEFORE_THE_FIRST : Number(after.cursor), limit)
      return jsonReply(200, {
        shards: page.shards.map(shardMembers),
        next_page_token: nextPageToken(tokens, scope, page.next === null ? null : String(page.next), null),
        ...countMembers({ total: page.total, exact: true }),
      })
    },
  }
}
