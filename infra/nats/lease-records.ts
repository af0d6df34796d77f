/**
 * The records in the buckets, as JSON. A record without the shape is refused, so that no partial record takes effect.
 * Adjacent releases read each other's records: fields are only added, and unknown ones are ignored.
 */
import type { SessionRecord, ShardHint } from '../../runtime/ports/lease-store.ts'

export function encodeSession({ nodeId, session, ready, draining, refusedShards }: SessionRecord): string {
  return JSON.stringify({ nodeId, session, ready, draining, refusedShards })
}

/** Throws an error that quotes nothing. */
export function decodeSession(text: string): SessionRecord {
  const { nodeId, session, ready, draining, refusedShards } = parseObject(text)
  if (
    typeof nodeId !== 'string' ||
    typeof session !== 'string' ||
    typeof ready !== 'boolean' ||
    typeof draining !== 'boolean' ||
    !isIntegers(refusedShards)
  ) {
    throw new Error('not a session record')
  }
  return { nodeId, session, ready, draining, refusedShards }
}

export function encodeHint({ shardId, nodeId, session, epoch }: ShardHint): string {
  return JSON.stringify({ shardId, nodeId, session, epoch })
}

/** Throws an error that quotes nothing. */
export function decodeHint(text: string): ShardHint {
  const { shardId, nodeId, session, epoch } = parseObject(text)
  if (!isInteger(shardId) || !isInteger(epoch) || !isStringOrNull(nodeId) || !isStringOrNull(session)) {
    throw new Error('not a shard hint')
  }
  return { shardId, nodeId, session, epoch }
}

function parseObject(text: string): Partial<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('not JSON')
  }
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isIntegers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isInteger)
}

function isStringOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
