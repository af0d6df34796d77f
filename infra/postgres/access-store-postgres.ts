/**
 * Clients and refresh families in PostgreSQL. Invariants X1 to X3 of the port, and:
 *   X4. A family has one live token. Exchanging it moves it to the used ones in the same statement, under the lock of
 *       the family's row; a used token never yields anything again.
 */
import type postgres from 'postgres'
import { ROLES, type Role } from '../../actors/account/commands.ts'
import {
  type AccessStore,
  AccessStoreUnavailable,
  type ClientRecord,
  type RefreshExchange,
  type RefreshFamily,
  type RefreshOutcome,
} from '../../runtime/ports/access-store.ts'
import { createQueryPool, type QueryPool } from './query-pool.ts'

export interface PostgresAccessStore extends AccessStore {
  /** Forgets what has expired, in steps of bounded size; gives the number of rows. The store does it by itself, too. */
  readonly cleanUp: (atMs: number) => Promise<number>
  readonly close: () => Promise<void>
}

export interface AccessStoreOptions {
  readonly url: string
  readonly poolSize?: number
  /** Wall clock, milliseconds since 1970. */
  readonly now?: () => number
  readonly cleanUpEveryMs?: number
  readonly onCleanUpFailed?: (error: unknown) => void
}

const STATEMENT_TIMEOUT_MS = 5_000
/** Rows one step of cleaning may delete, and steps one cleaning may take. */
const CLEAN_UP_ROWS = 1_000
const CLEAN_UP_STEPS = 100
/** How long an expired family stays listed: longer than any access token of it lives. */
const FAMILY_MARGIN_MS = 86_400_000

export function createAccessStore(options: AccessStoreOptions): PostgresAccessStore {
  const pool = createQueryPool({
    url: options.url,
    name: 'ledger access',
    size: options.poolSize ?? 4,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    unavailable: (message, cause) => new AccessStoreUnavailable(message, cause),
  })
  const now = options.now ?? Date.now
  const cleaning = setInterval(() => {
    cleanUp(pool, now()).catch(options.onCleanUpFailed ?? (() => undefined))
  }, options.cleanUpEveryMs ?? 600_000)
  cleaning.unref()

  return {
    findClient: async (clientId) => {
      const [row] = await pool.run((sql) => sql<ClientRow[]>`${selectClients(sql)} WHERE client_id = ${clientId}`)
      return row === undefined ? undefined : clientOf(row)
    },
    listClients: async () => {
      const rows = await pool.run((sql) => sql<ClientRow[]>`${selectClients(sql)} ORDER BY client_id`)
      return rows.map(clientOf)
    },
    putClient: (client) => pool.run((sql) => putClient(sql, client)),
    revokeClient: (clientId, atMs) => pool.run((sql) => revokeClient(sql, clientId, atMs)),
    createFamily: (family) => pool.run((sql) => createFamily(sql, family)),
    rotateFamily: (exchange) => pool.run((sql) => rotateFamily(sql, exchange)),
    listRevokedSessions: async (sinceMs) => {
      const rows = await pool.run(
        (sql) => sql<{ session_id: string }[]>`
          SELECT session_id FROM refresh_families WHERE revoked_at >= ${timestamp(sinceMs)} ORDER BY session_id`,
      )
      return rows.map((row) => row.session_id)
    },
    cleanUp: (atMs) => cleanUp(pool, atMs),
    close: async () => {
      clearInterval(cleaning)
      await pool.close()
    },
  }
}

interface ClientRow {
  readonly client_id: string
  readonly secret_hash: string
  readonly role: string
  readonly boundary: boolean | readonly string[]
  readonly created_at: Date
  readonly revoked_at: Date | null
}

function selectClients(sql: postgres.Sql) {
  return sql`SELECT client_id, secret_hash, role, boundary, created_at, revoked_at FROM clients`
}

function clientOf(row: ClientRow): ClientRecord {
  return {
    clientId: row.client_id,
    secretHash: row.secret_hash,
    role: roleOf(row.role),
    boundary: row.boundary,
    createdAtMs: row.created_at.getTime(),
    revokedAtMs: row.revoked_at?.getTime() ?? null,
  }
}

/** The table's own check admits no other; a wrong one must not pass for any role. */
function roleOf(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new AccessStoreUnavailable('A client has an unknown role.')
  return role
}

