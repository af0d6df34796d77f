/** PUT /v1/shards/{id}/health: records that a shard is to be drained, or no longer (D15). */
import { ADMINS, type Endpoint, pathValue } from '../../endpoint/route.ts'
import { problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { readShardHealth, shardHealthSchema, shardResponse } from '../../schemas/requests/shard.ts'
import { noSuchShard, parseShardId, shardMembers } from '../../endpoint/shard-resource.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'

export const putShardHealth: Endpoint = {
  id: 'putShardHealth',
  method: 'PUT',
  path: '/v1/shards/:shardId/health',
  summary: 'Drain a shard, or no longer',
  description:
    'Records that the shard is to be drained: its owner hands it over when another node can take it. With `txn_count` only if the shard has processed that many transactions.',
  roles: ADMINS,
  changes: 'store',
  administrative: ['health_state', 'txn_count'],
  body: shardHealthSchema,
  answers: [{ status: 200, description: 'The shard as it is now.', content: shardResponse }],
  refusals: { ERR_CONFLICT: 'The shard has processed fewer transactions than `txn_count`.' },
  handle: bodyEndpoint({
    read: (body) => readShardHealth(body),
    async run(change, { shardHealth }, call) {
      const shardId = parseShardId(pathValue(call, 'shardId'))
      if (shardId === undefined) return noSuchShard()
      const outcome = await shardHealth.record({
        shardId,
        state: change.health_state,
        minTxnCount: change.txn_count ?? null,
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
  }),
}
