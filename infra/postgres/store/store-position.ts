/**
 * The latest position of a database, stored outside it. A backup that is restored on the same server and timeline has the
 * identity of the database that it replaces, but lacks the latest position.
 *   P1. Each heartbeat of a node increments a counter in the row of its session. That row is never deleted.
 *   P2. An acceptance by an administrator starts a new series of positions. A database under an earlier acceptance is older.
 */
import type { ServerState } from '../connection/accepted-servers.ts'
import type { Sql } from '../connection/connection.ts'

export interface StorePosition {
  /** The administrator's acceptance of the server that is in force at the position. */
  readonly acceptance: string
  /** 32 hexadecimal digits: the session of a node. */
  readonly session: string
  /** Committed heartbeats of that session. */
  readonly probes: number
}

export interface RememberedPosition extends StorePosition {
  /** Acceptances before this one, oldest first. */
  readonly earlierAcceptances: readonly string[]
}

/** Stores the latest position outside PostgreSQL, so that a restore does not revert it. */
export interface PositionMemory {
  /** Undefined before the first heartbeat of the ledger. */
  readonly latest: () => RememberedPosition | undefined
  readonly remember: (position: StorePosition) => void
}

const MAX_EARLIER_ACCEPTANCES = 100

/** Whether the database lacks the position, and no administrator has accepted it since. */
export async function lacksPosition(
  sql: Sql,
  { acceptance }: Pick<ServerState, 'acceptance'>,
  remembered: RememberedPosition,
): Promise<boolean> {
  if (acceptance !== remembered.acceptance) return remembered.earlierAcceptances.includes(acceptance ?? '')
  const [row] = await sql<{ reached: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM sessions WHERE session = ${remembered.session} AND probes >= ${remembered.probes}::bigint) AS reached`
  if (row === undefined) throw new Error('the query for a session returned no row')
  return !row.reached
}

/** The position with the acceptances that came before its own. */
export function following(earlier: RememberedPosition | undefined, position: StorePosition): RememberedPosition {
  if (earlier === undefined) return { ...position, earlierAcceptances: [] }
  const { acceptance, earlierAcceptances } = earlier
  if (acceptance === position.acceptance) return { ...position, earlierAcceptances }
  return { ...position, earlierAcceptances: [...earlierAcceptances, acceptance].slice(-MAX_EARLIER_ACCEPTANCES) }
}
