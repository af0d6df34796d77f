/** What PostgreSQL knows of sessions: their row, their lock, their server processes. */
import type postgres from 'postgres'
import type { StoreProbe } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'
import type { Owner } from './ownership.ts'
import { lockHalves, sessionLockKey } from './session-lock.ts'

/** How long the server waits for each process to end, milliseconds. */
const TERMINATE_MS = 1_000

/** The first probe makes the session's row, which counts what its commits decide. */
export async function probeSession(sql: Sql, owner: Owner): Promise<StoreProbe> {
  const [row] = await sql<{ now_ms: number }[]>`
    INSERT INTO sessions (session, node_id, started_at, probed_at)
    VALUES (${owner.session}, ${owner.nodeId}, now(), now())
    ON CONFLICT (session) DO UPDATE SET probed_at = excluded.probed_at
    RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`
  if (row === undefined) throw new Error('a probe returned nothing')
  return { nowMs: row.now_ms }
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
