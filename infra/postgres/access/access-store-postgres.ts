/**
 * Clients and refresh families in PostgreSQL. Invariants X1 to X3 of the port, and:
 *   X4. A family has one live token. Exchanging it moves it to the used ones in the same statement, under the lock of
 *       the family's row; a used token never yields anything again.
 *   X5. The sealed text of a client decides (client-document.ts). A row that does not open, or differs from its text,
 *       authenticates no client, and affects no other client.
 *   X6. The sealed text and its columns change in one statement, and only if the row is unchanged since it was read.
 */
import type postgres from 'postgres'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import {
  type AccessStore,
  AccessStoreOverloaded,
  AccessStoreUnavailable,
  type ClientRecord,
  type RefreshExchange,
  type RefreshFamily,
  type RefreshOutcome,
  type SpentAssertion,
} from '../../../runtime/ports/access-store.ts'
import type { OwnRate } from '../../../actors/rate.ts'
import { LEDGER_KEY_NAME } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { SlotsExhausted } from '../../../runtime/common/slots.ts'
import { type AccessRow, readAccess, readChanges } from './access-changes.ts'
import { addClient, endClient, readClients } from './client-administration.ts'
import { type ClientRow, sealedClient } from './client-document.ts'
import { changed, findRow, readableOf, revokeFamilies } from './client-rows.ts'
import { createQueryPool, type QueryPool } from '../connection/query-pool.ts'
import { cleanAtIntervals, type CleaningOptions, deleteInSteps } from './cleaning.ts'

export interface PostgresAccessStore extends AccessStore {
  /** Forgets what has expired, in steps of bounded size; gives the number of rows. The store does it by itself, too. */
  readonly cleanUp: (atMs: number) => Promise<number>
  readonly close: () => Promise<void>
}

export interface AccessStoreOptions extends CleaningOptions {
  readonly url: string
  readonly vault: RowVault
  /** Called with the ID of a client whose row cannot be read, once until it can be. */
  readonly onUnreadable?: (clientId: string) => void
  /** Wall clock, milliseconds since 1970. */
  readonly now?: () => number
}

/** Connections for session look-ups and for the commands of operators. */
const LOOK_UP_CONNECTIONS = 2
/**
 * Connections for administrators of the API, who wait for locks: no session look-up waits behind them. The limits, in
 * milliseconds, also end a transaction of an edge that stands still, whose locks would hold logins back.
 */
const ADMINISTRATION_CONNECTIONS = 1
const ADMINISTRATION_SETTINGS = { lock_timeout: '2000', idle_in_transaction_session_timeout: '5000' }
/** Connections for checks: all requests wait for a check, so session look-ups must not delay it. */
const CHECK_CONNECTIONS = 1
/** Connections for logins, and how many logins may wait for one (X4). */
const LOGIN_CONNECTIONS = 4
const MAX_WAITING_LOGINS = 64
/** How long an expired assertion stays spent: clocks of edges differ. */
const ASSERTION_MARGIN_MS = 3_600_000
/** How long an expired family stays listed: longer than any access token of it lives. */
const FAMILY_MARGIN_MS = 86_400_000

export function createAccessStore(options: AccessStoreOptions): PostgresAccessStore {
  const common = { url: options.url, unavailable }
  const pool = createQueryPool({ ...common, name: 'ledger access', size: LOOK_UP_CONNECTIONS })
  const checks = createQueryPool({ ...common, name: 'ledger access checks', size: CHECK_CONNECTIONS })
  const logins = createQueryPool({
    ...common,
    name: 'ledger logins',
    size: LOGIN_CONNECTIONS,
    maxWaiting: MAX_WAITING_LOGINS,
  })
  const administration = createQueryPool({
    ...common,
    name: 'ledger access administration',
    size: ADMINISTRATION_CONNECTIONS,
    settings: ADMINISTRATION_SETTINGS,
  })
  const { vault } = options
  const reported = new Set<string>()
  const readable = (row: ClientRow): ClientRecord | undefined => {
    const client = readableOf(row, vault)
    if (client !== undefined) reported.delete(row.client_id)
    else if (!reported.has(row.client_id)) {
      reported.add(row.client_id)
      options.onUnreadable?.(row.client_id)
    }
    return client
  }
  const now = options.now ?? Date.now
  const stopCleaning = cleanAtIntervals(() => cleanUp(pool, now()), options)

  return {
    findClient: async (clientId) => {
      const row = await logins.run((sql) => findRow(sql, vault, clientId))
      return row && (readable(row) ?? 'unreadable')
    },
    findAccess: async (clientId, sessionId) => {
      const row = await pool.run((sql) => findAccessRow(sql, vault, clientId, sessionId))
      return { client: row && (readable(row) ?? 'unreadable'), sessionLive: row?.session_live === true }
    },
    changesSince: (mark) => checks.run((sql) => readChanges(sql, mark)),
    listClients: async (after, limit) => {
      const { rows, next } = await administration.run((sql) => readClients(sql, vault, after, limit))
      return { clients: rows.flatMap((row) => readable(row) ?? []), next }
    },
    addClient: (client, maker) => administration.run((sql) => changed(() => addClient(sql, vault, client, maker))),
    endClient: (clientId, atMs, maker) => administration.run((sql) => endClient(sql, vault, { clientId, atMs, maker })),
    putClient: async (client) => {
      await pool.run((sql) => changed(() => putClient(sql, vault, client)))
    },
    setRate: (clientId, rate) =>
      pool.run((sql) => changed(() => setRate(sql, vault, clientId, rate)).then((client) => client ?? undefined)),
    revokeClient: (clientId, atMs) => pool.run((sql) => changed(() => revokeClient(sql, vault, clientId, atMs))),
    createFamily: (family) => logins.run((sql) => createFamily(sql, family)),
    spendAssertion: (assertion) => logins.run((sql) => spendAssertion(sql, assertion)),
    rotateFamily: (exchange) => logins.run((sql) => rotateFamily(sql, exchange)),
    cleanUp: (atMs) => cleanUp(pool, atMs),
    close: async () => {
      stopCleaning()
      await Promise.all([pool, checks, administration, logins].map((one) => one.close()))
    },
  }
}

