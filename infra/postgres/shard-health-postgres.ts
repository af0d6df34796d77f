/**
 * Shards as operators see them. Invariants H1 to H3 of the port, and:
 *   H4. The rows of `shards` are read and never locked or written: every commit locks them.
 *   H5. What was processed is summed over the accounts, where the commits count it: of one shard by the index that leads
 *       with it, of all in one walk over the table that an edge makes at most once at a time and shares (0.3 s of
 *       one core for a million accounts, 20 ms for one shard of 256). No worker helps, and what takes longer than ten
 *       seconds is given up.
 */
import type postgres from 'postgres'
import type { Clock } from '../../runtime/ports/clock.ts'
import {
  type HealthChange,
  type HealthOutcome,
  type ShardHealth,
  ShardHealthUnavailable,
  type ShardsPage,
  type ShardView,
} from '../../runtime/ports/shard-health.ts'
import { healthStateOf } from '../../runtime/shard-state.ts'
import { createQueryPool, type QueryPool } from './query-pool.ts'
import { createSharedReading } from './shared-reading.ts'

export interface PostgresShardHealth extends ShardHealth {
  readonly close: () => Promise<void>
}

export interface ShardHealthOptions {
  readonly url: string
  readonly clock: Pick<Clock, 'monotonic'>
}

const COUNT_TIMEOUT_MS = 10_000
const WRITE_TIMEOUT_MS = 5_000
/** The walk, and one more: never more than two server processes of an edge are busy with this. */
const READERS = 2
const READ_SETTINGS = { default_transaction_read_only: 'on', max_parallel_workers_per_gather: '0' }

export function createShardHealth({ url, clock }: ShardHealthOptions): PostgresShardHealth {
  const unavailable = (message: string, cause: ErrorOptions) => new ShardHealthUnavailable(message, cause)
  const reads = createQueryPool({
    url,
    name: 'ledger shard health',
    readsOnly: true,
    size: READERS,
    statementTimeoutMs: COUNT_TIMEOUT_MS,
    settings: READ_SETTINGS,
    unavailable,
  })
  const writes = createQueryPool({
    url,
    name: 'ledger shard health writes',
    size: 1,
    statementTimeoutMs: WRITE_TIMEOUT_MS,
    unavailable,
  })
  const countAll = createSharedReading(clock, () => readCounts(reads))
  const shard = (shardId: number) => readShard(reads, shardId)
  return {
    shards: (after, limit) => readShards(reads, countAll, after, limit),
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
  readonly updated_at: Date
}

/** A raised attempt changes the row of a shard and not its owner: how long that one has it is not known then. */
function selectShards(sql: postgres.Sql) {
  return sql`
    SELECT s.shard_id, s.epoch, s.node_id, coalesce(h.health_state = 'draining', false) AS draining,
           CASE WHEN s.attempt = 0 THEN (extract(epoch FROM now() - s.updated_at) * 1000)::float8
                ELSE 'infinity' END AS owned_ms,
           (extract(epoch FROM now() - coalesce(n.probed_at, s.updated_at)) * 1000)::float8 AS silent_ms,
           greatest(s.updated_at, h.updated_at) AS updated_at
      FROM shards s
      LEFT JOIN sessions n ON n.session = s.session
      LEFT JOIN shard_health h ON h.shard_id = s.shard_id`
}

async function readShards(
  pool: QueryPool,
  countAll: () => Promise<ReadonlyMap<number, number>>,
  after: number,
  limit: number,
): Promise<ShardsPage> {
  const [rows, [counted], counts] = await Promise.all([
    pool.run(
      (sql) => sql<ShardRow[]>`
        ${selectShards(sql)} WHERE s.shard_id > ${after} ORDER BY s.shard_id LIMIT ${limit + 1}`,
    ),
    pool.run((sql) => sql<{ readonly total: number }[]>`SELECT count(*)::integer AS total FROM shards`),
    countAll(),
  ])
  const shards = rows.slice(0, limit).map((row) => viewOf(row, counts.get(row.shard_id) ?? 0))
  return {
    shards,
    next: rows.length > limit ? (shards.at(-1)?.shardId ?? null) : null,
    total: counted?.total ?? 0,
  }
}

async function readShard(pool: QueryPool, shardId: number): Promise<ShardView | undefined> {
  const [row] = await pool.run(
    (sql) => sql<(ShardRow & { readonly txn_count: string })[]>`
      SELECT shard.*, (SELECT coalesce(sum(completed_count + failed_count), 0) FROM accounts
                        WHERE shard_id = ${shardId}) AS txn_count
        FROM (${selectShards(sql)} WHERE s.shard_id = ${shardId}) shard`,
  )
  return row === undefined ? undefined : viewOf(row, Number(row.txn_count))
}

/** By shard; a shard without an account is not there. */
async function readCounts(pool: QueryPool): Promise<ReadonlyMap<number, number>> {
  const rows = await pool.run(
    (sql) => sql<{ readonly shard_id: number; readonly txn_count: string }[]>`
      SELECT shard_id, sum(completed_count + failed_count) AS txn_count FROM accounts GROUP BY shard_id`,
  )
  return new Map(rows.map((row) => [row.shard_id, Number(row.txn_count)]))
}

function viewOf(row: ShardRow, txnCount: number): ShardView {
  return {
    shardId: row.shard_id,
    owner: row.node_id,
    epoch: Number(row.epoch),
    healthState: healthStateOf({
      draining: row.draining,
      owned: row.node_id !== null,
      ownedForMs: row.owned_ms,
      silentForMs: row.silent_ms,
    }),
    txnCount,
    updatedAtMs: row.updated_at.getTime(),
  }
}

/** What says the same as before leaves the row as it is, and with it who said so first, and when. */
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
