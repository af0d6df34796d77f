/** GET /v1/shards/{id}: who owns a shard, how it fares, how much it has processed (D15). */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { noSuchShard, parseShardId, shardMembers } from '../../endpoint/shard-resource.ts'

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
