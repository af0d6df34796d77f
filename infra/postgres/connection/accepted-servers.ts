/**
 * Which PostgreSQL servers the ledger may run on: the one that it was made on, and those that an administrator accepts.
 *   A1. Accepting one raises the epochs of all shards far above any that could have been given out on another: nothing
 *       that was begun there can be finished here, and no route or hint of then is believed.
 */
import type { Sql } from './connection.ts'

export interface Server {
  /** Of the cluster, given when it was initialized. */
  readonly systemIdentifier: string
  /** Eight hexadecimal digits: of the WAL. */
  readonly timeline: string
}

export interface ServerState extends Server {
  /** The latest acceptance by an administrator, or by the ledger's creation; null without one. */
  readonly acceptance: string | null
  /** After the acceptance a node found that commits are missing. */
  readonly wentBack: boolean
  /** A standby, or a backup under restore. */
  readonly recovering: boolean
}

/** More than takeovers ever raise an epoch between a backup and its return. */
const EPOCH_LEAP = 2 ** 20

/** In recovery the timeline is that of the last checkpoint. */
export async function readServer(sql: Sql): Promise<ServerState> {
  const [row] = await sql<ServerState[]>`
    WITH server AS (
      SELECT system_identifier::text, recovering,
             CASE WHEN recovering THEN lpad(upper(to_hex(timeline_id)), 8, '0')
                  ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END AS timeline
        FROM pg_control_system(), pg_control_checkpoint(), pg_is_in_recovery() recovering)
    SELECT system_identifier AS "systemIdentifier", timeline, recovering, acceptance::text,
           went_back_at IS NOT NULL AS "wentBack"
      FROM server LEFT JOIN accepted_servers USING (system_identifier, timeline)`
  if (row === undefined) throw new Error('a look at the server returned nothing')
  return row
}

export const IN_RECOVERY = 'PostgreSQL is in recovery and read-only: it is a standby, or its restore has not ended'

export const WENT_BACK =
  'PostgreSQL is an older copy of the database: it lacks commits that a node saw. See ledger accept-server --help'

/** Why nothing may be served from this server; undefined: it may. */
export function refusalOf({
  systemIdentifier,
  timeline,
  acceptance,
  wentBack,
  recovering,
}: ServerState): string | undefined {
  if (recovering) return IN_RECOVERY
  if (wentBack) return WENT_BACK
  if (acceptance !== null) return undefined
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
      VALUES (${systemIdentifier}, ${timeline}, now())
      ON CONFLICT (system_identifier, timeline)
      DO UPDATE SET acceptance = gen_random_uuid(), went_back_at = NULL, accepted_at = now()`
    await transaction`
      UPDATE shards SET epoch = epoch + ${EPOCH_LEAP}, attempt = 0, node_id = NULL, session = NULL, updated_at = now()`
  })
  return { systemIdentifier, timeline }
}

/** For a server that lacks commits which a node saw. */
export async function withdrawAcceptance(sql: Sql): Promise<void> {
  const { systemIdentifier, timeline } = await readServer(sql)
  await sql`
    UPDATE accepted_servers SET went_back_at = coalesce(went_back_at, now())
     WHERE system_identifier = ${systemIdentifier} AND timeline = ${timeline}`
}
