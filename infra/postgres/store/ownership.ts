/**
 * Shard ownership. Each change is one autocommit UPDATE of one row, which waits for a commit that holds it, and
 * uses another connection than the commits. The new owner loads the shard afterwards, in separate statements: a statement
 * that waited still reads the state from before it waited (I1).
 */
import { invariant } from '../../../actors/result.ts'
import type { AcquireResult, ShardRecord, ShardToken } from '../../../runtime/ports/ledger-store.ts'
import { GIVEN_UP_AFTER_MS } from '../../../runtime/node/ownership/shard-state.ts'
import type { Sql } from '../connection/connection.ts'
import { codeOf } from '../connection/failure.ts'

/** The owner that an acquire writes beside the epoch. */
export interface Owner {
  readonly nodeId: string
  readonly session: string
}

const LOCK_NOT_AVAILABLE = '55P03'

export async function listShards(sql: Sql): Promise<readonly ShardRecord[]> {
  return await sql<ShardRecord[]>`
    SELECT shard_id AS "shardId", epoch::float8 AS epoch, attempt, node_id AS "nodeId", session
      FROM shards ORDER BY shard_id`
}

export interface ShardCounts {
  readonly total: number
  /** Shards with an owner that are not `unavailable`. A read-only server serves none. */
  readonly served: number
}

export async function countShards(sql: Sql): Promise<ShardCounts> {
  const [counts] = await sql<ShardCounts[]>`
    SELECT count(*)::integer AS total,
           (count(*) FILTER (
             WHERE s.session IS NOT NULL AND current_setting('transaction_read_only') = 'off'
               AND coalesce(n.probed_at, s.updated_at) > now() - ${GIVEN_UP_AFTER_MS}::float8 * interval '1 ms'
           ))::integer AS served
      FROM shards s
      LEFT JOIN sessions n ON n.session = s.session`
  return counts ?? { total: 0, served: 0 }
}

/** Needs a connection with a `lock_timeout`. */
export async function acquireShard(
  sql: Sql,
  owner: Owner,
  shardId: number,
  seenEpoch: number,
  nextEpoch: number,
): Promise<AcquireResult> {
  invariant(nextEpoch > seenEpoch, 'a shard is acquired with a larger epoch than the one seen')
  try {
    const rows = await sql`
      UPDATE shards
         SET epoch = ${nextEpoch}, attempt = 0, node_id = ${owner.nodeId}, session = ${owner.session}, updated_at = now()
       WHERE shard_id = ${shardId} AND epoch = ${seenEpoch}
      RETURNING shard_id`
    return rows.length === 1 ? { kind: 'owned', token: { shardId, epoch: nextEpoch, attempt: 0 } } : { kind: 'lost' }
  } catch (error) {
    if (codeOf(error) === LOCK_NOT_AVAILABLE) return { kind: 'locked' }
    throw error
  }
}

export async function releaseShard(sql: Sql, session: string, token: ShardToken): Promise<boolean> {
  const rows = await sql`
    UPDATE shards
       SET epoch = epoch + 1, attempt = 0, node_id = NULL, session = NULL, updated_at = now()
     WHERE shard_id = ${token.shardId} AND epoch = ${token.epoch} AND attempt = ${token.attempt} AND session = ${session}
    RETURNING shard_id`
  return rows.length === 1
}

export async function raiseAttempt(sql: Sql, session: string, token: ShardToken): Promise<boolean> {
  const rows = await sql`
    UPDATE shards
       SET attempt = attempt + 1, updated_at = now()
     WHERE shard_id = ${token.shardId} AND epoch = ${token.epoch} AND attempt = ${token.attempt} AND session = ${session}
    RETURNING shard_id`
  return rows.length === 1
}
