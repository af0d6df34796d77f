/** PUT /v1/shards/{id}/health: records that a shard is to be drained, or no longer (D15). */
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { invalidProblem, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { ADMINS, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { readShardHealth } from '../../schemas/shard.ts'
import { noSuchShard, parseShardId, shardMembers } from '../../endpoint/shard-resource.ts'

export function putShardHealth({ shardHealth }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'PUT',
    path: '/v1/shards/:shardId/health',
    roles: ADMINS,
    asksLedger: true,
    async handle(call) {
      const body = await readJsonBody(call.http.req.raw)
      if (!body.ok) return body.error
      const change = readShardHealth(body.value)
      if (!change.ok) return invalidProblem('validation-error', change.error)
      const shardId = parseShardId(pathValue(call, 'shardId'))
      if (shardId === undefined) return noSuchShard()
      const outcome = await shardHealth.record({
        shardId,
        state: change.value.health_state,
        minTxnCount: change.value.txn_count ?? null,
        recordedBy: call.caller.clientId,
      })
      switch (outcome.kind) {
        case 'recorded':
          return jsonReply(200, shardMembers(outcome.shard))
        case 'too_few':
          return problem('conflict', 'ERR_CONFLICT', `The shard has processed ${outcome.txnCount} transactions.`, [
            { field: 'txn_count', message: 'is more than the shard has processed' },
          ])
        case 'no_such_shard':
          return noSuchShard()
      }
    },
  }
}
