/** GET /v1/shards/{id}: the owner of a shard, its health and what it has processed (D15). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { jsonReply } from '../../http/reply.ts'
import { noSuchShard, parseShardId, shardMembers } from '../../endpoint/shard-resource.ts'
import { shardResponse } from '../../schemas/requests/shard.ts'

export const getShard: Endpoint = {
  id: 'getShard',
  method: 'GET',
  path: '/v1/shards/:shardId',
  summary: 'Get a shard',
  description: 'The owner of the shard, its health, and the number of its transactions.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The shard.', content: shardResponse }],
  async handle({ shardHealth }, call) {
    const shardId = parseShardId(pathValue(call, 'shardId'))
    const shard = shardId === undefined ? undefined : await shardHealth.shard(shardId)
    return shard === undefined ? noSuchShard() : jsonReply(200, shardMembers(shard))
  },
}
