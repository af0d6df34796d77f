/** Shards: who owns them and how they fare (D15). */
import { ADMINS, EVERYONE } from '../endpoint/route.ts'
import { shardListResponse, shardResponse } from '../schemas/responses/shard.ts'
import { shardHealthSchema } from '../schemas/shard.ts'
import type { Operation, Tag } from './model/operation.ts'
import { PAGING } from './parameters.ts'

export const listShards: Operation = {
  id: 'listShards',
  method: 'GET',
  path: '/v1/shards',
  summary: 'List all shards',
  description: 'By number. Counts may be some seconds old.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: shardListResponse }],
}

export const getShard: Operation = {
  id: 'getShard',
  method: 'GET',
  path: '/v1/shards/:shardId',
  summary: 'Get a shard',
  description: 'Who owns it, how it fares, and how much it has processed.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The shard.', content: shardResponse }],
}

export const putShardHealth: Operation = {
  id: 'putShardHealth',
  method: 'PUT',
  path: '/v1/shards/:shardId/health',
  summary: 'Drain a shard, or no longer',
  description:
    'Records that the shard is to be drained: its owner hands it over when another node can take it. With `txn_count` only if the shard has processed that many transactions.',
  roles: ADMINS,
  changes: 'store',
  body: shardHealthSchema,
  answers: [{ status: 200, description: 'The shard as it is now.', content: shardResponse }],
  refusals: { ERR_CONFLICT: 'The shard has processed fewer transactions than `txn_count`.' },
}

export const SHARDS: Tag = {
  name: 'Shards',
  description: 'The parts of the ledger. Every account is on one, which one node owns.',
  schemas: {
    ShardHealth: {
      schema: shardHealthSchema,
      description: 'What is recorded of a shard.',
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
  operations: [listShards, getShard, putShardHealth],
}
