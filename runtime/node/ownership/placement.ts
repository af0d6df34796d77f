/**
 * Intended shard owners: rendezvous hashing with bounded load, which every node computes alike from the same list,
 * without coordination. (Thaler and Ravishankar 1998; bounded loads after Mirrokni, Thorup and Zadimoghaddam 2018.)
 */

import type { SessionRecord } from '../../ports/lease-store.ts'
import type { Drains } from '../../ports/ledger-store.ts'

/** No node gets more than this times the mean, rounded up. */
const LOAD_BOUND = 1.1

export interface PlacementNode {
  readonly nodeId: string
  /** Shards that it cannot serve. */
  readonly refusedShards: ReadonlySet<number>
  /** Shards that it should not have while another node can have them. */
  readonly avoidedShards: ReadonlySet<number>
}

/** The node that should own each shard; shards that no node can serve are left out. */
export function placeShards(shardIds: readonly number[], nodes: readonly PlacementNode[]): ReadonlyMap<number, string> {
  const placed = new Map<number, string>()
  if (nodes.length === 0) return placed
  const capacity = Math.ceil((LOAD_BOUND * shardIds.length) / nodes.length)
  const loads = new Map<string, number>()
  for (const shardId of [...shardIds].sort((a, b) => a - b)) {
    const able = nodes.filter(({ refusedShards }) => !refusedShards.has(shardId))
    const free = able.filter(({ avoidedShards }) => !avoidedShards.has(shardId))
    const byScore = (free.length > 0 ? free : able)
      .map(({ nodeId }) => ({ nodeId, score: scoreOf(nodeId, shardId) }))
      .sort((a, b) => b.score - a.score || (a.nodeId < b.nodeId ? -1 : 1))
    const chosen = byScore.find(({ nodeId }) => (loads.get(nodeId) ?? 0) < capacity) ?? byScore[0]
    if (chosen === undefined) continue
    placed.set(shardId, chosen.nodeId)
    loads.set(chosen.nodeId, (loads.get(chosen.nodeId) ?? 0) + 1)
  }
  return placed
}

/** The intended owner of each shard, among live nodes. */
export function placeOn(
  candidates: readonly Pick<SessionRecord, 'nodeId' | 'refusedShards'>[],
  shardIds: readonly number[],
  drains: Pick<Drains, 'shards'>,
): ReadonlyMap<number, string> {
  const drained = [...drains.shards]
  return placeShards(
    shardIds,
    candidates.map(({ nodeId, refusedShards }) => ({
      nodeId,
      refusedShards: new Set(refusedShards),
      avoidedShards: new Set(drained.filter(([, leaves]) => leaves === nodeId).map(([shardId]) => shardId)),
    })),
  )
}

/** The intended session of each shard. */
export function sessionsOf(
  candidates: readonly Pick<SessionRecord, 'nodeId' | 'session'>[],
  placed: ReadonlyMap<number, string>,
): ReadonlyMap<number, string> {
  const byNode = new Map(candidates.map(({ nodeId, session }) => [nodeId, session]))
  const sessions = new Map<number, string>()
  for (const [shardId, nodeId] of placed) {
    const session = byNode.get(nodeId)
    if (session !== undefined) sessions.set(shardId, session)
  }
  return sessions
}

/** 32 bits, well mixed: FNV-1a over the name and the shard, with the finalizer of MurmurHash3. */
function scoreOf(nodeId: string, shardId: number): number {
  let hash = 0x811c9dc5
  const text = `${nodeId}/${shardId}`
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
