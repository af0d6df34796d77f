/**
 * Shards as operators see them. Invariants H1 to H3 of the port, and:
 *   H4. The rows of `shards` are read and never locked or written: every commit locks them.
 *   H5. Counts come from `shard_counts` (C1, C2): a read costs the same for any number of accounts.
 */
import type postgres from 'postgres'
import {
  type HealthChange,
  type HealthOutcome,
  type ShardHealth,
  ShardHealthUnavailable,
  type ShardsPage,
  type ShardView,
} from '../../../runtime/ports/shard-health.ts'
import { healthStateOf, sinceMovedMs } from '../../../runtime/node/ownership/shard-state.ts'
import { createQueryPool, type QueryPool, type QueryPoolOptions } from '../connection/query-pool.ts'
import { countedRows } from '../rows/shard-counts.ts'

export interface PostgresShardHealth extends ShardHealth {
  readonly close: () => Promise<void>
}

export interface ShardHealthOptions {
  readonly url: string
}

/** An edge occupies at most two server processes with these reads. */
const READERS = 2

export function createShardHealth({ url }: ShardHealthOptions): PostgresShardHealth {
  const common: Pick<QueryPoolOptions, 'url' | 'unavailable'> = {
    url,
    unavailable: (message, cause) => new ShardHealthUnavailable(message, cause),
  }
  const reads = createQueryPool({ ...common, name: 'ledger shard health', readsOnly: true, size: READERS })
  const writes = createQueryPool({ ...common, name: 'ledger shard health writes', size: 1 })
  const shard = (shardId: number) => readShard(reads, shardId)
  return {
    shards: (after, limit) => readShards(reads, after, limit),
    shard,
    async record(change) {
      const { shardId, minTxnCount } = change
      const before = await shard(shardId)
      if (before === undefined) return { kind: 'no_such_shard' }
      // The count never falls (H2): enough now is enough when it is written.
      if (minTxnCount !== null && before.txnCount < minTxnCount) return { kind: 'too_few', txnCount: before.txnCount }
      await writes.run((sql) => writeHealth(sql, change))
      return recordedOf(await shard(shardId))
    },
    close: async () => {
      await Promise.all([reads.close(), writes.close()])
    },
  }
}

function recordedOf(shard: ShardView | undefined): HealthOutcome {
  return shard === undefined ? { kind: 'no_such_shard' } : { kind: 'recorded', shard }
}

interface ShardRow {
  readonly shard_id: number
  readonly epoch: string
  readonly node_id: string | null
  readonly draining: boolean
  readonly owned_ms: number
  readonly silent_ms: number
  readonly read_only: boolean
  readonly updated_at: Date
  readonly txn_count: string
}

/** A raised attempt changes the row of a shard and not its owner: how long that one has it is not known then. */
function selectShards(sql: postgres.Sql) {
  return sql`
    SELECT s.shard_id, s.epoch, s.node_id, coalesce(h.health_state = 'draining', false) AS draining,
           CASE WHEN s.attempt = 0 THEN (extract(epoch FROM now() - s.updated_at) * 1000)::float8
                ELSE 'infinity' END AS owned_ms,
           (extract(epoch FROM now() - coalesce(n.probed_at, s.updated_at)) * 1000)::float8 AS silent_ms,
           current_setting('transaction_read_only') = 'on' AS read_only,
           greatest(s.updated_at, h.updated_at) AS updated_at, coalesce(c.txn_count, 0) AS txn_count
      FROM shards s
      LEFT JOIN sessions n ON n.session = s.session
      LEFT JOIN shard_health h ON h.shard_id = s.shard_id
      LEFT JOIN (SELECT shard_id, sum(completed + failed) AS txn_count FROM ${countedRows(sql)} counted
                  GROUP BY shard_id) c ON c.shard_id = s.shard_id`
}

async function readShards(pool: QueryPool, after: number, limit: number): Promise<ShardsPage> {
  const [rows, [counted]] = await Promise.all([
    pool.run(
      (sql) => sql<ShardRow[]>`
        ${selectShards(sql)} WHERE s.shard_id > ${after} ORDER BY s.shard_id LIMIT ${limit + 1}`,
    ),
    pool.run((sql) => sql<{ readonly total: number }[]>`SELECT count(*)::integer AS total FROM shards`),
  ])
  const shards = rows.slice(0, limit).map(viewOf)
  return {
    shards,
    next: rows.length > limit ? (shards.at(-1)?.shardId ?? null) : null,
    total: counted?.total ?? 0,
  }
}

async function readShard(pool: QueryPool, shardId: number): Promise<ShardView | undefined> {
  const [row] = await pool.run((sql) => sql<ShardRow[]>`${selectShards(sql)} WHERE s.shard_id = ${shardId}`)
  return row && viewOf(row)
}

function viewOf(row: ShardRow): ShardView {
  const epoch = Number(row.epoch)
  return {
    shardId: row.shard_id,
    owner: row.node_id,
    epoch,
    healthState: healthStateOf({
      draining: row.draining,
      owned: row.node_id !== null,
      ownedForMs: sinceMovedMs(epoch, row.owned_ms),
      silentForMs: row.read_only ? Number.POSITIVE_INFINITY : row.silent_ms,
    }),
    txnCount: Number(row.txn_count),
    updatedAtMs: row.updated_at.getTime(),
  }
}

/** An unchanged state leaves the row, with the administrator who recorded it first and the time. */
async function writeHealth(sql: postgres.Sql, { shardId, state, recordedBy }: HealthChange): Promise<void> {
  await sql`
    INSERT INTO shard_health AS known (shard_id, health_state, recorded_by, updated_at, leaves)
    SELECT shard_id, ${state}, ${recordedBy}, now(), CASE WHEN ${state} = 'draining' THEN node_id END
      FROM shards WHERE shard_id = ${shardId}
    ON CONFLICT (shard_id) DO UPDATE
    SET health_state = excluded.health_state, recorded_by = excluded.recorded_by, updated_at = excluded.updated_at,
        leaves = excluded.leaves
    WHERE known.health_state <> excluded.health_state`
}
