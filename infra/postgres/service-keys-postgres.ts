/**
 * The service's signing keys in PostgreSQL, private parts sealed under the master key.
 *   V1. At any moment one key of a purpose is in use: the one that became active last. Two processes that start or rotate
 *       at once agree, because both hold the table's lock.
 *   V2. A new key is published for a while before it signs anything, so that every cache of the JWKS knows it by then.
 *   V3. No private key leaves this file unsealed; one that retired is forgotten soon after.
 *   V4. A key whose sealed part does not give its public part and its ID is not used and not published.
 *   V5. Whoever has not heard from PostgreSQL for so long that it may have missed a rotation signs nothing.
 *   V6. A revoked key signs nothing from the moment at which a process hears of it. Where it was in use, or was to be, a new
 *       key takes its place in the same transaction; nobody could know that one before, so that V2 gives way.
 *   V7. A key for imports signs nothing and is not published; it opens what was encrypted to it for as long as it is not
 *       revoked.
 *   V8. Spans are PostgreSQL's time: the clock of whoever makes, rotates or revokes a key decides nothing.
 */
import { createPrivateKey, generateKeyPair, type KeyObject, sign as signWithKey } from 'node:crypto'
import { promisify } from 'node:util'
import type postgres from 'postgres'
import type { Clock, Timer } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import {
  type ImportKeys,
  type PublishedKey,
  SERVICE_KEY_PURPOSES,
  type ServiceKeyPurpose,
  type ServiceKeys,
} from '../../runtime/ports/service-keys.ts'
import type { MasterSeal } from '../keys/master-seal.ts'
import { publicJwkOf, thumbprintOf } from '../keys/public-key.ts'
import { decryptBalance, decryptKeySalt, type PrivateKeyOf } from '../portability/balance-jwe.ts'
import { createQueryPool, type QueryPool } from './query-pool.ts'
import { serviceKeyContext } from './service-key-sealing.ts'
import { readNowMs } from './sessions.ts'

/** Of any purpose: as it is kept. */
export type ServiceKey = Omit<PublishedKey, 'purpose'> & { readonly purpose: ServiceKeyPurpose }

