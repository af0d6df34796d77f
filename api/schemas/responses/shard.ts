/** Responses about shards (D15). */
import * as v from 'valibot'
import { count, countRelation, pageToken, shardId, text, timestamp } from './values.ts'

export const shardResponse = v.object({
  shard_id: shardId,
  owner: v.nullable(text),
  epoch: count,
  health_state: v.picklist(['healthy', 'moving', 'draining', 'unavailable']),
  txn_count: count,
  updated_at: timestamp,
})

export const shardListResponse = v.object({
  shards: v.array(shardResponse),
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})
