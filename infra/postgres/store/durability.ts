/**
 * Whether what the server answers to a commit can still be lost. Looked at on every connect, before anything is sent.
 *   W1. `fsync` or `synchronous_commit` off: an answered commit may be gone after a crash. Refused everywhere.
 *   W2. In production a commit that is answered is on a standby, if there is one: `synchronous_commit = local` beside
 *       named standbys is refused, and so is a standby that is connected while none is named.
 *   W3. What `synchronous_commit` was found to be stays so for the session: a setting that is changed and reloaded later
 *       counts from the next connection on, which is looked at again.
 */
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import type { Sql } from '../connection/connection.ts'

export interface Durability {
  readonly fsync: string
  /** Of this user in this database. */
  readonly synchronousCommit: string
  /** `synchronous_standby_names`, empty when commits wait for none. */
  readonly standbyNames: string
  /** Connected standbys; backups, receivers of the log alone and logical subscribers are none. */
  readonly standbys: number
}

/** Throws `LedgerStoreUnavailable` that says which setting is wrong and what to do. */
export async function demandDurability(sql: Sql, production: boolean): Promise<void> {
  const fault = durabilityFault(await readDurability(sql), production)
  if (fault !== undefined) throw new LedgerStoreUnavailable(fault)
}

/** Undefined: nothing that is answered can be lost by a crash. */
export function durabilityFault(found: Durability, production: boolean): string | undefined {
  const { fsync, synchronousCommit, standbys } = found
  if (fsync === 'off') {
    return 'PostgreSQL runs with fsync = off: a crash of its machine destroys the ledger. Set fsync = on and reload'
  }
  if (synchronousCommit === 'off') {
    return (
      'PostgreSQL has synchronous_commit = off for this user and database: a crash loses commits that were answered. ' +
      'Set synchronous_commit = on where it was set (server, database or role)'
    )
  }
  if (!production) return undefined
  const named = found.standbyNames.trim() !== ''
  if (named && synchronousCommit === 'local') {
    return (
      'PostgreSQL has synchronous_commit = local, so that no commit waits for the standbys in ' +
      'synchronous_standby_names, and a failover loses commits. Set synchronous_commit = on'
    )
  }
  if (!named && standbys > 0) {
    return (
      'PostgreSQL has a standby and synchronous_standby_names is empty: a failover to it loses commits that were ' +
      'answered. Name the standby in synchronous_standby_names and reload'
    )
  }
  return undefined
}

/** Whether no commit ends, because the server waits for standbys of which none is connected. */
export function waitsForAbsentStandby({ synchronousCommit, standbyNames, standbys }: Durability): boolean {
  return standbyNames.trim() !== '' && standbys === 0 && !['off', 'local'].includes(synchronousCommit)
}

/** The same statement checks W3. A role without the privilege sees only that a sender exists, not its state. */
export async function readDurability(sql: Sql): Promise<Durability> {
  const [row] = await sql<Durability[]>`
    SELECT current_setting('fsync') AS fsync,
           set_config('synchronous_commit', current_setting('synchronous_commit'), false) AS "synchronousCommit",
           current_setting('synchronous_standby_names') AS "standbyNames",
           (SELECT count(*)::integer FROM pg_stat_replication r
             WHERE r.state IS DISTINCT FROM 'backup'
               AND r.application_name NOT IN ('pg_basebackup', 'pg_receivewal')
               AND NOT EXISTS (SELECT FROM pg_replication_slots s
                                WHERE s.slot_type = 'logical' AND s.active_pid = r.pid)) AS standbys`
  if (row === undefined) throw new Error('the server does not show its settings')
  return row
}
