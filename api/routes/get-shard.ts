/** GET /v1/shards/{id}: who owns a shard, how it fares, how much it has processed (D15). */
import type { EdgeDependencies } from '../dependencies.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'
import { noSuchShard, parseShardId, shardMembers } from '../shard-resource.ts'

export function getShard({ shardHealth }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/shards/:shardId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const shardId = parseShardId(pathValue(call, 'shardId'))
      const shard = shardId === undefined ? undefined : await shardHealth.shard(shardId)
      return shard === undefined ? noSuchShard() : jsonReply(200, shardMembers(shard))
    },
  }
}
