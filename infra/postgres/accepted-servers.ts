/**
 * Which PostgreSQL servers the ledger may run on: the one that it was made on, and those that an administrator accepts.
 *   A1. Accepting one raises the epochs of all shards far above any that could have been given out on another: nothing
 *       that was begun there can be finished here, and no route or hint of then is believed.
 */
import type { Sql } from './connection.ts'

export interface Server {
  /** Of the cluster, given when it was initialised. */
  readonly systemIdentifier: string
  /** Eight hexadecimal digits: of the WAL. */
  readonly timeline: string
}

/** More than takeovers ever raise an epoch between a backup and its return. */
const EPOCH_LEAP = 2 ** 20

export async function readServer(sql: Sql): Promise<Server & { readonly accepted: boolean }> {
  const [row] = await sql<{ system_identifier: string; timeline: string; accepted: boolean }[]>`
    WITH server AS (
      SELECT system_identifier::text, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline
        FROM pg_control_system())
    SELECT system_identifier, timeline, EXISTS (
             SELECT FROM accepted_servers a
              WHERE a.system_identifier = server.system_identifier AND a.timeline = server.timeline) AS accepted
      FROM server`
  if (row === undefined) throw new Error('a look at the server returned nothing')
  return { systemIdentifier: row.system_identifier, timeline: row.timeline, accepted: row.accepted }
}

/** Why nothing may be served from this server; undefined: it may. */
export function refusalOf({
  systemIdentifier,
  timeline,
  accepted,
}: Server & { readonly accepted: boolean }): string | undefined {
  if (accepted) return undefined
  return (
    `PostgreSQL is server ${systemIdentifier} on timeline ${timeline}, which this ledger was not accepted on: it may lack what ` +
    'was committed. See ledger accept-server --help'
  )
}

/** The first one is accepted by being the first. */
export async function acceptFirstServer(sql: Sql): Promise<void> {
  const { systemIdentifier, timeline } = await readServer(sql)
  await sql`
    INSERT INTO accepted_servers (system_identifier, timeline, accepted_at)
    SELECT ${systemIdentifier}, ${timeline}, now() WHERE NOT EXISTS (SELECT FROM accepted_servers)`
}

/** A1, in one transaction. */
export async function acceptServer(sql: Sql): Promise<Server> {
  const { systemIdentifier, timeline } = await readServer(sql)
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO accepted_servers (system_identifier, timeline, accepted_at)
      VALUES (${systemIdentifier}, ${timeline}, now()) ON CONFLICT DO NOTHING`
    await transaction`
      UPDATE shards SET epoch = epoch + ${EPOCH_LEAP}, attempt = 0, node_id = NULL, session = NULL, updated_at = now()`
  })
  return { systemIdentifier, timeline }
}
