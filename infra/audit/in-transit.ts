/** SQL that only sees messages whose receiver has not taken them in: what the ledger has on its way. */

/**
 * A relation of outbox rows. Channels that are up to date are passed over; the others are walked from their mark on,
 * whatever statistics say: the messages of a week lie there, and a handful is on its way.
 */
export const UNDELIVERED = `
SELECT o.*
  FROM outbox_channels c
  LEFT JOIN inbox_marks m ON m.shard_id = c.target_shard AND m.source_shard = c.shard_id
 CROSS JOIN LATERAL (
   SELECT * FROM outbox w
    WHERE w.shard_id = c.shard_id AND w.target_shard = c.target_shard AND w.number > coalesce(m.mark, 0)
    ORDER BY w.number OFFSET 0) o
 WHERE c.sent > coalesce(m.mark, 0)`
