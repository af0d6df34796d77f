/** Whether the log may be extended on the PostgreSQL server of a connection. */
import { EventsUnavailable } from '../../runtime/ports/ledger-events.ts'
import { LogPaused } from '../../runtime/ports/log-store.ts'
import { readServer, refusalOf } from '../postgres/connection/accepted-servers.ts'
import type { Sql } from '../postgres/connection/connection.ts'
import { findEnd } from '../postgres/reads/event-places.ts'

export interface LogServer {
  /** System identifier of the PostgreSQL cluster. */
  readonly identifier: string
  /** All transactions with smaller numbers (xid8) have ended. */
  readonly settled: string
  /** Whether there are commits with larger numbers. */
  readonly isHeldBack: boolean
}

/** Returns the system identifier. Throws LogPaused for a server that recovers, went back or was not accepted. */
export async function acceptedServer(sql: Sql): Promise<string> {
  const state = await readServer(sql)
  const refusal = refusalOf(state)
  if (refusal !== undefined) throw new LogPaused(refusal)
  return state.systemIdentifier
}

/** Throws LogPaused also while the server's transaction numbers are below those in the rows or in the log. */
export async function readLogServer(sql: Sql): Promise<LogServer> {
  const identifier = await acceptedServer(sql)
  const settled = await settledOf(sql)
  const [last] = await sql<{ until: string | null; is_held_back: boolean }[]>`
    SELECT (SELECT until_xid::text FROM log_batches ORDER BY until_xid DESC LIMIT 1) AS until,
           coalesce((SELECT commit_xid FROM commits ORDER BY commit_xid DESC LIMIT 1) >= ${settled}::xid8, false)
             OR coalesce((SELECT commit_xid FROM audit_entries ORDER BY commit_xid DESC LIMIT 1) >= ${settled}::xid8, false)
             OR coalesce(
                  (SELECT commit_xid FROM administrative_entries ORDER BY commit_xid DESC LIMIT 1) >= ${settled}::xid8, false)
             AS is_held_back`
  if (BigInt(last?.until ?? 0) > BigInt(settled)) {
    throw new LogPaused('The transaction numbers of the PostgreSQL server are below those in the log.')
  }
  return { identifier, settled, isHeldBack: last?.is_held_back ?? false }
}

async function settledOf(sql: Sql): Promise<string> {
  try {
    return (await findEnd(sql)).settled
  } catch (error) {
    if (error instanceof EventsUnavailable) throw new LogPaused(error.message, { cause: error })
    throw error
  }
}
