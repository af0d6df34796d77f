/** The contract of service keys (V1 to V8) on PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { createServiceKeySeals, type ServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { readPublicKey, thumbprintOf } from '../../infra/keys/public-key.ts'
import { encryptBalance, encryptKeySalt } from '../../infra/keys/balance-jwe.ts'
import {
  createServiceKeys,
  type PostgresServiceKeys,
  type ServiceKeysOptions,
} from '../../infra/postgres/access/service-keys-postgres.ts'
import { ServiceKeysUnavailable } from '../../infra/postgres/access/service-key-table.ts'
import { KEY_PURPOSES, SERVICE_KEY_PURPOSES } from '../../runtime/ports/service-keys.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/postgres/ledger-database.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { verifiesUnder } from './service-keys.contract.ts'

const START_MS = 1_790_000_000_000
const CACHE_MS = 300_000

function newSeals(): ServiceKeySeals {
  const current = readMasterKey(randomBytes(32).toString('base64url'))
  return createServiceKeySeals({ current, previous: [] })
}

describe('ServiceKeys: PostgreSQL', () => {
  let database: LedgerDatabase
  let sql: postgres.Sql
  let clock: ManualClock
  let seals: ServiceKeySeals
  let opened: PostgresServiceKeys[]
  beforeAll(async () => {
    database = await createLedgerDatabase()
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  })
  afterAll(async () => {
    await sql.end()
    await database.drop()
  })
  beforeEach(async () => {
    for (const table of ['service_keys', 'node_private_keys', 'edge_private_keys']) await sql`DELETE FROM ${sql(table)}`
    clock = createManualClock(START_MS)
    seals = newSeals()
    opened = []
  })
  afterEach(() => Promise.all(opened.map((keys) => keys.close())))

  async function open(changes: Partial<ServiceKeysOptions> = {}): Promise<PostgresServiceKeys> {
    const readStoreMs = () => Promise.resolve(clock.now())
    const keys = await createServiceKeys({ url: database.url, seals, clock, readStoreMs, ...changes })
    opened.push(keys)
    return keys
  }

  test('a new ledger gets a key for each purpose, in use at once', async () => {
    const keys = await open()
    expect(
      keys
        .published()
        .map((key) => key.purpose)
        .sort(),
    ).toEqual([...KEY_PURPOSES].sort())
    for (const key of keys.published()) {
      expect(keys.current(key.purpose)).toBe(key.keyId)
      expect(key).toMatchObject({ activeFromMs: START_MS, retiredAtMs: null })
      expect(key.keyId).toBe(thumbprintOf({ kty: 'EC', crv: 'P-256', x: key.x, y: key.y }))
    }
    expect(new Set(keys.published().map((key) => key.keyId)).size).toBe(KEY_PURPOSES.length)
  })

  test('V1: processes that start at once have the same keys, and a later start finds them', async () => {
    const processes = await Promise.all(Array.from({ length: 6 }, () => open()))
    const later = await open()
    for (const keys of processes) expect(keys.published()).toEqual(later.published())
    expect(later.published()).toHaveLength(KEY_PURPOSES.length)
  })

  test('what one process signs verifies under what another publishes, for that payload only', async () => {
    const [one, another] = [await open(), await open()]
    const keyId = one.current('receipt')
    const published = another.published().find((key) => key.keyId === keyId)
    const [first = '', second = ''] = await one.sign(keyId, ['{"a":"é"}', '{"b":2}'])
    expect(verifiesUnder(published, '{"a":"é"}', first)).toBe(true)
    expect(verifiesUnder(published, '{"b":2}', second)).toBe(true)
    expect(verifiesUnder(published, '{"b":2}', first)).toBe(false)
    await expect(one.sign('unknown', ['x'])).rejects.toThrow(ServiceKeysUnavailable)
  })

  test('V7: the key for imports is not published and signs nothing, and opens what was encrypted to it', async () => {
    const [keys, other] = [await open(), await open()]
    const { keyId, x, y } = keys.imports.current()
    expect(other.imports.current()).toEqual({ keyId, x, y })
    expect(keyId).toBe(thumbprintOf({ kty: 'EC', crv: 'P-256', x, y }))
    expect(keys.published().map((key) => key.keyId)).not.toContain(keyId)
    await expect(keys.sign(keyId, ['{}'])).rejects.toThrow(ServiceKeysUnavailable)
    const recipient = readPublicKey({ kty: 'EC', crv: 'P-256', x, y })
    if (recipient === undefined) throw new Error('the key was not read')
    const of = { accountId: 'alice', tokenId: 'GOLD' }
    const jwe = encryptBalance(recipient, of, '12.5')
    expect(other.imports.openBalance(of, jwe)).toBe('12.5')
    expect(other.imports.openBalance({ ...of, accountId: 'bob' }, jwe)).toBeUndefined()
    expect(keys.imports.openKeySalt(encryptKeySalt(recipient, 'ab'.repeat(16)))).toBe('ab'.repeat(16))
    const receipt = keys.published().find((key) => key.purpose === 'receipt')
    const signing = readPublicKey({ kty: 'EC', crv: 'P-256', x: receipt?.x, y: receipt?.y })
    if (signing === undefined) throw new Error('the key was not read')
    expect(keys.imports.openBalance(of, encryptBalance(signing, of, '12.5'))).toBeUndefined()
  })

  test('V7: a key for imports that has retired still opens, one that was revoked does not', async () => {
    const keys = await open()
    const old = keys.imports.current()
    const recipient = readPublicKey({ kty: 'EC', crv: 'P-256', x: old.x, y: old.y })
    if (recipient === undefined) throw new Error('the key was not read')
    const of = { accountId: 'alice', tokenId: 'GOLD' }
    const jwe = encryptBalance(recipient, of, '12.5')
    const made = await keys.rotate('import')
    await clock.pass(CACHE_MS + 3_600_000)
    await keys.refresh()
    expect(keys.imports.current().keyId).toBe(made.keyId)
    expect(keys.imports.openBalance(of, jwe)).toBe('12.5')
    expect((await open()).imports.openBalance(of, jwe)).toBe('12.5')
    await keys.revoke(old.keyId)
    expect(keys.imports.openBalance(of, jwe)).toBeUndefined()
  })

  test('V2: a new key is published a cache lifetime before it signs; then the old one retires, and both stay published', async () => {
    const [keys, other] = [await open(), await open()]
    const old = keys.current('token')
    const receipt = keys.current('receipt')
    const made = await keys.rotate('token')
    expect(made).toMatchObject({ purpose: 'token', activeFromMs: START_MS + CACHE_MS, retiredAtMs: null })
    await other.refresh()
    await clock.pass(CACHE_MS - 1)
    await Promise.all([keys.refresh(), other.refresh()])
    for (const process of [keys, other]) {
      expect(process.current('token')).toBe(old)
      expect(process.published().map((key) => key.keyId)).toContain(made.keyId)
    }
    await clock.pass(1)
    for (const process of [keys, other]) {
      expect(process.current('token')).toBe(made.keyId)
      expect(process.current('receipt')).toBe(receipt)
    }
    await clock.pass(10 * CACHE_MS)
    await other.refresh()
    expect(other.published().find((key) => key.keyId === old)?.retiredAtMs).toBe(START_MS + CACHE_MS)
    expect(other.current('token')).toBe(made.keyId)
  })

  test('V1: rotated twice at once, and again while a key waits, one key is in use at every moment', async () => {
    const [one, another] = [await open(), await open()]
    const first = one.current('receipt')
    await Promise.all([one.rotate('receipt'), another.rotate('receipt')])
    await clock.pass(60_000)
    const last = await one.rotate('receipt')
    await another.refresh()
    expect(one.published()).toEqual(another.published())
    const seen: string[] = []
    for (let minute = 1; minute < 8; minute += 1) {
      expect(one.current('receipt')).toBe(another.current('receipt'))
      seen.push(one.current('receipt'))
      const inUse = one
        .published()
        .filter((key) => key.purpose === 'receipt' && key.activeFromMs <= clock.now())
        .filter((key) => key.retiredAtMs === null || key.retiredAtMs > clock.now())
      expect(inUse.map((key) => key.keyId)).toEqual([one.current('receipt')])
      await clock.pass(60_000)
      await Promise.all([one.refresh(), another.refresh()])
    }
    expect(seen).toEqual([first, first, first, first, first, last.keyId, last.keyId])
  })

  test('a rotation in one process reaches the others by itself', async () => {
    const [one, another] = [await open(), await open({ refreshMs: 3_000 })]
    const made = await one.rotate('assertion')
    expect(another.published().map((key) => key.keyId)).not.toContain(made.keyId)
    await clock.pass(3_000)
    await expect.poll(() => another.published().map((key) => key.keyId)).toContain(made.keyId)
  })

  test('V3: a retired key signs what was prepared for it, and soon nothing more, also after a restart', async () => {
    const keys = await open()
    const old = keys.current('receipt')
    await keys.rotate('receipt', { activeAfterMs: 0 })
    expect(keys.current('receipt')).not.toBe(old)
    expect(await keys.sign(old, ['late'])).toHaveLength(1)
    await clock.pass(120_000)
    await keys.refresh()
    await expect(keys.sign(old, ['late'])).rejects.toThrow(ServiceKeysUnavailable)
    await expect((await open()).sign(old, ['late'])).rejects.toThrow(ServiceKeysUnavailable)
  })

  test('V3: no private key is in what the object shows, nor in the table', async () => {
    const keys = await open()
    expect(inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify(keys.published())).not.toMatch(/PRIVATE|"d"/)
    const rows = await sql<{ sealed: Buffer }[]>`
      SELECT sealed FROM node_private_keys UNION ALL SELECT sealed FROM edge_private_keys`
    expect(rows).toHaveLength(SERVICE_KEY_PURPOSES.length)
    // The object identifier of P-256, which every PKCS #8 key of it contains.
    for (const { sealed } of rows) expect(sealed.includes(Buffer.from('2a8648ce3d030107', 'hex'))).toBe(false)
  })

  test('V4: another master key opens nothing, makes nothing, and says what is wrong', async () => {
    await open()
    const opening = createServiceKeys({ url: database.url, seals: newSeals(), clock })
    await expect(opening).rejects.toThrow(/master key does not open/)
    await expect(opening).rejects.toThrow(ServiceKeysUnavailable)
    expect(await sql`SELECT FROM service_keys`).toHaveLength(SERVICE_KEY_PURPOSES.length)
  })

  test.for([
    [
      'its sealed part is that of another key',
      'UPDATE node_private_keys SET sealed = (SELECT sealed FROM edge_private_keys LIMIT 1)',
    ],
    ['its purpose is another', `UPDATE service_keys SET purpose = 'assertion' WHERE purpose = 'token'`],
    [
      'its public part is another',
      `UPDATE service_keys SET x = (SELECT x FROM service_keys WHERE purpose = 'token') WHERE purpose = 'receipt'`,
    ],
    ['its sealed part is gone', 'DELETE FROM node_private_keys'],
  ])('V4: a key is refused when %s', async ([, tamper = '']) => {
    await open()
    await sql.unsafe(tamper)
    await expect(createServiceKeys({ url: database.url, seals, clock })).rejects.toThrow(ServiceKeysUnavailable)
  })

  test('V4: a process that runs keeps the keys it knows and takes up nothing that does not fit', async () => {
    const running = await open()
    const before = running.published()
    await sql`UPDATE service_keys SET purpose = 'assertion' WHERE purpose = 'token'`
    await expect(running.refresh()).rejects.toThrow(ServiceKeysUnavailable)
    expect(running.published()).toEqual(before)
  })

  test('V6: a revoked key that is in use signs nothing more, and a new one takes its place in the same moment', async () => {
    const [keys, other] = [await open(), await open()]
    const old = keys.current('assertion')
    const receipt = keys.current('receipt')
    await clock.pass(1_000)
    const revocation = await keys.revoke(old)
    const made = keys.current('assertion')
    expect(made).not.toBe(old)
    expect(revocation).toMatchObject({
      revoked: { keyId: old, retiredAtMs: clock.now(), revokedAtMs: clock.now() },
      replacement: {
        keyId: made,
        purpose: 'assertion',
        activeFromMs: clock.now(),
        retiredAtMs: null,
        revokedAtMs: null,
      },
    })
    await other.refresh()
    for (const process of [keys, other, await open()]) {
      expect(process.current('assertion')).toBe(made)
      expect(process.current('receipt')).toBe(receipt)
      await expect(process.sign(old, ['late'])).rejects.toThrow(ServiceKeysUnavailable)
      expect(process.published().find(({ keyId }) => keyId === old)?.revokedAtMs).toBe(clock.now())
    }
    expect(await keys.revoke(old)).toBe(undefined)
    expect(await keys.revoke('unknown')).toBe(undefined)
    expect(keys.published()).toHaveLength(KEY_PURPOSES.length + 1)
  })

  test('V6: a key that waits is replaced for when it would have signed, one in rotation until then, a retired one not', async () => {
    const keys = await open()
    const inUseAt = async (ms: number): Promise<string> => {
      await clock.pass(ms)
      await keys.refresh()
      return keys.current('receipt')
    }
    const first = keys.current('receipt')
    const waiting = await keys.rotate('receipt')
    const second = await keys.revoke(waiting.keyId)
    expect(second?.replacement).toMatchObject({ activeFromMs: waiting.activeFromMs, retiredAtMs: null })
    expect(keys.current('receipt')).toBe(first)
    const third = await keys.revoke(first)
    expect(third?.replacement).toMatchObject({ activeFromMs: START_MS, retiredAtMs: waiting.activeFromMs })
    expect(keys.current('receipt')).toBe(third?.replacement?.keyId)
    expect(await inUseAt(CACHE_MS - 1)).toBe(third?.replacement?.keyId)
    expect(await inUseAt(1)).toBe(second?.replacement?.keyId)
    const retired = await keys.revoke(third?.replacement?.keyId ?? '')
    expect(retired).toMatchObject({ revoked: { retiredAtMs: waiting.activeFromMs }, replacement: null })
    expect(keys.current('receipt')).toBe(second?.replacement?.keyId)
  })

  test.for([-60_000, 60_000])('V8: spans do not depend on the writer’s clock, %d ms off', async (offMs) => {
    const before = Date.now()
    const of = createManualClock(before + offMs)
    const keys = await createServiceKeys({ url: database.url, seals, clock: of })
    opened.push(keys)
    const firstId = keys.current('receipt')
    const made = await keys.rotate('receipt', { activeAfterMs: 10_000 })
    const revocation = await keys.revoke(keys.current('token'))
    const after = Date.now()
    const first = keys.published().find(({ keyId }) => keyId === firstId)
    const written = [first?.activeFromMs, made.activeFromMs - 10_000, revocation?.revoked.revokedAtMs]
    for (const ms of written) {
      expect(ms).toBeGreaterThanOrEqual(before)
      expect(ms).toBeLessThanOrEqual(after)
    }
    expect(first?.retiredAtMs).toBe(made.activeFromMs)
    expect(keys.current('token')).toBe(revocation?.replacement?.keyId)
  })

  test('V8: until its clock comes so far, a process signs with the key that took the place of a revoked one', async () => {
    const keys = await open()
    const behind = await open({ clock: createManualClock(START_MS - 60_000) })
    const revocation = await keys.revoke(keys.current('token'))
    const waiting = await keys.rotate('token')
    await behind.refresh()
    expect(waiting.keyId).not.toBe(revocation?.replacement?.keyId)
    expect(behind.current('token')).toBe(revocation?.replacement?.keyId)
    expect(await behind.sign(behind.current('token'), ['{}'])).toHaveLength(1)
  })

  test('V5: who has not heard from PostgreSQL for a cache lifetime signs with no key, and goes on when it has', async () => {
    const keys = await open({ refreshMs: 10 * CACHE_MS })
    const keyId = keys.current('token')
    await clock.pass(CACHE_MS)
    expect(keys.current('token')).toBe(keyId)
    await clock.pass(1)
    expect(() => keys.current('token')).toThrow(ServiceKeysUnavailable)
    expect(keys.published()).toHaveLength(KEY_PURPOSES.length)
    await keys.refresh()
    expect(keys.current('token')).toBe(keyId)
  })
})
