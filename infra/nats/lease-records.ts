/**
 * The JSON records in the buckets. A malformed record is refused, so that no partial record takes effect. Adjacent releases
 * read each other's records: fields are only added, and unknown ones are ignored.
 */
import * as v from 'valibot'
import type { SessionRecord, ShardHint } from '../../runtime/ports/lease-store.ts'

const integer = v.pipe(v.number(), v.safeInteger())
const sessionSchema = v.object({
  nodeId: v.string(),
  session: v.string(),
  ready: v.boolean(),
  draining: v.boolean(),
  refusedShards: v.array(integer),
})
const hintSchema = v.object({
  shardId: integer,
  nodeId: v.nullable(v.string()),
  session: v.nullable(v.string()),
  epoch: integer,
})

export function encodeSession({ nodeId, session, ready, draining, refusedShards }: SessionRecord): string {
  return JSON.stringify({ nodeId, session, ready, draining, refusedShards })
}

/** Throws an error that quotes nothing of the text. */
export function decodeSession(text: string): SessionRecord {
  return decode(sessionSchema, text, 'not a session record')
}

export function encodeHint({ shardId, nodeId, session, epoch }: ShardHint): string {
  return JSON.stringify({ shardId, nodeId, session, epoch })
}

/** Throws an error that quotes nothing of the text. */
export function decodeHint(text: string): ShardHint {
  return decode(hintSchema, text, 'not a shard hint')
}

function decode<T>(schema: v.GenericSchema<unknown, T>, text: string, problem: string): T {
  try {
    return v.parse(schema, JSON.parse(text))
  } catch {
    throw new Error(problem)
  }
}
