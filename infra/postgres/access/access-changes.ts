/**
 * Queries of an edge about clients and sessions, to authorize requests.
 *   A1. `changesSince` returns every client and session whose change was committed after the mark was read. A mark is the
 *       oldest transaction in progress at that time, so a later call returns a commit in flight. A change that was committed
 *       beside an older transaction in progress may be returned twice.
 *   A2. The cost is in proportion to the changes, up to MAX_CHANGES. Beyond, or after a store went back, `changed` is null.
 */
import type postgres from 'postgres'
import type { AccessChanges } from '../../../runtime/ports/access-store.ts'
import type { ClientRow } from './client-document.ts'

const MAX_CHANGES = 10_000

interface ChangesRow {
  readonly mark: string
  readonly reset: boolean
  readonly clients: readonly string[]
  readonly sessions: readonly string[]
}

/** ORDER BY keeps the planner on the indexes instead of a scan over all clients. */
export async function readChanges(sql: postgres.Sql, mark: string | null): Promise<AccessChanges> {
  const since = mark ?? '0'
  const [row] = await sql<ChangesRow[]>`
    SELECT pg_snapshot_xmin(now_seen.snapshot)::text AS mark,
           ${since}::xid8 > pg_snapshot_xmax(now_seen.snapshot)
             OR EXISTS (SELECT FROM access_resets WHERE reset_xid >= ${since}::xid8) AS reset,
           to_json(ARRAY(SELECT client_id FROM clients WHERE changed_xid >= ${since}::xid8
                  ORDER BY changed_xid LIMIT ${mark === null ? 0 : MAX_CHANGES + 1})) AS clients,
           to_json(ARRAY(SELECT session_id FROM refresh_families WHERE revoked_xid >= ${since}::xid8
                  ORDER BY revoked_xid LIMIT ${mark === null ? 0 : MAX_CHANGES + 1})) AS sessions
      FROM (SELECT pg_current_snapshot() AS snapshot) now_seen`
  if (row === undefined) throw new Error('the query for changes returned no row')
  const { clients, sessions } = row
  const isNamed = mark !== null && !row.reset && Math.max(clients.length, sessions.length) <= MAX_CHANGES
  return { mark: row.mark, changed: isNamed ? { clients: new Set(clients), sessions: new Set(sessions) } : null }
}

export interface AccessRow extends ClientRow {
  /** Null: the client has no such session. */
  readonly session_live: boolean | null
}

export async function readAccess(
  sql: postgres.Sql,
  clientId: string,
  sessionId: string,
): Promise<readonly AccessRow[]> {
  return await sql<AccessRow[]>`
    SELECT c.client_id, c.document, c.revoked_at,
           (SELECT f.revoked_at IS NULL FROM refresh_families f
             WHERE f.session_id = ${sessionId} AND f.client_id = c.client_id) AS session_live
      FROM clients c WHERE c.client_id = ${clientId}`
}
