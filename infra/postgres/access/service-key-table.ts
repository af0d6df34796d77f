/**
 * The tables of the service's keys: `service_keys` with the public parts, and a table of sealed private keys for each part
 * that may read them.
 */
import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type postgres from 'postgres'
import { SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from '../../../runtime/ports/service-keys.ts'
import { secretOfReference } from '../../keys/outside/outside-signatures.ts'
import { publicJwkOf, thumbprintOf } from '../../keys/public-key.ts'
import type { ServiceKeySeals, ServicePublicKey } from '../../keys/service-key-seals.ts'
import { createQueryPool, type QueryPool } from '../connection/query-pool.ts'
import { readNowMs } from '../store/sessions.ts'

/** PostgreSQL is unavailable, or its keys do not open. */
export class ServiceKeysUnavailable extends Error {
  override readonly name = 'ServiceKeysUnavailable'
}

export interface ServiceKeyTableOptions {
  readonly url: string
  readonly seals: ServiceKeySeals
  /** Milliseconds since 1970, by PostgreSQL's clock (V8). */
  readonly readStoreMs?: typeof readNowMs
}

export interface ServiceKeyRow {
  readonly key_id: string
  readonly purpose: string
  readonly x: string
  readonly y: string
  readonly tag: Buffer
  /** null: this process has no wrapping key for the purpose, or the private key was deleted. */
  readonly sealed: Buffer | null
  readonly active_from: Date
  readonly retired_at: Date | null
  readonly revoked_at: Date | null
}

export interface ServiceKeyTable {
  /** Creates a first key for each purpose without one. */
  readonly createMissing: () => Promise<void>
  readonly load: () => Promise<{ readonly rows: readonly ServiceKeyRow[]; readonly nowMs: number }>
  /** Returns the new key's ID. `outside`: in place of a generated one. */
  readonly rotate: (purpose: ServiceKeyPurpose, activeAfterMs: number, outside?: OutsideServiceKey) => Promise<string>
  /** undefined: no such key to revoke. `outside`: the replacement, in place of a generated one. */
  readonly revoke: (
    keyId: string,
    outside?: OutsideServiceKey,
  ) => Promise<{ readonly replacedBy: string | null } | undefined>
  readonly close: () => Promise<void>
}

/** A key whose private half is outside. */
export interface OutsideServiceKey extends Pick<ServicePublicKey, 'keyId' | 'x' | 'y'> {
  /** As the key program knows it. */
  readonly reference: string
}

export type PrivateKeyTable = 'node_private_keys' | 'edge_private_keys'

/** The table of a purpose's private keys: each part may read its own table (roles.ts). */
export const PRIVATE_KEY_TABLES: Readonly<Record<ServiceKeyPurpose, PrivateKeyTable>> = {
  receipt: 'node_private_keys',
  token: 'edge_private_keys',
  assertion: 'edge_private_keys',
  attestation: 'edge_private_keys',
  import: 'edge_private_keys',
}

const generateKeys = promisify(generateKeyPair)

interface Table {
  readonly pool: QueryPool
  readonly seals: ServiceKeySeals
  readonly readStoreMs: typeof readNowMs
}

export function createServiceKeyTable(options: ServiceKeyTableOptions): ServiceKeyTable {
  const { seals, readStoreMs = readNowMs } = options
  const pool = createQueryPool({
    url: options.url,
    name: 'ledger service keys',
    size: 1,
    unavailable: (message, cause) => new ServiceKeysUnavailable(message, cause),
  })
  const table = { pool, seals, readStoreMs }
  const select = selectFor(seals)
  return {
    createMissing: () => createMissing(table),
    rotate: (purpose, activeAfterMs, outside) => rotate(table, purpose, activeAfterMs, outside),
    revoke: (keyId, outside) => revoke(table, keyId, outside),
    load: () =>
      pool.run(async (sql) => ({
        rows: await sql.unsafe<ServiceKeyRow[]>(select, [`{${seals.held.join(',')}}`]),
        nowMs: await readStoreMs(sql),
      })),
    close: pool.close,
  }
}

/** A process that cannot check tags reads only the keys that it can open (V4). */
function selectFor({ held, tags }: ServiceKeySeals): string {
  const tables = [...new Set(held.map((purpose) => PRIVATE_KEY_TABLES[purpose]))]
  const sealed = tables.map((name) => `${name}.sealed`)
  return `
SELECT k.key_id, k.purpose, k.x, k.y, k.tag, k.active_from, k.retired_at, k.revoked_at,
       CASE WHEN k.purpose = ANY ($1::text[]) THEN ${tables.length === 0 ? 'NULL::bytea' : `coalesce(${sealed.join(', ')})`} END AS sealed
  FROM service_keys k
  ${tables.map((name) => `LEFT JOIN ${name} ON ${name}.key_id = k.key_id`).join('\n  ')}
 WHERE ${tags} OR k.purpose = ANY ($1::text[])
 ORDER BY k.active_from, k.key_id`
}

/**
 * The lock admits readers and excludes other writers (V1). The time is read under the lock (V8), so that a later write has
 * a later time.
 */
async function locked<T>(
  { pool, readStoreMs }: Table,
  work: (sql: postgres.TransactionSql, nowMs: number) => Promise<T>,
): Promise<T> {
  let result: { readonly value: T } | undefined
  await pool.run((sql) =>
    sql.begin(async (transaction) => {
      await transaction`LOCK TABLE service_keys IN SHARE ROW EXCLUSIVE MODE`
      result = { value: await work(transaction, Math.floor(await readStoreMs(transaction))) }
    }),
  )
  if (result === undefined) throw new ServiceKeysUnavailable('The query of the signing keys returned nothing.')
  return result.value
}

/** Reads first: a role with read access finds the keys that `ledger migrate` created. */
async function createMissing(table: Table): Promise<void> {
  if ((await table.pool.run(missingPurposes)).length === 0) return
  await locked(table, async (sql, nowMs) => {
    for (const purpose of await missingPurposes(sql)) {
      await insertKey(sql, table.seals, { purpose, activeFromMs: nowMs, nowMs })
    }
  })
}

async function missingPurposes(sql: postgres.Sql | postgres.TransactionSql): Promise<readonly ServiceKeyPurpose[]> {
  const rows = await sql<{ purpose: string }[]>`SELECT DISTINCT purpose FROM service_keys`
  const existing = new Set(rows.map((row) => row.purpose))
  return SERVICE_KEY_PURPOSES.filter((purpose) => !existing.has(purpose))
}

async function rotate(
  table: Table,
  purpose: ServiceKeyPurpose,
  activeAfterMs: number,
  outside: OutsideServiceKey | undefined,
): Promise<string> {
  return await locked(table, async (sql, nowMs) => {
    const now = new Date(nowMs).toISOString()
    const activeFrom = new Date(nowMs + activeAfterMs).toISOString()
    // A key that is not active yet never signs: its span ends at its beginning.
    await sql`
      UPDATE service_keys SET retired_at = active_from
      WHERE purpose = ${purpose} AND active_from > ${now}`
    await sql`
      UPDATE service_keys SET retired_at = ${activeFrom}
      WHERE purpose = ${purpose} AND active_from <= ${now} AND (retired_at IS NULL OR retired_at > ${now})`
    return await insertKey(sql, table.seals, { purpose, activeFromMs: nowMs + activeAfterMs, nowMs, outside })
  })
}

/**
 * Replaces an active or future key in the same transaction: its span ends where the new one's begins. The time before its
 * own beginning stays with the previous key.
 */
async function revoke(
  table: Table,
  keyId: string,
  outside: OutsideServiceKey | undefined,
): Promise<{ readonly replacedBy: string | null } | undefined> {
  return await locked(table, async (sql, nowMs) => {
    const now = new Date(nowMs).toISOString()
    const [row] = await sql<{ purpose: string; active_from: Date; retired_at: Date | null }[]>`
      SELECT purpose, active_from, retired_at FROM service_keys WHERE key_id = ${keyId} AND revoked_at IS NULL`
    if (row === undefined) return undefined
    const fromMs = Math.max(nowMs, row.active_from.getTime())
    const retiredAt = row.retired_at?.toISOString() ?? null
    const isReplaced = row.retired_at === null || row.retired_at.getTime() > fromMs
    const endsAt = isReplaced ? new Date(fromMs).toISOString() : retiredAt
    await sql`UPDATE service_keys SET revoked_at = ${now}, retired_at = ${endsAt} WHERE key_id = ${keyId}`
    if (!isReplaced) return { replacedBy: null }
    const purpose = purposeOf(row.purpose)
    const replacedBy = await insertKey(sql, table.seals, { purpose, activeFromMs: fromMs, nowMs, outside })
    // A successor from a rotation in progress still follows.
    await sql`UPDATE service_keys SET retired_at = ${retiredAt} WHERE key_id = ${replacedBy}`
    return { replacedBy }
  })
}

interface NewKey {
  readonly purpose: ServiceKeyPurpose
  readonly activeFromMs: number
  readonly nowMs: number
  readonly outside?: OutsideServiceKey | undefined
}

async function insertKey(
  sql: postgres.TransactionSql,
  seals: ServiceKeySeals,
  { purpose, activeFromMs, nowMs, outside }: NewKey,
): Promise<string> {
  const { secret, ...publicPart } = outside === undefined ? await generatedKey() : secretOf(outside)
  const { keyId, x, y } = publicPart
  const key: ServicePublicKey = { purpose, keyId, x, y }
  const sealed = seals.seal(key, secret)
  secret.fill(0)
  await sql`
    INSERT INTO service_keys (key_id, purpose, x, y, tag, active_from, created_at)
    VALUES (${keyId}, ${purpose}, ${x}, ${y}, ${seals.tag(key)},
            ${new Date(activeFromMs).toISOString()}, ${new Date(nowMs).toISOString()})`
  await sql`INSERT INTO ${sql(PRIVATE_KEY_TABLES[purpose])} (key_id, sealed) VALUES (${keyId}, ${sealed})`
  return keyId
}

type KeyWithSecret = Pick<ServicePublicKey, 'keyId' | 'x' | 'y'> & { readonly secret: Buffer }

async function generatedKey(): Promise<KeyWithSecret> {
  const { privateKey } = await generateKeys('ec', { namedCurve: 'P-256' })
  return { ...publicPartOf(privateKey), secret: privateKey.export({ format: 'der', type: 'pkcs8' }) }
}

function secretOf({ reference, keyId, x, y }: OutsideServiceKey): KeyWithSecret {
  return { keyId, x, y, secret: secretOfReference(reference) }
}

export function publicPartOf(privateKey: KeyObject): Pick<ServicePublicKey, 'keyId' | 'x' | 'y'> {
  const jwk = publicJwkOf(privateKey)
  return { keyId: thumbprintOf(jwk), x: jwk.x, y: jwk.y }
}

export function purposeOf(text: string): ServiceKeyPurpose {
  const purpose = SERVICE_KEY_PURPOSES.find((known) => known === text)
  if (purpose === undefined) throw new ServiceKeysUnavailable('A signing key has an unknown purpose.')
  return purpose
}
