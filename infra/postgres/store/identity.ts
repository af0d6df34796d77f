/**
 * Which database this is: the ledger and its shape, and which life of the server. Looked at on every connect.
 *   N1. The first one seen is the one for good: another ledger, another number of shards, another server or another
 *       timeline (a standby that was promoted, a backup that was restored) may lack commits that were answered, and
 *       epochs in it may be equal and mean something else. The store stops and does not come back by itself.
 *   N2. A standby is refused: what it shows is late, and it cannot be written.
 *   N3. A server or timeline that the ledger does not list as its own is refused, by processes that have seen no other, too:
 *       one that stopped for N1 and is started again must not forget why.
 */
import { LedgerStoreUnavailable } from '../../../runtime/ports/ledger-store.ts'
import { IN_RECOVERY, type ServerState, readServer, refusalOf } from '../connection/accepted-servers.ts'
import type { Sql } from '../connection/connection.ts'

export interface DatabaseIdentity extends ServerState {
  readonly ledgerId: string
  readonly shardCount: number
}

/** Holds the identity that was seen first against every later one. */
export interface IdentityGuard {
  /** Throws `LedgerStoreUnavailable` when it is another than the first, from then on always. */
  readonly check: (seen: DatabaseIdentity) => void
  /** Stops for a reason that is no difference in identity. Throws as `check` does. */
  readonly stop: (reason: string) => never
  /** The identity at the first look-up. */
  readonly first: () => DatabaseIdentity | undefined
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
    first: () => first,
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
  const refused = refusalOf(seen)
  if (refused !== undefined) return refused
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
  const [server] = await sql<{ recovering: boolean; migrated: boolean }[]>`
    SELECT pg_is_in_recovery() AS recovering, to_regclass('accepted_servers') IS NOT NULL AS migrated`
  if (server?.recovering !== false) throw new LedgerStoreUnavailable(IN_RECOVERY)
  if (!server.migrated) throw new LedgerStoreUnavailable('the database has no ledger yet: it was never migrated')
  const [row] = await sql<Pick<DatabaseIdentity, 'ledgerId' | 'shardCount'>[]>`
    SELECT ledger_id AS "ledgerId", shard_count AS "shardCount" FROM ledger`
  if (row === undefined) throw new LedgerStoreUnavailable('the database has no ledger yet: it was never initialized')
  return { ...row, ...(await readServer(sql)) }
}
