/**
 * The number of finished transactions of each shard. A commit adds one row to `commit_counts`; nodes fold these rows into
 * `shard_counts`, one row per shard. The count of a shard is the sum over both tables in one snapshot.
 *   C1. The count is exact: a commit's row is part of the commit, and a fold moves rows in one statement.
 *   C2. The cost of a read depends on the number of shards and on the commits since the last fold, never on accounts.
 */
import type postgres from 'postgres'
import type { Sql } from '../connection/connection.ts'

/** Rows that one fold moves: more than a node commits in the 2 s between folds. */
const MOST_AT_ONCE = 10_000
/** 'ledger count' in a key of 64 bits. Two folds at once would lock rows of `shard_counts` in different orders. */
const FOLD_LOCK = '7810198402634810714'

/** Part of a commit's statement; `fence` has the committed shards with their counts. */
export const INSERT_COUNTS = `INSERT INTO commit_counts (shard_ids, completed, failed)
SELECT array_agg(shard_id), array_agg(completed), array_agg(failed)
  FROM fence
 WHERE completed + failed > 0
HAVING count(*) > 0`

/** A relation (shard_id, completed, failed). A shard may have several rows, or none. */
export function countedRows(sql: postgres.ISql) {
  return sql`(
    SELECT shard_id, completed, failed FROM shard_counts
     UNION ALL
    SELECT u.shard_id, u.completed, u.failed
      FROM commit_counts, unnest(shard_ids, completed, failed) AS u (shard_id, completed, failed))`
}

/** Does nothing while another session folds. A row that a concurrent fold moved is not counted again. */
export async function foldCounts(sql: Sql): Promise<void> {
  await sql`
    WITH turn AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(${FOLD_LOCK}::bigint) AS mine
    ), folded AS (
      DELETE FROM commit_counts
       WHERE (SELECT mine FROM turn) AND ctid = ANY (ARRAY(SELECT ctid FROM commit_counts LIMIT ${MOST_AT_ONCE}))
      RETURNING shard_ids, completed, failed
    )
    INSERT INTO shard_counts AS known (shard_id, completed, failed)
    SELECT u.shard_id, sum(u.completed), sum(u.failed)
      FROM folded, unnest(folded.shard_ids, folded.completed, folded.failed) AS u (shard_id, completed, failed)
     GROUP BY u.shard_id
    ON CONFLICT (shard_id) DO UPDATE
    SET completed = known.completed + excluded.completed, failed = known.failed + excluded.failed`
}
