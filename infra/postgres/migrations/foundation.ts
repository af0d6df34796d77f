/** The ledger itself, its shards with their owners, and the servers that it may run on. */
export const FOUNDATION = `
-- Each secret is sealed under the master key. sealed_index_secret: keys the hashes that stand for IDs. amount_index: whose
-- hashes stand for magnitudes of amounts.
CREATE TABLE ledger (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  shard_count integer NOT NULL CHECK (shard_count BETWEEN 1 AND 65536),
  created_at timestamptz NOT NULL,
  ledger_id text NOT NULL,
  amount_index text NOT NULL CHECK (amount_index IN ('account', 'ledger', 'off')),
  sealed_shard_secret bytea NOT NULL,
  sealed_root_secret bytea NOT NULL,
  sealed_message_secret bytea NOT NULL,
  sealed_index_secret bytea NOT NULL
);

-- Every commit locks rows of this table: they change only with the owner or after an unknown outcome.
CREATE TABLE shards (
  epoch bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now(),
  shard_id integer PRIMARY KEY,
  attempt integer NOT NULL DEFAULT 0,
  node_id text,
  session text
) WITH (fillfactor = 50);

-- A heartbeat writes the row: proof that writes of its session commit. probes: the number of heartbeats. Nodes remember
-- it outside PostgreSQL.
CREATE TABLE sessions (
  started_at timestamptz NOT NULL,
  probed_at timestamptz NOT NULL,
  probes bigint NOT NULL DEFAULT 0,
  session text PRIMARY KEY,
  node_id text NOT NULL
) WITH (fillfactor = 50);

-- A table of its own: every commit locks rows of \`shards\`, and an administrator's record must neither wait there nor
-- block a commit. A shard without a row is healthy. leaves: the node that a draining shard is to leave; null if the shard
-- had no owner, or is not draining.
CREATE TABLE shard_health (
  updated_at timestamptz NOT NULL,
  shard_id integer PRIMARY KEY,
  health_state text NOT NULL CHECK (health_state IN ('healthy', 'draining')),
  recorded_by text COLLATE "C" NOT NULL,
  leaves text COLLATE "C"
);
CREATE TABLE drained_nodes (
  recorded_at timestamptz NOT NULL,
  node_id text COLLATE "C" PRIMARY KEY
);

-- One row for each commit that finished transactions: shards and their counts, at the same position of each array. Commits
-- only insert here: an UPDATE of one row per shard would slow every commit while a long snapshot keeps its versions.
CREATE TABLE commit_counts (
  shard_ids integer[] NOT NULL,
  completed bigint[] NOT NULL,
  failed bigint[] NOT NULL
);
-- Sums of the folded rows. A shard without a row has no folded transactions.
CREATE TABLE shard_counts (
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  shard_id integer PRIMARY KEY
) WITH (fillfactor = 50);

-- A server that was restored from a backup, or a standby that was promoted, has another identifier or another timeline: it
-- may lack commits. Nodes run only on a server in this table. An administrator adds a server once nothing is missing.
-- acceptance: new for each acceptance by an administrator. went_back_at: a node saw that commits are missing.
CREATE TABLE accepted_servers (
  accepted_at timestamptz NOT NULL,
  went_back_at timestamptz,
  acceptance uuid NOT NULL DEFAULT gen_random_uuid(),
  system_identifier text COLLATE "C" NOT NULL,
  timeline text COLLATE "C" NOT NULL,
  PRIMARY KEY (system_identifier, timeline)
);

-- Raises inside the statement that calls it, so that nothing of that statement is applied (I1b).
CREATE FUNCTION ledger_demand(holds boolean, broken text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF holds IS NOT TRUE THEN RAISE EXCEPTION USING ERRCODE = 'LG001', MESSAGE = broken; END IF;
  RETURN true;
END $$;
`
