/**
 * The service's signing keys in PostgreSQL. A process holds the private keys of the purposes that it has wrapping keys for.
 *   V1. At any moment one key of a purpose is in use: the one that became active last. Two processes that start or rotate
 *       at once agree, because both hold the table's lock.
 *   V2. A new key is published for a while before it signs anything, so that every cache of the JWKS knows it by then.
 *   V3. No private key leaves this file unsealed; one that retired is forgotten soon after.
 *   V4. A key is used and published only if the ledger created it. A process that can open its private key derives the public
 *       key and ID from it; a process that can check tags checks its tag. Any other process sees only the keys that it opens.
 *   V5. A process that has not reached PostgreSQL for so long that it may have missed a rotation signs nothing.
 *   V6. A revoked key signs nothing from the moment at which a process reads of it. If it was in use, or was to be, a new
 *       key replaces it in the same transaction; that key could not be published before, an exception to V2.
 *   V7. A key for imports signs nothing and is not published; it opens what was encrypted to it for as long as it is not
 *       revoked.
 *   V8. Spans are in PostgreSQL's time: the clock of the process that makes, rotates or revokes a key decides nothing.
 *   V9. A key outside has its reference sealed in place of the private key, for its own row. Its signatures are verified.
 */
import { createPrivateKey, KeyObject, sign as signWithKey } from 'node:crypto'
import { type Clock, repeat } from '../../../runtime/ports/clock.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type { ImportKeys, PublishedKey, ServiceKeyPurpose, ServiceKeys } from '../../../runtime/ports/service-keys.ts'
import { SignerUnavailable } from '../../../runtime/ports/signer.ts'
import type { ServiceKeySeals, ServicePublicKey } from '../../keys/service-key-seals.ts'
import { decryptBalance, decryptKeySalt } from '../../keys/balance-jwe.ts'
import type { PrivateKeyOf } from '../../keys/compact-jwe.ts'
import type { OutsideKeys } from '../../keys/outside/outside-keys.ts'
import {
  type OutsidePrivateKey,
  publicKeyObject,
  referenceIn,
  signOutside,
} from '../../keys/outside/outside-signatures.ts'
import { thumbprintOf } from '../../keys/public-key.ts'
import { codeOf } from '../connection/failure.ts'
import {
  createServiceKeyTable,
  type OutsideServiceKey,
  publicPartOf,
  purposeOf,
  type ServiceKeyRow,
  ServiceKeysUnavailable,
  type ServiceKeyTableOptions,
} from './service-key-table.ts'

/** Of any purpose: as it is kept. */
export type ServiceKey = Omit<PublishedKey, 'purpose'> & { readonly purpose: ServiceKeyPurpose }

