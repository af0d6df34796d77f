/** Examples of shards. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const LIST_SHARDS_EXAMPLES: Examples = {
  two: {
    summary: 'The first two shards',
    as: 'viewer',
    query: { page_size: '2' },
    answer: {
      status: 200,
      body: {
        shards: [
          {
            shard_id: 0,
            owner: 'node-1',
            epoch: 1,
            health_state: 'healthy',
            txn_count: 0,
            updated_at: '2026-11-22T01:31:04.340Z',
          },
          {
            shard_id: 1,
            owner: 'node-1',
            epoch: 1,
            health_state: 'healthy',
            txn_count: 0,
            updated_at: '2026-11-22T01:31:04.394Z',
          },
        ],
        next_page_token: 'AQAAAAAAAAAx_7b7qRuEYvLuW7CeS6-qxg',
        total_count: 256,
        total_count_relation: 'eq',
      },
    },
  },
}

export const GET_SHARD_EXAMPLES: Examples = {
  first: {
    summary: 'One shard',
    as: 'viewer',
    path: { shardId: '0' },
    answer: {
      status: 200,
      body: {
        shard_id: 0,
        owner: 'node-1',
        epoch: 1,
        health_state: 'healthy',
        txn_count: 0,
        updated_at: '2026-11-22T01:31:04.340Z',
      },
    },
  },
}

export const PUT_SHARD_HEALTH_EXAMPLES: Examples = {
  drain: {
    summary: 'A shard is to be drained',
    as: 'admin',
    path: { shardId: '0' },
    body: { health_state: 'draining' },
    answer: {
      status: 200,
      body: {
        shard_id: 0,
        owner: 'node-1',
        epoch: 1,
        health_state: 'draining',
        txn_count: 0,
        updated_at: '2026-11-22T01:31:07.827Z',
      },
    },
  },
  stop: {
    summary: 'And no longer',
    as: 'admin',
    path: { shardId: '0' },
    body: { health_state: 'healthy' },
    answer: {
      status: 200,
      body: {
        shard_id: 0,
        owner: 'node-1',
        epoch: 1,
        health_state: 'healthy',
        txn_count: 0,
        updated_at: '2026-11-22T01:31:07.850Z',
      },
    },
  },
}
