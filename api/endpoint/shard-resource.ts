/** Shards as the interface shows and names them (D15). */
import { isoTimestamp } from '../../actors/timestamp.ts'
import type { ShardView } from '../../runtime/ports/shard-health.ts'
import { notFound, type Problem } from '../http/problem.ts'

/** As `shard_id` is shown: no sign, no zero in front. More digits than any shard has name none. */
const SHARD_ID = /^(?:0|[1-9][0-9]{0,4})$/

export function shardMembers(shard: ShardView): object {
  return {
    shard_id: shard.shardId,
    owner: shard.owner,
    epoch: shard.epoch,
    health_state: shard.healthState,
    txn_count: shard.txnCount,
    updated_at: isoTimestamp(shard.updatedAtMs),
  }
}

/** Undefined: no shard is called so. */
export function parseShardId(text: string): number | undefined {
  return SHARD_ID.test(text) ? Number(text) : undefined
}

export function noSuchShard(): Problem {
  return notFound('There is no such shard.')
}