export interface PostgresServiceKeys extends ServiceKeys {
  readonly imports: ImportKeys
  /**
   * Makes the next key of a purpose. It becomes active after `activeAfterMs` (default: one cache lifetime), and the key
   * before it retires at that moment. A key that is still waiting to become active is replaced.
   */
  readonly rotate: (purpose: ServiceKeyPurpose, options?: { readonly activeAfterMs?: number }) => Promise<ServiceKey>
  /**
   * Voids everything that the key ever signed. The key that takes its place, where it had one: in use at once, or when
   * the revoked one would have been. undefined when there is no such key, or it is revoked already.
   */
  readonly revoke: (keyId: string) => Promise<Revocation | undefined>
  /** Looks at the table now. Throws ServiceKeysUnavailable. */
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface Revocation {
  readonly revoked: ServiceKey
  /** null: it had retired. */
  readonly replacement: ServiceKey | null
}

export interface ServiceKeysOptions {
  readonly url: string
  /** What their private parts are sealed with at rest. */
  readonly sealing: MasterSeal
  readonly clock: Clock
  readonly log?: Log
  /** How often the table is looked at. */
  readonly refreshMs?: number
  /** How long others may keep the JWKS: the lead that a new key is published with (V2). */
  readonly cacheLifetimeMs?: number
  /** Milliseconds since 1970, by PostgreSQL's clock (V8). */
  readonly readStoreMs?: typeof readNowMs
}

/** PostgreSQL does not answer, or the keys in it do not open. */
export class ServiceKeysUnavailable extends Error {
  override readonly name = 'ServiceKeysUnavailable'
}

const STATEMENT_TIMEOUT_MS = 5_000
const DEFAULT_REFRESH_MS = 3_000
const DEFAULT_CACHE_LIFETIME_MS = 300_000
/** For how long a retired key still signs what was prepared to name it. */
const LAST_SIGNATURES_MS = 60_000

const generateKeys = promisify(generateKeyPair)

/** A key as it is held here. */
interface HeldKey {
  readonly published: ServiceKey
  /** null once retired. */
  readonly privateKey: KeyObject | null
}

/** Makes a first key for each purpose that has none. */
export async function createMissingServiceKeys(options: Pick<ServiceKeysOptions, 'url' | 'sealing'>): Promise<void> {
  const table = createTable(options)
  try {
    await table.createMissing()
  } finally {
    await table.close()
  }
}

export async function createServiceKeys(options: ServiceKeysOptions): Promise<PostgresServiceKeys> {
  const { clock } = options
  const cacheLifetimeMs = options.cacheLifetimeMs ?? DEFAULT_CACHE_LIFETIME_MS
  const table = createTable(options)
  let held: ReadonlyMap<string, HeldKey> = new Map()
  let heardAt = clock.monotonic()
  let asked = 0
  let applied = 0

  /** An answer that was overtaken by the answer to a later question is dropped. */
  const refresh = async (): Promise<void> => {
    asked += 1
    const question = asked
    const askedAt = clock.monotonic()
    const loaded = await table.load(held)
    if (question < applied) return
    applied = question
    held = loaded
    heardAt = askedAt
  }
  try {
    await table.createMissing()
    await refresh()
  } catch (error) {
    await table.close()
    throw error
  }
  const current = (purpose: ServiceKeyPurpose, datedMs = clock.now()): ServiceKey => {
    if (clock.monotonic() - heardAt > cacheLifetimeMs) {
      throw new ServiceKeysUnavailable('The signing keys have not been looked at for too long.')
    }
    return currentOf(held, purpose, datedMs).published
  }
  const refreshing = repeat(clock, options.refreshMs ?? DEFAULT_REFRESH_MS, () =>
    refresh().catch((error: unknown) => options.log?.warn('service_keys_not_refreshed', { error: nameOf(error) })),
  )

  return {
    published: () => [...held.values()].map((key) => key.published).filter(isPublished),
    current: (purpose, datedMs) => current(purpose, datedMs).keyId,
    sign: (keyId, payloads) => signAll(held.get(keyId), payloads),
    imports: importKeysOf(
      () => current('import'),
      (keyId) => held.get(keyId),
    ),
    rotate: async (purpose, rotation) => {
      const keyId = await table.rotate(purpose, rotation?.activeAfterMs ?? cacheLifetimeMs)
      await refresh()
      const made = held.get(keyId)
      if (made === undefined) throw new ServiceKeysUnavailable('The new key is not in the table.')
      return made.published
    },
    revoke: async (keyId) => {
      const revocation = await table.revoke(keyId)
      if (revocation === undefined) return undefined
      await refresh()
      const revoked = held.get(keyId)
      const replacement = revocation.replacedBy === null ? null : held.get(revocation.replacedBy)
      if (revoked === undefined || replacement === undefined) {
        throw new ServiceKeysUnavailable('The keys are not in the table.')
      }
      return { revoked: revoked.published, replacement: replacement?.published ?? null }
    },
    refresh,
    close: async () => {
      refreshing.stop()
      await table.close()
    },
  }
}

/** V7. */
function importKeysOf(current: () => ServiceKey, find: (keyId: string) => HeldKey | undefined): ImportKeys {
  const privateKeyOf: PrivateKeyOf = (keyId) => {
    const key = find(keyId)
    return key?.published.purpose === 'import' ? (key.privateKey ?? undefined) : undefined
  }
  return {
    current: () => {
      const { keyId, x, y } = current()
      return { keyId, x, y }
    },
    openBalance: (of, jwe) => decryptBalance(privateKeyOf, of, jwe),
    openKeySalt: (jwe) => decryptKeySalt(privateKeyOf, jwe),
  }
}

function isPublished(key: ServiceKey): key is PublishedKey {
  return key.purpose !== 'import'
}

/** Where none is in use yet, the first that will be: a clock may be behind PostgreSQL's, which the key was made by (V8). */
function currentOf(held: ReadonlyMap<string, HeldKey>, purpose: ServiceKeyPurpose, nowMs: number): HeldKey {
  let current: HeldKey | undefined
  let next: HeldKey | undefined
  for (const key of held.values()) {
    const { purpose: itsPurpose, activeFromMs } = key.published
    if (itsPurpose !== purpose || key.privateKey === null) continue
    if (isInUse(key.published, nowMs)) {
      if (current === undefined || activeFromMs > current.published.activeFromMs) current = key
    } else if (activeFromMs > nowMs && (next === undefined || activeFromMs < next.published.activeFromMs)) next = key
  }
  const found = current ?? next
  if (found === undefined) throw new ServiceKeysUnavailable('There is no signing key for this purpose.')
  return found
}

function isInUse(key: ServiceKey, nowMs: number): boolean {
  return key.activeFromMs <= nowMs && (key.retiredAtMs === null || key.retiredAtMs > nowMs)
}

async function signAll(key: HeldKey | undefined, payloads: readonly string[]): Promise<readonly string[]> {
  const privateKey = key?.published.purpose === 'import' ? null : key?.privateKey
  if (privateKey === undefined || privateKey === null) {
    throw new ServiceKeysUnavailable('There is no such signing key, or it has retired.')
  }
  return payloads.map((payload) => signOne(privateKey, payload))
}

/**
 * Not on the thread pool: there it would wait behind the checks of the next batch, and handing a signature out and taking
 * it back costs the main thread two thirds of what making it costs.
 */
function signOne(key: KeyObject, payload: string): string {
  return signWithKey('sha256', Buffer.from(payload, 'utf8'), { key, dsaEncoding: 'der' }).toString('base64')
}

interface KeyRow {
  readonly key_id: string
  readonly purpose: string
  readonly x: string
  readonly y: string
  readonly sealed_private_key: Buffer
  readonly active_from: Date
  readonly retired_at: Date | null
  readonly revoked_at: Date | null
}

interface KeyTable {
  readonly createMissing: () => Promise<void>
  readonly load: (known: ReadonlyMap<string, HeldKey>) => Promise<ReadonlyMap<string, HeldKey>>
  /** Gives the new key's ID. */
  readonly rotate: (purpose: ServiceKeyPurpose, activeAfterMs: number) => Promise<string>
  /** undefined: there is nothing to revoke. */
  readonly revoke: (keyId: string) => Promise<{ readonly replacedBy: string | null } | undefined>
  readonly close: () => Promise<void>
}

function createTable(options: Pick<ServiceKeysOptions, 'url' | 'sealing' | 'readStoreMs'>): KeyTable {
  const { sealing, readStoreMs = readNowMs } = options
  const pool = createQueryPool({
    url: options.url,
    name: 'ledger service keys',
    size: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    unavailable: (message, cause) => new ServiceKeysUnavailable(message, cause),
  })
  const table = { pool, sealing, readStoreMs }
  return {
    createMissing: () => createMissing(table),
    rotate: (purpose, activeAfterMs) => rotate(table, purpose, activeAfterMs),
    revoke: (keyId) => revoke(table, keyId),
    load: async (known) => {
      const { rows, nowMs } = await pool.run(async (sql) => ({
        rows: await sql<KeyRow[]>`
          SELECT key_id, purpose, x, y, sealed_private_key, active_from, retired_at, revoked_at
          FROM service_keys ORDER BY active_from, key_id`,
        nowMs: await readStoreMs(sql),
      }))
      return new Map(rows.map((row) => [row.key_id, holdKey(row, known.get(row.key_id), sealing, nowMs)]))
    },
    close: pool.close,
  }
}

/** Opens a row that was not known before (V4); the span may have changed since. */
function holdKey(row: KeyRow, known: HeldKey | undefined, sealing: MasterSeal, nowMs: number): HeldKey {
  const published: ServiceKey = {
    keyId: row.key_id,
    purpose: purposeOf(row.purpose),
    x: row.x,
    y: row.y,
    activeFromMs: row.active_from.getTime(),
    retiredAtMs: row.retired_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
  }
  const privateKey = isSame(published, known?.published) ? (known?.privateKey ?? null) : openRow(row, sealing)
  const retired =
    published.purpose !== 'import' &&
    published.retiredAtMs !== null &&
    published.retiredAtMs + LAST_SIGNATURES_MS < nowMs
  const gone = retired || published.revokedAtMs !== null
  return { published, privateKey: gone ? null : privateKey }
}

function isSame(key: ServiceKey, known: ServiceKey | undefined): boolean {
  return known !== undefined && known.x === key.x && known.y === key.y && known.purpose === key.purpose
}

function openRow(row: KeyRow, sealing: MasterSeal): KeyObject {
  let privateKey: KeyObject
  try {
    const { secret: pkcs8 } = sealing.open(serviceKeyContext(row.purpose, row.key_id), row.sealed_private_key)
    privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
    pkcs8.fill(0)
  } catch (cause) {
    throw new ServiceKeysUnavailable('The master key does not open the signing keys of this database.', { cause })
  }
  const { keyId, x, y } = publicPartOf(privateKey)
  if (keyId !== row.key_id || x !== row.x || y !== row.y) {
    throw new ServiceKeysUnavailable('A signing key in the database is not what it says it is.')
  }
  return privateKey
}

function publicPartOf(privateKey: KeyObject): { readonly keyId: string; readonly x: string; readonly y: string } {
  const jwk = publicJwkOf(privateKey)
  return { keyId: thumbprintOf(jwk), x: jwk.x, y: jwk.y }
}

function purposeOf(text: string): ServiceKeyPurpose {
  const purpose = SERVICE_KEY_PURPOSES.find((known) => known === text)
  if (purpose === undefined) throw new ServiceKeysUnavailable('A signing key has an unknown purpose.')
  return purpose
}

interface Table {
  readonly pool: QueryPool
  readonly sealing: MasterSeal
  readonly readStoreMs: typeof readNowMs
}

/**
 * The lock lets readers through and nobody else who wants to write (V1). The time is read under it (V8), so that of two
 * writes the later has the later.
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
  if (result === undefined) throw new ServiceKeysUnavailable('The table of signing keys gave nothing.')
  return result.value
}

/** Looks first: who may only read the keys finds them made by who created the ledger. */
async function createMissing(table: Table): Promise<void> {
  if ((await table.pool.run(missingPurposes)).length === 0) return
  await locked(table, async (sql, nowMs) => {
    for (const purpose of await missingPurposes(sql)) await insertKey(sql, table.sealing, purpose, nowMs, nowMs)
  })
}

async function missingPurposes(sql: postgres.Sql | postgres.TransactionSql): Promise<readonly ServiceKeyPurpose[]> {
  const rows = await sql<{ purpose: string }[]>`SELECT DISTINCT purpose FROM service_keys`
  const existing = new Set(rows.map((row) => row.purpose))
  return SERVICE_KEY_PURPOSES.filter((purpose) => !existing.has(purpose))
}

async function rotate(table: Table, purpose: ServiceKeyPurpose, activeAfterMs: number): Promise<string> {
  return await locked(table, async (sql, nowMs) => {
    const now = new Date(nowMs).toISOString()
    const activeFrom = new Date(nowMs + activeAfterMs).toISOString()
    // A key that has not signed anything yet never will: its span ends where it would have begun.
    await sql`
      UPDATE service_keys SET retired_at = active_from
      WHERE purpose = ${purpose} AND active_from > ${now}`
    await sql`
      UPDATE service_keys SET retired_at = ${activeFrom}
      WHERE purpose = ${purpose} AND active_from <= ${now} AND (retired_at IS NULL OR retired_at > ${now})`
    return await insertKey(sql, table.sealing, purpose, nowMs + activeAfterMs, nowMs)
  })
}

/**
 * A key that is in use, or will be, is replaced in the same transaction: its span ends where the new one's begins. What
 * comes before its own beginning is left to the key before.
 */
async function revoke(table: Table, keyId: string): Promise<{ readonly replacedBy: string | null } | undefined> {
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
    const replacedBy = await insertKey(sql, table.sealing, purposeOf(row.purpose), fromMs, nowMs)
    // Where a rotation was under way, the key that is to follow still does.
    await sql`UPDATE service_keys SET retired_at = ${retiredAt} WHERE key_id = ${replacedBy}`
    return { replacedBy }
  })
}

