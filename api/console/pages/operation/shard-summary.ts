import type { Shard } from '../../../client/index.ts'

export interface NodeSummary {
  readonly node: string
  readonly shards: number
  readonly draining: number
  readonly transactions: number
}

export interface ShardSummary {
  readonly total: number
  readonly healthy: number
  readonly unowned: number
  readonly transactions: number
  /** By name. */
  readonly nodes: readonly NodeSummary[]
}

export function summarizeShards(shards: readonly Shard[]): ShardSummary {
  const nodes = new Map<string, NodeSummary>()
  for (const { owner, health_state: health, txn_count: count } of shards) {
    if (owner === null) continue
    const node = nodes.get(owner) ?? { node: owner, shards: 0, draining: 0, transactions: 0 }
    nodes.set(owner, {
      node: owner,
      shards: node.shards + 1,
      draining: node.draining + (health === 'draining' ? 1 : 0),
      transactions: node.transactions + count,
    })
  }
  return {
    total: shards.length,
    healthy: shards.filter((shard) => shard.health_state === 'healthy').length,
    unowned: shards.filter(({ owner }) => owner === null).length,
    transactions: shards.reduce((sum, { txn_count: count }) => sum + count, 0),
    nodes: [...nodes.values()].toSorted((one, other) => one.node.localeCompare(other.node, 'en', { numeric: true })),
  }
}
