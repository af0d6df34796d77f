/** The session of a run: its connections, its advisory lock, its vault, and its limits. */
import type { ExceededLimit } from '../../runtime/ports/assertion-source.ts'
import { openLedgerSecret } from '../keys/ledger-seals.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { type Connection, connect, type Sql } from '../postgres/connection/connection.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { createDataKeys, type DataKeys, type MadeKey } from '../vault/data-keys.ts'
import { createKeyWrapping } from '../vault/key-wrapping.ts'
import { createRowVault, type RowVault } from '../vault/row-vault.ts'

/**
 * A processor with no other work reads a million balances within `SNAPSHOT_TIMEOUT_MS`, encryption included: a whole run over
 * a million takes 39 s of processor time (`test/bench/README.md`). On a busy machine the time limit may come first.
 */
export const BALANCES_PER_READER = 1_000_000
/** A snapshot that is open for longer keeps PostgreSQL from removing old row versions. */
export const SNAPSHOT_TIMEOUT_MS = 58_000

export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded'
  readonly limit: ExceededLimit

  constructor(limit: ExceededLimit, options?: ErrorOptions) {
    super(`a proof of liabilities exceeds its limit: ${limit.kind}`, options)
    this.limit = limit
  }
}

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

/** Small, because each account is read once. */
const CACHED_ACCOUNTS = 64

/**
 * Opens sealed rows for a snapshot. The key of an account comes with its rows: `keys.adopt` drops the previously adopted
 * key. Throws MasterKeyMissing.
 */
export function openSnapshotVault(readingKeys: KeyRing, { sealedIndexSecret, amountIndex }: LedgerRecord): RowVault {
  const fetched = createDataKeys(createKeyWrapping(readingKeys))
  let latest: MadeKey | undefined
  const keys: DataKeys = {
    ...fetched,
    known: (name) => (latest?.name === name ? latest.key : fetched.known(name)),
    adopt: (key) => {
      latest = key
    },
  }
  const { secret } = openLedgerSecret(readingKeys, 'index-secret', sealedIndexSecret)
  return createRowVault(keys, secret, { amountIndex, cachedAccounts: CACHED_ACCOUNTS })
}
