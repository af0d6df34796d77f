/** Prepares a new connection for commits: terminates the one before, and takes the session's lock. */
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import type { Backend, Sql } from '../connection/connection.ts'

/** How long the server waits for the old process to end before it says that it has not, milliseconds. */
const END_BACKEND_MS = 2_000

/** Rejects when the old process lives on, or the lock is held. */
export async function takeOver(sql: Sql, previous: Backend | undefined, lockKey: bigint): Promise<void> {
  if (previous !== undefined) await endBackend(sql, previous)
  const [row] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${String(lockKey)}::bigint) AS taken`
  if (row?.taken !== true) throw new LedgerStoreUnavailable('another connection holds the session lock')
}

/** The process is named by its start too: its number may be another's by now. */
async function endBackend(sql: Sql, backend: Backend): Promise<void> {
  await sql`
    SELECT pg_terminate_backend(pid, ${END_BACKEND_MS}) FROM pg_stat_activity
     WHERE pid = ${backend.pid} AND backend_start = ${backend.startedAt}::text::timestamptz`
  const left = await sql`
    SELECT 1 FROM pg_stat_activity WHERE pid = ${backend.pid} AND backend_start = ${backend.startedAt}::text::timestamptz`
  if (left.length > 0) throw new LedgerStoreUnavailable('the process of an earlier commit does not end')
}
