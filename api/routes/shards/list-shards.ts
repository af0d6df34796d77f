/** GET /v1/shards: all shards by ID (D15, D16). Their counts may be some seconds old. */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { PageTokens } from '../../http/page-token.ts'
import { EVERYONE, guarded, type GuardedRoute } from '../../endpoint/route.ts'
import { countMembers, listScope, nextPageToken, readPageRequest } from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { shardMembers } from '../../endpoint/shard-resource.ts'
import { shardListResponse } from '../../schemas/responses/shard.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const LIST_SHARDS: Operation = {
  id: 'listShards',
  method: 'GET',
  path: '/v1/shards',
  summary: 'List all shards',
  description: 'By number. Counts may be some seconds old.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: shardListResponse }],
}

const BEFORE_THE_FIRST = -1

export function listShards({ shardHealth }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return {
    ...guarded(LIST_SHARDS),
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
