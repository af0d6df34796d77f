/** Responses about shards (D15). */
import * as v from 'valibot'
import { count, countRelation, pageToken, shardId, text, timestamp } from './values.ts'
import { define } from '../named-schema.ts'

export const shardResponse = define('Shard', 'A shard.', {
  shard_id: shardId,
  owner: [v.nullable(text), 'The node that owns it; null while none does.'],
  epoch: [count, 'How often it has changed hands.'],
  health_state: [v.picklist(['healthy', 'moving', 'draining', 'unavailable']), 'How it fares.'],
  txn_count: [count, 'How many transactions it has processed.'],
  updated_at: timestamp,
})

export const shardListResponse = define('ShardList', 'One page of shards.', {
  shards: [v.array(shardResponse), 'The shards of this page.'],
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})
