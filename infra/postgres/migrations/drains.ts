/** What administrators want emptied: nodes, and shards of the node that had them when it was said. */
export const DRAINS = `
CREATE TABLE drained_nodes (
  node_id text COLLATE "C" PRIMARY KEY,
  recorded_at timestamptz NOT NULL
);
-- The node that a draining shard is to leave; null if nobody had it, or it is not draining.
ALTER TABLE shard_health ADD COLUMN leaves text COLLATE "C";
`
