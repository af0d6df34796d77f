/** Connections of a run, and the run's advisory lock. */
import { type Connection, connect, type Sql } from '../postgres/connection/connection.ts'

/**
 * Parallel server processes would compete with the reader threads for processors. With this memory, joins of a few hundred
 * thousand accounts need one batch, and larger ones a few.
 */
const SETTINGS = {
  statement_timeout: '58s',
  idle_in_transaction_session_timeout: '58s',
  max_parallel_workers_per_gather: '0',
  work_mem: '64MB',
} as const

export function connectRun(url: string, applicationName: string): Promise<Connection> {
  return connect({ url, applicationName, settings: SETTINGS })
}

/** The first 64 bits of the SHA-256 of `ledger liabilities`: no other lock has this number. */
export const RUN_LOCK = '-3677021558362087009'

/** Takes the lock of the runs until the connection ends. */
export async function tryLock(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${RUN_LOCK}::bigint) AS taken`
  return row?.taken === true
}

/** Rejects when the connection closes. Without it, the driver would leave a COPY waiting forever. */
export function whileOpen<T>(connection: Connection, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    // Delayed, so that a more specific error of the closing code comes first.
    connection.onClosed(() => setImmediate(() => reject(new Error('the connection was closed'))))
  })
}
