/** The shape of what is said of a shard (D15). */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { RECORDED_STATES } from '../../runtime/ports/shard-health.ts'
import { unsignedOptional } from './fields.ts'
import { define } from './named-schema.ts'
import { readBody } from './read-body.ts'

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
