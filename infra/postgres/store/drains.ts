/**
 * Nodes and shards that administrators drain. Nodes follow at their next look; it is no fence, and nothing waits for it.
 */
import type { Drains } from '../../../runtime/ports/ledger-store.ts'
import type { Sql } from '../connection/connection.ts'

export async function readDrains(sql: Sql): Promise<Drains> {
  const rows = await sql<{ shard_id: number | null; node_id: string }[]>`
    SELECT NULL::integer AS shard_id, node_id FROM drained_nodes
    UNION ALL
    SELECT shard_id, leaves FROM shard_health WHERE health_state = 'draining' AND leaves IS NOT NULL`
  const nodes = new Set<string>()
  const shards = new Map<number, string>()
  for (const { shard_id: shardId, node_id: nodeId } of rows) {
    if (shardId === null) nodes.add(nodeId)
    else shards.set(shardId, nodeId)
  }
  return { nodes, shards }
}

/** False: it was so before. */
export async function drainNode(sql: Sql, nodeId: string): Promise<boolean> {
  const rows = await sql`
    INSERT INTO drained_nodes (node_id, recorded_at) VALUES (${nodeId}, now()) ON CONFLICT DO NOTHING RETURNING node_id`
  return rows.length === 1
}

/** False: it was not drained. */
export async function endDrain(sql: Sql, nodeId: string): Promise<boolean> {
  const rows = await sql`DELETE FROM drained_nodes WHERE node_id = ${nodeId} RETURNING node_id`
  return rows.length === 1
}

/** IDs of nodes that have ever served here, in order. */
export async function nodesSeen(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ node_id: string }[]>`
    SELECT node_id FROM sessions UNION SELECT node_id FROM shards WHERE node_id IS NOT NULL ORDER BY node_id`
  return rows.map((row) => row.node_id)
}