export interface PostgresServiceKeys extends ServiceKeys {
  readonly imports: ImportKeys
  /**
   * Makes the next key of a purpose. It becomes active after `activeAfterMs` (default: one cache lifetime), and the key
   * before it retires at that moment. A key that is still waiting to become active is replaced.
   */
  readonly rotate: (
    purpose: ServiceKeyPurpose,
    options?: { readonly activeAfterMs?: number; readonly outside?: OutsideServiceKey },
  ) => Promise<ServiceKey>
  /**
   * Voids everything that the key ever signed. The key that takes its place, where it had one: in use at once, or when
   * the revoked one would have been. undefined when there is no such key, or it is revoked already.
   */
  readonly revoke: (keyId: string, outside?: OutsideServiceKey) => Promise<Revocation | undefined>
  /** Looks at the table now. Throws ServiceKeysUnavailable. */
  readonly refresh: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface Revocation {
  readonly revoked: ServiceKey
  /** null: it had retired. */
  readonly replacement: ServiceKey | null
}

export interface ServiceKeysOptions extends ServiceKeyTableOptions {
  readonly clock: Clock
  readonly log?: Log
  /** Signs with keys outside; undefined: none of them signs here. */
  readonly outside?: OutsideKeys | undefined
  /** How often the table is looked at. */
  readonly refreshMs?: number
  /** How long others may keep the JWKS: the lead that a new key is published with (V2). */
  readonly cacheLifetimeMs?: number
}

const DEFAULT_REFRESH_MS = 3_000
const DEFAULT_CACHE_LIFETIME_MS = 300_000
/** For how long a retired key still signs what was prepared to name it. */
const LAST_SIGNATURES_MS = 60_000

/** A key as it is held here. */
interface HeldKey {
  readonly published: ServiceKey
  /** null once retired, or if this process has no wrapping key for the purpose. */
  readonly privateKey: KeyObject | OutsidePrivateKey | null
}

/** Creates a first key for each purpose without one. Needs the wrapping keys of all purposes. */
export async function createMissingServiceKeys(options: ServiceKeyTableOptions): Promise<void> {
  const table = createServiceKeyTable(options)
  try {
    await table.createMissing()
  } finally {
    await table.close()
  }
}

/** Creates first keys like `createMissingServiceKeys` if this process has the wrapping keys. */
export async function createServiceKeys(options: ServiceKeysOptions): Promise<PostgresServiceKeys> {
  const { clock, seals } = options
  const cacheLifetimeMs = options.cacheLifetimeMs ?? DEFAULT_CACHE_LIFETIME_MS
  const table = createServiceKeyTable(options)
  let held: ReadonlyMap<string, HeldKey> = new Map()
  let heardAt = clock.monotonic()
  let asked = 0
  let applied = 0

  /** An answer that was overtaken by the answer to a later question is dropped. */
  const refresh = async (): Promise<void> => {
    asked += 1
    const question = asked
    const askedAt = clock.monotonic()
    const { rows, nowMs } = await table.load()
    const loaded = new Map(rows.map((row) => [row.key_id, holdKey(row, held.get(row.key_id), seals, nowMs)]))
    if (question < applied) return
    applied = question
    held = loaded
    heardAt = askedAt
  }
  try {
    if (seals.createsKeys) await table.createMissing()
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
    refresh().catch((error: unknown) => options.log?.warn('service_keys_not_refreshed', { error: codeOf(error) })),
  )

  return {
    published: () => [...held.values()].map((key) => key.published).filter(isPublished),
    current: (purpose, datedMs) => current(purpose, datedMs).keyId,
    sign: (keyId, payloads) => signAll(() => held.get(keyId), payloads, options.outside),
    imports: importKeysOf(
      () => current('import'),
      (keyId) => held.get(keyId),
    ),
    rotate: async (purpose, rotation) => {
      const keyId = await table.rotate(purpose, rotation?.activeAfterMs ?? cacheLifetimeMs, rotation?.outside)
      await refresh()
      const made = held.get(keyId)
      if (made === undefined) throw new ServiceKeysUnavailable('The new key is not in the table.')
      return made.published
    },
    revoke: async (keyId, outside) => {
      const revocation = await table.revoke(keyId, outside)
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
    const isInside = key?.published.purpose === 'import' && key.privateKey instanceof KeyObject
    return isInside ? key.privateKey : undefined
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

async function signAll(
  find: () => HeldKey | undefined,
  payloads: readonly string[],
  outside: OutsideKeys | undefined,
): Promise<readonly string[]> {
  const key = find()
  const privateKey = key?.published.purpose === 'import' ? null : key?.privateKey
  if (privateKey === undefined || privateKey === null) {
    throw new ServiceKeysUnavailable('This process does not have the signing key, or the key has retired.')
  }
  if (!(privateKey instanceof KeyObject)) {
    const signatures = await signOutside(outside, privateKey, payloads)
    if (find()?.privateKey === null) throw new SignerUnavailable('the key was revoked while it signed')
    return signatures
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

/** Verifies a new row as of V4; the span of a known one may have changed. */
function holdKey(row: ServiceKeyRow, known: HeldKey | undefined, seals: ServiceKeySeals, nowMs: number): HeldKey {
  const published: ServiceKey = {
    keyId: row.key_id,
    purpose: purposeOf(row.purpose),
    x: row.x,
    y: row.y,
    activeFromMs: row.active_from.getTime(),
    retiredAtMs: row.retired_at?.getTime() ?? null,
    revokedAtMs: row.revoked_at?.getTime() ?? null,
  }
  const privateKey = isSame(published, known?.published) ? (known?.privateKey ?? null) : believe(published, row, seals)
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

/** Returns the private key if this process has its wrapping key (V4). */
function believe(key: ServicePublicKey, { tag, sealed }: ServiceKeyRow, seals: ServiceKeySeals): HeldKey['privateKey'] {
  const privateKey = seals.held.includes(key.purpose) ? openPrivateKey(key, sealed, seals) : null
  try {
    if (seals.tags) seals.check(key, tag)
  } catch (cause) {
    throw new ServiceKeysUnavailable('A public key in the database is not one that this ledger made.', { cause })
  }
  return privateKey
}

function openPrivateKey(
  key: ServicePublicKey,
  sealed: Buffer | null,
  seals: ServiceKeySeals,
): KeyObject | OutsidePrivateKey {
  if (sealed === null) throw new ServiceKeysUnavailable('The private key of a signing key is not in the database.')
  let privateKey: KeyObject
  try {
    const { secret } = seals.open(key, sealed)
    const reference = referenceIn(secret)
    if (reference !== undefined) return outsideKeyOf(key, reference)
    privateKey = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' })
    secret.fill(0)
  } catch (cause) {
    throw new ServiceKeysUnavailable('The master key does not open the signing keys of this database.', { cause })
  }
  const { keyId, x, y } = publicPartOf(privateKey)
  if (keyId !== key.keyId || x !== key.x || y !== key.y) {
    throw new ServiceKeysUnavailable('A signing key in the database is not what it says it is.')
  }
  return privateKey
}

/** The reference was sealed for this key ID, which is that of the public key (V4). */
function outsideKeyOf({ keyId, x, y }: ServicePublicKey, reference: string): OutsidePrivateKey {
  if (thumbprintOf({ kty: 'EC', crv: 'P-256', x, y }) !== keyId) {
    throw new ServiceKeysUnavailable('A signing key in the database is not what it says it is.')
  }
  return { reference, publicKey: publicKeyObject({ x, y }) }
}