async function insertKey(
  sql: postgres.TransactionSql,
  sealing: MasterSeal,
  purpose: ServiceKeyPurpose,
  activeFromMs: number,
  nowMs: number,
): Promise<string> {
  const { privateKey } = await generateKeys('ec', { namedCurve: 'P-256' })
  const { keyId, x, y } = publicPartOf(privateKey)
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  const sealed = sealing.seal(serviceKeyContext(purpose, keyId), pkcs8)
  pkcs8.fill(0)
  await sql`
    INSERT INTO service_keys (key_id, purpose, x, y, sealed_private_key, active_from, created_at)
    VALUES (${keyId}, ${purpose}, ${x}, ${y}, ${sealed},
            ${new Date(activeFromMs).toISOString()}, ${new Date(nowMs).toISOString()})`
  return keyId
}

interface Repeating {
  readonly stop: () => void
}

/** Runs again `everyMs` after the run before has ended. */
function repeat(clock: Clock, everyMs: number, run: () => Promise<unknown>): Repeating {
  let stopped = false
  let timer: Timer | undefined
  const next = (): void => {
    if (stopped) return
    timer = clock.after(everyMs, () => void run().finally(next))
  }
  next()
  return {
    stop: () => {
      stopped = true
      timer?.cancel()
    },
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
