/** Shards as operators see them, in memory: all that the port promises, for tests that want no database. */
import type { ShardHealth, ShardView } from '../../../runtime/ports/shard-health.ts'
import { healthStateOf, sinceMovedMs } from '../../../runtime/node/ownership/shard-state.ts'

export interface MemoryShard {
  owner: string | null
  epoch: number
  ownedForMs: number
  silentForMs: number
  txnCount: number
  updatedAtMs: number
}

/** State that all made from it share. */
export interface MemoryShardState {
  readonly shards: Map<number, MemoryShard>
  readonly draining: Set<number>
  /** The last recorder, by shard; a shard without a record is absent. */
  readonly recordedBy: Map<number, string>
  nowMs: number
}

export function createMemoryShardState(shardCount: number, nowMs: number): MemoryShardState {
  const idle: MemoryShard = { owner: null, epoch: 0, ownedForMs: 0, silentForMs: 0, txnCount: 0, updatedAtMs: nowMs }
  return {
    shards: new Map(Array.from({ length: shardCount }, (_, shardId) => [shardId, { ...idle }])),
    draining: new Set(),
    recordedBy: new Map(),
    nowMs,
  }
}

export function createMemoryShardHealth(state: MemoryShardState): ShardHealth {
  const { shards, draining, recordedBy } = state
  const viewOf = (shardId: number): ShardView | undefined => {
    const shard = shards.get(shardId)
    if (shard === undefined) return undefined
    const { owner, epoch, silentForMs, txnCount, updatedAtMs } = shard
    const ownedForMs = sinceMovedMs(epoch, shard.ownedForMs)
    const signs = { draining: draining.has(shardId), owned: owner !== null, ownedForMs, silentForMs }
    return { shardId, owner, epoch, healthState: healthStateOf(signs), txnCount, updatedAtMs }
  }
  return {
    async shards(after, limit) {
      const rest = [...shards.keys()].sort((a, b) => a - b).filter((shardId) => shardId > after)
      const page = rest.slice(0, limit)
      return {
        shards: page.flatMap((shardId) => viewOf(shardId) ?? []),
        next: rest.length > limit ? (page.at(-1) ?? null) : null,
        total: shards.size,
      }
    },
    shard: async (shardId) => viewOf(shardId),
    async record({ shardId, state: said, minTxnCount, recordedBy: client }) {
      const shard = shards.get(shardId)
      if (shard === undefined) return { kind: 'no_such_shard' }
      if (minTxnCount !== null && shard.txnCount < minTxnCount) return { kind: 'too_few', txnCount: shard.txnCount }
      if (!recordedBy.has(shardId) || draining.has(shardId) !== (said === 'draining')) {
        recordedBy.set(shardId, client)
        shard.updatedAtMs = Math.max(shard.updatedAtMs, state.nowMs)
        if (said === 'draining') draining.add(shardId)
        else draining.delete(shardId)
      }
      const view = viewOf(shardId)
      return view === undefined ? { kind: 'no_such_shard' } : { kind: 'recorded', shard: view }
    },
  }
}