function unavailable(message: string, options: ErrorOptions): AccessStoreUnavailable {
  return options.cause instanceof SlotsExhausted
    ? new AccessStoreOverloaded(message, options)
    : new AccessStoreUnavailable(message, options)
}

async function findAccessRow(
  sql: postgres.Sql,
  vault: RowVault,
  clientId: string,
  sessionId: string,
): Promise<AccessRow | undefined> {
  const rows = await readAccess(sql, clientId, sessionId)
  await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
  return rows[0]
}

async function putClient(sql: postgres.Sql, vault: RowVault, client: ClientRecord): Promise<true | undefined> {
  const row = await findRow(sql, vault, client.clientId)
  const before = row && readableOf(row, vault)
  const document = sealedClient({ ...client, createdAtMs: before?.createdAtMs ?? client.createdAtMs }, vault)
  const revokedAt = client.revokedAtMs === null ? null : isoTimestamp(client.revokedAtMs)
  return await sql.begin(async (transaction) => {
    const { count } = await transaction`
      INSERT INTO clients AS c (client_id, document, revoked_at)
      VALUES (${client.clientId}, decode(${document}, 'hex'), ${revokedAt})
      ON CONFLICT (client_id) DO UPDATE SET document = excluded.document, revoked_at = excluded.revoked_at
      WHERE c.document = ${row?.document ?? null}`
    if (count === 0) return undefined
    if (revokedAt !== null) await revokeFamilies(transaction, client.clientId, revokedAt)
    return true
  })
}

/** Null: no such client. Undefined: the row changed meanwhile. */
async function setRate(
  sql: postgres.Sql,
  vault: RowVault,
  clientId: string,
  rate: OwnRate,
): Promise<ClientRecord | 'unreadable' | null | undefined> {
  const row = await findRow(sql, vault, clientId)
  if (row === undefined) return null
  const client = readableOf(row, vault)
  if (client === undefined) return 'unreadable'
  const changed = { ...client, rate }
  const { count } = await sql`
    UPDATE clients SET document = decode(${sealedClient(changed, vault)}, 'hex')
     WHERE client_id = ${clientId} AND document = ${row.document}`
  return count === 0 ? undefined : changed
}

/**
 * Two statements: the second sees the families of logins that held the client's row when the first waited for it (X3).
 * A client that cannot be read stays so, and its families end.
 */
async function revokeClient(
  sql: postgres.Sql,
  vault: RowVault,
  clientId: string,
  atMs: number,
): Promise<boolean | undefined> {
  const row = await findRow(sql, vault, clientId)
  if (row === undefined) return false
  const client = readableOf(row, vault)
  const revokedAtMs = client?.revokedAtMs ?? row.revoked_at?.getTime() ?? atMs
  const document = client && sealedClient({ ...client, revokedAtMs }, vault)
  return await sql.begin(async (transaction) => {
    const { count } = await transaction`
      UPDATE clients SET revoked_at = ${isoTimestamp(revokedAtMs)}, document = coalesce(decode(${document ?? null}, 'hex'), document)
       WHERE client_id = ${clientId} AND document = ${row.document}`
    if (count === 0) return undefined
    await revokeFamilies(transaction, clientId, isoTimestamp(atMs))
    return true
  })
}

