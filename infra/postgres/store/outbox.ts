/**
 * Messages after the commit that sent them: what receivers took in, and what may go. Neither is behind a fence: both
 * follow from facts that never go back.
 */
import type { AcknowledgedChannel } from '../../../runtime/ports/ledger-store.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { arrayLiteral, column } from '../connection/array-literal.ts'
import type { Sql } from '../connection/connection.ts'
import { shardIds } from './look-up-parameters.ts'
import { prepared } from '../connection/prepared.ts'

/** In order, since two who were told of the same shards may write at once. */
export const ACKNOWLEDGE = `
INSERT INTO outbox_acknowledgements (shard_id, target_shard, acknowledged)
SELECT c.shard_id, c.target_shard, least(max(i.acknowledged), c.sent)
  FROM unnest($1::integer[], $2::integer[], $3::bigint[]) AS i (shard_id, target_shard, acknowledged)
  JOIN outbox_channels c ON c.shard_id = i.shard_id AND c.target_shard = i.target_shard
 WHERE i.acknowledged > 0
 GROUP BY c.shard_id, c.target_shard
 ORDER BY c.shard_id, c.target_shard
ON CONFLICT (shard_id, target_shard) DO UPDATE SET acknowledged = excluded.acknowledged
 WHERE outbox_acknowledgements.acknowledged < excluded.acknowledged`

export async function acknowledge(sql: Sql, channels: readonly AcknowledgedChannel[]): Promise<void> {
  if (channels.length === 0) return
  const targets = column('integer', channels, ({ target }) => target)
  const acknowledged = column('bigint', channels, (channel) => channel.acknowledged)
  await prepared(sql, ACKNOWLEDGE, [shardIds(channels), targets, acknowledged])
}

/**
 * Numbers of a channel grow with time, so each is walked from its oldest message to the first that is too young, and
 * never further than the limit: what is read is what is deleted, and one row a channel.
 */
export const PRUNE = `
WITH old AS (
SELECT a.shard_id, a.target_shard, o.number
  FROM unnest($1::integer[]) AS i (shard_id)
  JOIN outbox_acknowledgements a ON a.shard_id = i.shard_id
 CROSS JOIN LATERAL (
   SELECT m.number FROM outbox m
    WHERE m.shard_id = a.shard_id AND m.target_shard = a.target_shard AND m.number <= a.acknowledged
      AND m.number < coalesce((
        SELECT y.number
          FROM (SELECT f.number, f.written_at FROM outbox f
                 WHERE f.shard_id = a.shard_id AND f.target_shard = a.target_shard
                 ORDER BY f.number LIMIT $3::integer) y
         WHERE y.written_at >= $2::timestamptz
         ORDER BY y.number LIMIT 1), a.acknowledged + 1)
    ORDER BY m.number LIMIT $3::integer) o
 LIMIT $3::integer),
deleted AS (
DELETE FROM outbox d USING old
 WHERE d.shard_id = old.shard_id AND d.target_shard = old.target_shard AND d.number = old.number
RETURNING 1)
SELECT count(*)::integer AS pruned FROM deleted`

export async function prune(
  sql: Sql,
  shards: readonly number[],
  writtenBeforeMs: number,
  limit: number,
): Promise<number> {
  if (shards.length === 0) return 0
  const parameters = [arrayLiteral('integer', shards), isoTimestamp(writtenBeforeMs), limit]
  const [row] = await prepared<{ readonly pruned: number }>(sql, PRUNE, parameters)
  if (row === undefined) throw new Error('a prune returned nothing')
  return row.pruned
}
