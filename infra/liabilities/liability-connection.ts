/** Connections of a run of the proof of liabilities, the lock that one of them holds, and what ends the wait for them. */
import { type Connection, connect, type Sql } from '../postgres/connection/connection.ts'

/**
 * Server processes beside those of the connections would take the processors from threads that open rows. With this much
 * memory, tables of a few hundred thousand accounts are joined in one go, and larger ones in a few.
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

/** The lock of the runs, until the connection ends. */
export async function tryLock(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${RUN_LOCK}::bigint) AS taken`
  return row?.taken === true
}

/** The driver leaves a COPY waiting for ever when the connection ends. */
export function whileOpen<T>(connection: Connection, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    // Later: whoever closed it may have a reason to give.
    connection.onClosed(() => setImmediate(() => reject(new Error('the connection was closed'))))
  })
}
