/** What administrators say of shards. */
export const SHARD_HEALTH = `
-- A table of its own: every commit locks rows of \`shards\`, and what an administrator says must not wait there, nor be
-- waited for. A shard of which nothing was ever said has no row. updated_at: when it last changed.
CREATE TABLE shard_health (
  shard_id integer PRIMARY KEY,
  health_state text NOT NULL CHECK (health_state IN ('healthy', 'draining')),
  recorded_by text COLLATE "C" NOT NULL,
  updated_at timestamptz NOT NULL
);
`
