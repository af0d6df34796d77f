/** Shards: the body that records the health of one, and responses (D15). */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { RECORDED_STATES } from '../../../runtime/ports/shard-health.ts'
import { unsignedOptional } from '../fields.ts'
import { define } from '../named-schema.ts'
import { readBody } from '../read-body.ts'
import { count, countedPage, shardId, text, timestamp } from '../values.ts'

const STATE_RULE = `must be ${RECORDED_STATES.join(' or ')}`
const COUNT_RULE = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`

export const shardHealthSchema = define('ShardHealth', 'The health to record for a shard.', {
  health_state: [v.picklist(RECORDED_STATES, STATE_RULE), 'Whether it is to be drained.'],
  txn_count: [
    unsignedOptional(v.pipe(v.number(COUNT_RULE), v.safeInteger(COUNT_RULE), v.minValue(0, COUNT_RULE))),
    'How many transactions it must have processed for this to be recorded.',
  ],
})

/** Fields that are not known are ignored: the body is not signed. */
export function readShardHealth(body: JsonObject) {
  return readBody(shardHealthSchema, body)
}

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
  ...countedPage,
})
