/** How many transactions each shard has finished, so that no reader sums over accounts. */
export const SHARD_COUNTS = `
-- One row for each commit that finished transactions: shards and their counts, at the same position of each array. Commits
-- only insert here: an UPDATE of one row per shard would slow every commit while a long snapshot keeps its versions.
CREATE TABLE commit_counts (
  shard_ids integer[] NOT NULL,
  completed bigint[] NOT NULL,
  failed bigint[] NOT NULL
);
-- Sums of the folded rows. A shard without a row has no folded transactions.
CREATE TABLE shard_counts (
  shard_id integer PRIMARY KEY,
  completed bigint NOT NULL,
  failed bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO shard_counts (shard_id, completed, failed)
SELECT shard_id, sum(completed_count), sum(failed_count) FROM accounts GROUP BY shard_id;
ALTER TABLE sessions DROP COLUMN completed_count, DROP COLUMN failed_count;
`
