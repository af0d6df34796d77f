/** GET /v1/shards: all shards by ID (D15, D16). Their counts may be some seconds old. */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { countMembers, listScope, nextPageToken, readPageRequest } from '../../endpoint/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { shardMembers } from '../../endpoint/shard-resource.ts'
import { shardListResponse } from '../../schemas/responses/shard.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listShards: Endpoint = {
  id: 'listShards',
  method: 'GET',
  path: '/v1/shards',
  summary: 'List all shards',
  description: 'By number. Counts may be some seconds old.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: shardListResponse }],
  async handle({ shardHealth, tokens }, { caller, query }) {
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

const BEFORE_THE_FIRST = -1
