/**
 * Which database this is: the ledger and its shape, and which life of the server. Looked at on every connect.
 *   N1. The first one seen is the one for good: another ledger, another number of shards, another server or another
 *       timeline (a standby that was promoted, a backup that was restored) may lack commits that were answered, and
 *       epochs in it may be equal and mean something else. The store stops and does not come back by itself.
 *   N2. A standby is refused: what it shows is late, and it cannot be written.
 */
import { LedgerStoreUnavailable } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'

export interface DatabaseIdentity {
  readonly ledgerId: string
  readonly shardCount: number
  /** Of the cluster, given when it was initialised. */
  readonly systemIdentifier: string
  /** Eight hexadecimal digits: the WAL's, because the control file may still show the one before a promotion. */
  readonly timeline: string
}

/** Holds the identity that was seen first against every later one. */
export interface IdentityGuard {
  /** Throws `LedgerStoreUnavailable` when it is another than the first, from then on always. */
  readonly check: (seen: DatabaseIdentity) => void
  /** Stops for a reason that is no difference in identity. Throws as `check` does. */
  readonly stop: (reason: string) => never
  /** Why the store has stopped for good; undefined while it has not. */
  readonly stopped: () => string | undefined
}

/** `onStopped` is called once, with the reason: nothing that this guard was asked about will work again. */
export function createIdentityGuard(
  expectedLedgerId?: string,
  onStopped: (reason: string) => void = () => undefined,
): IdentityGuard {
  let first: DatabaseIdentity | undefined
  let stopped: string | undefined
  const stop = (reason: string): never => {
    if (stopped === undefined) {
      stopped = reason
      onStopped(reason)
    }
    throw new LedgerStoreUnavailable(stopped)
  }
  return {
    stopped: () => stopped,
    stop,
    check: (seen) => {
      const reason = stopped ?? difference(first, expectedLedgerId, seen)
      if (reason !== undefined) stop(reason)
      first ??= seen
    },
  }
}

function difference(
  first: DatabaseIdentity | undefined,
  expectedLedgerId: string | undefined,
  seen: DatabaseIdentity,
): string | undefined {
  if (expectedLedgerId !== undefined && seen.ledgerId !== expectedLedgerId) {
    return `PostgreSQL holds ledger ${seen.ledgerId}, expected ${expectedLedgerId}`
  }
  if (first === undefined) return undefined
  for (const field of ['ledgerId', 'shardCount', 'systemIdentifier', 'timeline'] as const) {
    if (first[field] !== seen[field]) {
      return `PostgreSQL is not the one seen before: ${field} was ${first[field]} and is ${seen[field]}; it may have gone back`
    }
  }
  return undefined
}

/** Rejects with the driver's error, or with `LedgerStoreUnavailable` for a standby and for a database without a ledger. */
export async function readIdentity(sql: Sql): Promise<DatabaseIdentity> {
  const [server] = await sql<{ standby: boolean; migrated: boolean }[]>`
    SELECT pg_is_in_recovery() AS standby, to_regclass('ledger') IS NOT NULL AS migrated`
  if (server?.standby !== false) throw new LedgerStoreUnavailable('PostgreSQL is a standby')
  if (!server.migrated) throw new LedgerStoreUnavailable('the database has no ledger yet: it was never migrated')
  const [row] = await sql<IdentityRow[]>`
    SELECT ledger_id, shard_count, system_identifier::text,
           substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline
      FROM ledger, pg_control_system()`
  if (row === undefined) throw new LedgerStoreUnavailable('the database has no ledger yet: it was never initialised')
  return {
    ledgerId: row.ledger_id,
    shardCount: row.shard_count,
    systemIdentifier: row.system_identifier,
    timeline: row.timeline,
  }
}

interface IdentityRow {
  readonly ledger_id: string
  readonly shard_count: number
  readonly system_identifier: string
  readonly timeline: string
}
