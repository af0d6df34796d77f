/** GET /v1/shards: all shards by ID (D15, D16). Their counts may be some seconds old. */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { listReply, numberAfter } from '../../endpoint/paging.ts'
import { shardMembers } from '../../endpoint/shard-resource.ts'
import { shardListResponse } from '../../schemas/requests/shard.ts'
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
  handle: (context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const { shards, next, total } = await context.shardHealth.shards(numberAfter(after), limit)
      return { members: { shards: shards.map(shardMembers) }, next, total }
    }),
}