/** A login that lost against the revocation of its client leaves a family that is revoked from the start (X3). */
async function createFamily(sql: postgres.Sql, family: RefreshFamily): Promise<void> {
  const createdAt = isoTimestamp(family.createdAtMs)
  await sql`
    WITH live AS (
      SELECT client_id FROM clients WHERE client_id = ${family.clientId} AND revoked_at IS NULL FOR SHARE
    )
    INSERT INTO refresh_families (session_id, client_id, token_hash, expires_at, created_at, rotated_at, revoked_at)
    VALUES (${family.sessionId}, ${family.clientId}, ${family.tokenHash}, ${isoTimestamp(family.expiresAtMs)},
            ${createdAt}, ${createdAt}, CASE WHEN EXISTS (SELECT FROM live) THEN NULL ELSE ${createdAt}::timestamptz END)`
}

/** A concurrent second call waits for the first one's commit (X5 of the port). */
async function spendAssertion(sql: postgres.Sql, { assertionHash, expiresAtMs }: SpentAssertion): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO spent_assertions (expires_at, assertion_hash) VALUES (${isoTimestamp(expiresAtMs)}, ${assertionHash})
    ON CONFLICT DO NOTHING`
  return count === 1
}

/**
 * A concurrent second call waits for the row, finds another hash, and returns the state of the token (X1, X4). It locks the
 * client before the family, as a revocation does: in the other order they would deadlock.
 */
async function rotateFamily(sql: postgres.Sql, exchange: RefreshExchange): Promise<RefreshOutcome> {
  const at = isoTimestamp(exchange.atMs)
  const [rotated] = await sql<{ readonly sessionId: string; readonly clientId: string }[]>`
    WITH live AS (
      SELECT f.session_id, f.client_id, f.expires_at
      FROM refresh_families f JOIN clients c ON c.client_id = f.client_id
      WHERE f.token_hash = ${exchange.tokenHash} AND f.revoked_at IS NULL AND f.expires_at > ${at}
        AND c.revoked_at IS NULL
      FOR SHARE OF c FOR NO KEY UPDATE OF f
    ), used AS (
      INSERT INTO used_refresh_tokens (token_hash, session_id, used_at, expires_at)
      SELECT ${exchange.tokenHash}, session_id, ${at}, expires_at FROM live
    )
    UPDATE refresh_families f
    SET token_hash = ${exchange.nextTokenHash}, expires_at = ${isoTimestamp(exchange.nextExpiresAtMs)}, rotated_at = ${at}
    FROM live WHERE f.session_id = live.session_id
    RETURNING f.session_id AS "sessionId", f.client_id AS "clientId"`
  if (rotated !== undefined) return { kind: 'rotated', ...rotated }
  return await refusedExchange(sql, exchange)
}

interface RefusedRow {
  readonly reused: boolean
  readonly late: boolean
  readonly session_id: string
  readonly dead: boolean
}

/** Why the token gave nothing; a used one that comes back late takes its family with it. */
async function refusedExchange(sql: postgres.Sql, exchange: RefreshExchange): Promise<RefreshOutcome> {
  const at = isoTimestamp(exchange.atMs)
  const lateBefore = isoTimestamp(exchange.atMs - exchange.reuseGraceMs)
  const [row] = await sql<RefusedRow[]>`
    SELECT false AS reused, false AS late, f.session_id, f.revoked_at IS NOT NULL OR c.revoked_at IS NOT NULL AS dead
    FROM refresh_families f LEFT JOIN clients c ON c.client_id = f.client_id
    WHERE f.token_hash = ${exchange.tokenHash}
    UNION ALL
    SELECT true, u.used_at < ${lateBefore}, u.session_id, f.revoked_at IS NOT NULL
    FROM used_refresh_tokens u JOIN refresh_families f ON f.session_id = u.session_id
    WHERE u.token_hash = ${exchange.tokenHash}
    LIMIT 1`
  if (row === undefined) return { kind: 'unknown' }
  if (row.dead) return { kind: 'revoked' }
  if (!row.reused) return { kind: 'expired' }
  if (row.late) {
    await sql`
      UPDATE refresh_families SET revoked_at = ${at} WHERE session_id = ${row.session_id} AND revoked_at IS NULL`
  }
  return { kind: 'reused' }
}

function cleanUp(pool: QueryPool, atMs: number): Promise<number> {
  return deleteInSteps(pool, [
    (sql, limit) => sql`
      DELETE FROM used_refresh_tokens WHERE token_hash IN (
        SELECT token_hash FROM used_refresh_tokens WHERE expires_at <= ${isoTimestamp(atMs)}
        ORDER BY expires_at LIMIT ${limit})`,
    (sql, limit) => sql`
      DELETE FROM spent_assertions WHERE assertion_hash IN (
        SELECT assertion_hash FROM spent_assertions WHERE expires_at <= ${isoTimestamp(atMs - ASSERTION_MARGIN_MS)}
        ORDER BY expires_at LIMIT ${limit})`,
    (sql, limit) => sql`
      DELETE FROM refresh_families WHERE session_id IN (
        SELECT session_id FROM refresh_families WHERE expires_at <= ${isoTimestamp(atMs - FAMILY_MARGIN_MS)}
        LIMIT ${limit})`,
  ])
}
