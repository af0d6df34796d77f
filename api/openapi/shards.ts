/** Shards: who owns them and how they fare (D15). */
import { shardListResponse, shardResponse } from '../schemas/responses/shard.ts'
import { shardHealthSchema } from '../schemas/shard.ts'
import type { Tag } from '../endpoint/operation.ts'
import { GET_SHARD } from '../routes/shards/get-shard.ts'
import { LIST_SHARDS } from '../routes/shards/list-shards.ts'
import { PUT_SHARD_HEALTH } from '../routes/shards/put-shard-health.ts'

export const SHARDS: Tag = {
  name: 'Shards',
  description: 'The parts of the ledger. Every account is on one, which one node owns.',
  schemas: {
    ShardHealth: {
      schema: shardHealthSchema,
      description: 'The health to record for a shard.',
      fields: {
        health_state: 'Whether it is to be drained.',
        txn_count: 'How many transactions it must have processed for this to be recorded.',
      },
    },
    Shard: {
      schema: shardResponse,
      description: 'A shard.',
      fields: {
        owner: 'The node that owns it; null while none does.',
        epoch: 'How often it has changed hands.',
        health_state: 'How it fares.',
        txn_count: 'How many transactions it has processed.',
      },
    },
    ShardList: {
      schema: shardListResponse,
      description: 'One page of shards.',
      fields: { shards: 'The shards of this page.' },
    },
  },
  operations: [LIST_SHARDS, GET_SHARD, PUT_SHARD_HEALTH],
}