function timestamp(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

async function putClient(sql: postgres.Sql, client: ClientRecord): Promise<void> {
  const revokedAt = client.revokedAtMs === null ? null : timestamp(client.revokedAtMs)
  const boundary = typeof client.boundary === 'boolean' ? client.boundary : [...client.boundary]
  await sql.begin(async (transaction) => {
    await transaction`
      INSERT INTO clients (client_id, secret_hash, role, boundary, created_at, revoked_at)
      VALUES (${client.clientId}, ${client.secretHash}, ${client.role}, ${sql.json(boundary)},
              ${timestamp(client.createdAtMs)}, ${revokedAt})
      ON CONFLICT (client_id) DO UPDATE
      SET secret_hash = excluded.secret_hash, role = excluded.role, boundary = excluded.boundary,
          revoked_at = excluded.revoked_at`
    if (revokedAt !== null) await revokeFamilies(transaction, client.clientId, revokedAt)
  })
}

/** Two statements: the second sees the families of logins that held the client's row when the first waited for it (X3). */
async function revokeClient(sql: postgres.Sql, clientId: string, atMs: number): Promise<boolean> {
  const at = timestamp(atMs)
  return await sql.begin(async (transaction) => {
    const found = await transaction`
      UPDATE clients SET revoked_at = coalesce(revoked_at, ${at}) WHERE client_id = ${clientId} RETURNING client_id`
    if (found.length === 0) return false
    await revokeFamilies(transaction, clientId, at)
    return true
  })
}

async function revokeFamilies(sql: postgres.TransactionSql, clientId: string, at: string): Promise<void> {
  await sql`UPDATE refresh_families SET revoked_at = ${at} WHERE client_id = ${clientId} AND revoked_at IS NULL`
}

/** A login that lost against the revocation of its client leaves a family that is revoked from the start (X3). */
async function createFamily(sql: postgres.Sql, family: RefreshFamily): Promise<void> {
  const createdAt = timestamp(family.createdAtMs)
  await sql`
    WITH live AS (
      SELECT client_id FROM clients WHERE client_id = ${family.clientId} AND revoked_at IS NULL FOR SHARE
    )
    INSERT INTO refresh_families (session_id, client_id, token_hash, expires_at, created_at, rotated_at, revoked_at)
    VALUES (${family.sessionId}, ${family.clientId}, ${family.tokenHash}, ${timestamp(family.expiresAtMs)},
            ${createdAt}, ${createdAt}, CASE WHEN EXISTS (SELECT FROM live) THEN NULL ELSE ${createdAt}::timestamptz END)`
}

interface RotatedRow {
  readonly session_id: string
  readonly client_id: string
}

/** Whoever comes second waits for the row, finds another hash in it, and is told what the token is now (X1, X4). */
async function rotateFamily(sql: postgres.Sql, exchange: RefreshExchange): Promise<RefreshOutcome> {
  const at = timestamp(exchange.atMs)
  const [rotated] = await sql<RotatedRow[]>`
    WITH live AS (
      SELECT f.session_id, f.client_id, f.expires_at
      FROM refresh_families f JOIN clients c ON c.client_id = f.client_id
      WHERE f.token_hash = ${exchange.tokenHash} AND f.revoked_at IS NULL AND f.expires_at > ${at}
        AND c.revoked_at IS NULL
      FOR NO KEY UPDATE OF f FOR SHARE OF c
    ), used AS (
      INSERT INTO used_refresh_tokens (token_hash, session_id, used_at, expires_at)
      SELECT ${exchange.tokenHash}, session_id, ${at}, expires_at FROM live
    )
    UPDATE refresh_families f
    SET token_hash = ${exchange.nextTokenHash}, expires_at = ${timestamp(exchange.nextExpiresAtMs)}, rotated_at = ${at}
    FROM live WHERE f.session_id = live.session_id
    RETURNING f.session_id, f.client_id`
  if (rotated !== undefined) {
    return { kind: 'rotated', sessionId: rotated.session_id, clientId: rotated.client_id }
  }
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
  const at = timestamp(exchange.atMs)
  const lateBefore = timestamp(exchange.atMs - exchange.reuseGraceMs)
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

async function cleanUp(pool: QueryPool, atMs: number): Promise<number> {
  const steps = [
    (sql: postgres.Sql) => sql`
      DELETE FROM used_refresh_tokens WHERE token_hash IN (
        SELECT token_hash FROM used_refresh_tokens WHERE expires_at <= ${timestamp(atMs)}
        ORDER BY expires_at LIMIT ${CLEAN_UP_ROWS})`,
    (sql: postgres.Sql) => sql`
      DELETE FROM refresh_families WHERE session_id IN (
        SELECT session_id FROM refresh_families WHERE expires_at <= ${timestamp(atMs - FAMILY_MARGIN_MS)}
        LIMIT ${CLEAN_UP_ROWS})`,
  ]
  let deleted = 0
  for (const step of steps) {
    for (let count = 0; count < CLEAN_UP_STEPS; count += 1) {
      const { count: rows } = await pool.run(async (sql) => await step(sql))
      deleted += rows
      if (rows < CLEAN_UP_ROWS) break
    }
  }
  return deleted
}
