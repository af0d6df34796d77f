/** What PostgreSQL knows of sessions: their row, their lock, their server processes. */
import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import type { StoreProbe } from '../../../runtime/ports/ledger-store.ts'
import type { Sql } from '../connection/connection.ts'
import { codeOf } from '../connection/failure.ts'
import type { Owner } from './ownership.ts'

/** How long the server waits for each process to end, milliseconds. */
const TERMINATE_MS = 1_000
/** SQLSTATE disk_full. */
const DISK_FULL = '53100'

/**
 * The first probe inserts the session's row. `probed_at` is the time when the session last proved that it can commit; while
 * its commits fail it is 1970. `probes`: the number of the session's committed probes, this one included.
 */
export async function probeSession(
  sql: Sql,
  owner: Owner,
  isGood: boolean,
): Promise<StoreProbe & { readonly probes: number }> {
  const [row] = await sql<{ nowMs: number; probes: number }[]>`
    INSERT INTO sessions (session, node_id, started_at, probed_at, probes)
    VALUES (${owner.session}, ${owner.nodeId}, now(), CASE WHEN ${isGood} THEN now() ELSE to_timestamp(0) END, 1)
    ON CONFLICT (session) DO UPDATE SET probed_at = excluded.probed_at, probes = sessions.probes + 1
    RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs", probes::float8 AS probes`
  if (row === undefined) throw new Error('a probe returned nothing')
  return row
}

/**
 * Whether a file can grow by some hundred KiB. A probe's row fits into its page on a full disk too, so this query exceeds
 * `work_mem` and writes a temporary file. An error other than disk_full does not concern the disk.
 */
export async function hasRoomOnDisk(sql: Pick<Sql, 'unsafe'>): Promise<boolean> {
  const probe = sql.unsafe(`
    SET LOCAL work_mem = '64kB';
    WITH filler AS MATERIALIZED (SELECT repeat('x', 1000) AS filler FROM generate_series(1, 500))
    SELECT count(*) FROM filler`)
  return probe.then(
    () => true,
    (error: unknown) => codeOf(error) !== DISK_FULL,
  )
}

/**
 * The key of the advisory lock that a session holds on its connection for commits: 64 bits of a hash, signed. Two sessions share a lock about never, and then one of them does not
 * start.
 */
export function sessionLockKey(session: string): bigint {
  return createHash('sha256').update(`ledger session ${session}`).digest().readBigInt64BE(0)
}

/** How `pg_locks` shows a lock with a key of 64 bits: its halves, unsigned. */
function lockHalves(key: bigint): { readonly classId: number; readonly objectId: number } {
  const bits = BigInt.asUintN(64, key)
  return { classId: Number(bits >> 32n), objectId: Number(bits & 0xffffffffn) }
}

/** Looks without taking: two who look at once must not see each other. */
export async function isSessionHeld(sql: Sql, session: string): Promise<boolean> {
  const { classId, objectId } = lockHalves(sessionLockKey(session))
  const [row] = await sql<{ held: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM pg_locks
       WHERE locktype = 'advisory' AND objsubid = 1 AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid = ${classId} AND objid = ${objectId}) AS held`
  if (row === undefined) throw new Error('a look at a lock returned nothing')
  return row.held
}

/** By the end of the application's name, which `applicationName` keeps whole. */
export async function terminateSession(sql: Sql, session: string): Promise<void> {
  await sql`
    SELECT pg_terminate_backend(pid, ${TERMINATE_MS}) FROM pg_stat_activity
     WHERE application_name LIKE 'ledger:%' AND right(application_name, ${session.length + 1}) = ${`:${session}`}
       AND datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`
}

/** Milliseconds since 1970, by the server's clock. */
export async function readNowMs(sql: Sql | postgres.TransactionSql): Promise<number> {
  const [row] = await sql<{ now_ms: number }[]>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`
  if (row === undefined) throw new Error('a look at the clock returned nothing')
  return row.now_ms
}
