/** A rotation of the master key wraps all keys anew and keeps them (R1 to R4, W1 and W2: see the product's modules). */
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sealLedgerSecret } from '../../infra/keys/ledger-seals.ts'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { MasterKeyMissing } from '../../infra/keys/master-seal.ts'
import { createServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { partKeyText, readPartKey } from '../../infra/keys/part-key.ts'
import { type KeyRing, ringOfPart, type WrappingKeys } from '../../infra/keys/wrapping-keys.ts'
import { openLedgerSecrets, openNodeSecrets, openVault } from '../../infra/ledger/ledger-secrets.ts'
import { type Connection, connect, type Sql } from '../../infra/postgres/connection/connection.ts'
import { readLedgerAt } from '../../infra/postgres/migrations/migrate.ts'
import { createMissingServiceKeys, createServiceKeys } from '../../infra/postgres/access/service-keys-postgres.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { accountKeyName, attestationKeyName, type KeyName, LEDGER_KEY_NAME } from '../../infra/vault/key-name.ts'
import { createKeyWrapping, newDataKey } from '../../infra/vault/key-wrapping.ts'
import { countLeft, RotationUnfinished, rotateMasterKey } from '../../infra/ledger/master-key-rotation.ts'
import { SERVICE_KEY_PURPOSES } from '../../runtime/ports/service-keys.ts'
import {
  createLedgerDatabase,
  DEFAULT_SHARD_COUNT,
  type LedgerDatabase,
  secretsOf,
  TEST_MASTER_KEY,
} from '../support/postgres/ledger-database.ts'

const FIRST = TEST_MASTER_KEY
const [SECOND, THIRD] = [newMasterKey(), newMasterKey()]
const REFUSED = /not the one that seals the secrets of this ledger/
/** A new ledger has data keys of its shards and of itself. */
const FIRST_KEYS = DEFAULT_SHARD_COUNT + 1
/** Secrets in the row of the ledger. */
const LEDGER_SECRETS = 4

let database: LedgerDatabase
let connection: Connection
let sql: Sql
beforeEach(async () => {
  database = await createLedgerDatabase()
  connection = await connect({ url: database.url, applicationName: 'test' })
  sql = connection.sql
  await createMissingServiceKeys({ url: database.url, seals: createServiceKeySeals(only(FIRST)) })
})
afterEach(async () => {
  await connection.end()
  await database.drop()
})

function newMasterKey(): WrappingKeys {
  return readMasterKey(randomBytes(32).toString('base64url'))
}

function only(current: WrappingKeys): KeyRing {
  return { current, previous: [] }
}

function after(current: WrappingKeys, ...previous: readonly WrappingKeys[]): KeyRing {
  return { current, previous }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** Expects that no part starts with only the part key of this master key. */
async function expectPartsRefused(alone: WrappingKeys): Promise<void> {
  const ledger = await readLedgerAt(database.url)
  if (ledger === undefined) throw new Error('there is a ledger')
  expect(() => openNodeSecrets(ringOfPart(only(alone), 'node'), ledger)).toThrow(REFUSED)
  expect(() => openLedgerSecrets(ringOfPart(only(alone), 'edge'), ledger)).toThrow(REFUSED)
  expect(() => openVault(ringOfPart(only(alone), 'auditor'), ledger)).toThrow(REFUSED)
}

/** Inserts data keys for the account references `a000000`, `a000001`, ..., which have no accounts. */
async function insertKeys(count: number, master: WrappingKeys, prefix = 'a'): Promise<ReadonlyMap<KeyName, Buffer>> {
  const wrapping = createKeyWrapping(only(master))
  const made = Array.from({ length: count }, (_, index) => {
    const ref = `${prefix}${String(index).padStart(6, '0')}`
    const key = newDataKey()
    const { masterKeyId, wrapped } = wrapping.wrap(accountKeyName(ref), key)
    return { ref, key, row: { shard_id: 0, scope: 'account', ref, master_key_id: masterKeyId, wrapped } }
  })
  for (let from = 0; from < count; from += 1_000) {
    await sql`INSERT INTO data_keys ${sql(made.slice(from, from + 1_000).map(({ row }) => row))}`
  }
  return new Map(made.map(({ ref, key }) => [accountKeyName(ref), key]))
}

/** Unwraps all data keys; throws if one is of another master key. */
async function openedKeys(masterKeys: KeyRing): Promise<ReadonlyMap<KeyName, Buffer>> {
  const wrapping = createKeyWrapping(masterKeys)
  const rows = await sql<{ name: KeyName; master_key_id: string; wrapped: Buffer }[]>`
    SELECT scope || ' ' || ref AS name, master_key_id, wrapped FROM data_keys`
  return new Map(
    rows.map(({ name, master_key_id: masterKeyId, wrapped }) => [
      name,
      wrapping.unwrap(name, { masterKeyId, wrapped }),
    ]),
  )
}

/** A view of the connection that runs `action` right before the first such statement, or before each. */
function interrupted(statement: string, action: () => Promise<unknown>, every = false): Sql {
  let left = every ? Number.POSITIVE_INFINITY : 1
  const before = async (text: string, send: () => unknown): Promise<unknown> => {
    if (text.includes(statement) && left > 0) {
      left -= 1
      await action()
    }
    return send()
  }
  return new Proxy(sql, {
    apply: (target, self, args: [unknown, ...unknown[]]) => {
      const send = (): unknown => Reflect.apply(target, self, args) as unknown
      // Names of columns are no statements.
      return Array.isArray(args[0]) ? before(args[0].join(''), send) : send()
    },
    get: (target, name) => {
      if (name !== 'unsafe') return Reflect.get(target, name) as unknown
      return (text: string, ...rest: never[]) => before(text, () => target.unsafe(text, ...rest))
    },
  })
}

describe('a rotation', () => {
  test('wraps all keys and secrets under the current master key and changes none of them', async () => {
    const keys = await insertKeys(2_500, FIRST)
    const before = await openedKeys(only(FIRST))
    const secrets = await secretsOf(database.url)
    const pageTokens = secrets.derive('page-tokens')
    const all = {
      shard_secret: 1,
      root_secret: 1,
      message_secret: 1,
      service_keys: SERVICE_KEY_PURPOSES.length,
      data_keys: keys.size + FIRST_KEYS,
      index_secret: 1,
    }
    expect(await countLeft(sql, after(SECOND, FIRST))).toEqual({ ...all, attestation_keys: 0 })
    const seen: number[] = []
    const rotated = await rotateMasterKey(sql, after(SECOND, FIRST), {
      onProgress: ({ kind, done }) => void (kind === 'data_keys' && seen.push(done)),
    })
    expect(rotated).toMatchObject(all)
    expect(seen).toEqual([1_000, 2_000, keys.size + FIRST_KEYS])
    expect(sumOf(await countLeft(sql, only(SECOND)))).toBe(0)
    expect(await openedKeys(only(SECOND))).toEqual(before)
    const now = await secretsOf(database.url, only(SECOND))
    expect(now.derive('page-tokens')).toEqual(pageTokens)
    expect(now.messageSecret).toEqual(secrets.messageSecret)
    for (const id of ['alice', 'bob', 'carol']) {
      expect([now.shardOf(id), now.vault.accountRef(id)]).toEqual([secrets.shardOf(id), secrets.vault.accountRef(id)])
    }
  })

  test('keeps the signing keys, which the old master key no longer opens', async () => {
    const clock = createSystemClock()
    const open = (masterKeys: KeyRing) =>
      createServiceKeys({ url: database.url, seals: createServiceKeySeals(masterKeys), clock })
    const running = await open(only(FIRST))
    await rotateMasterKey(sql, after(SECOND, FIRST))
    const restarted = await open(only(SECOND))
    expect(restarted.published()).toEqual(running.published())
    expect(await restarted.sign(running.current('receipt'), ['payload'])).toHaveLength(1)
    await running.refresh()
    expect(await running.sign(running.current('receipt'), ['payload'])).toHaveLength(1)
    await running.close()
    await restarted.close()
    await expect(open(only(FIRST))).rejects.toThrow(/master key does not open/)
  })

  test('a part works with a part key of both master keys; after the rotation the new key suffices', async () => {
    const record = await readLedgerAt(database.url)
    if (record === undefined) throw new Error('there is a ledger')
    const before = openNodeSecrets(ringOfPart(only(FIRST), 'node'), record)
    const both = readPartKey(partKeyText(after(SECOND, FIRST), 'node')).ring
    expect(openNodeSecrets(both, record).messageSecret).toEqual(before.messageSecret)
    await rotateMasterKey(sql, after(SECOND, FIRST))
    const rotated = await readLedgerAt(database.url)
    if (rotated === undefined) throw new Error('there is a ledger')
    for (const ring of [both, readPartKey(partKeyText(only(SECOND), 'node')).ring]) {
      const { vault, messageSecret, serviceKeys: seals } = openNodeSecrets(ring, rotated)
      expect(messageSecret).toEqual(before.messageSecret)
      await vault.keys.fetch(sql, [LEDGER_KEY_NAME])
      expect(vault.keys.known(LEDGER_KEY_NAME)).toHaveLength(32)
      const keys = await createServiceKeys({ url: database.url, seals, clock: createSystemClock() })
      expect(await keys.sign(keys.current('receipt'), ['{}'])).toHaveLength(1)
      await keys.close()
    }
    await expectPartsRefused(FIRST)
  })

  test('wraps the keys of attestations anew in their rows', async () => {
    const key = newDataKey()
    const { masterKeyId, wrapped } = createKeyWrapping(only(FIRST)).wrap(attestationKeyName('att_1'), key)
    await sql`
      INSERT INTO attestations (attestation_id, subject_class, subject_instance, attester, status, submitted_by, created_at,
        document, master_key_id, wrapped_key)
      VALUES ('att_1', 'c', 'i', 'a', 'active', 's', now(), 'sealed', ${masterKeyId}, ${wrapped})`
    expect(await rotateMasterKey(sql, after(SECOND, FIRST))).toMatchObject({ attestation_keys: 1 })
    const [row] = await sql<
      { id: string; wrapped: Buffer }[]
    >`SELECT master_key_id AS id, wrapped_key AS wrapped FROM attestations`
    if (row === undefined) throw new Error('the attestation is gone')
    const opened = createKeyWrapping(only(SECOND)).unwrap(attestationKeyName('att_1'), {
      masterKeyId: row.id,
      wrapped: row.wrapped,
    })
    expect(opened).toEqual(key)
  })
})

describe('an interrupted or concurrent rotation', () => {
  test('R1, R3: a rotation that fails midway leaves a ledger that needs both keys; a new run completes it', async () => {
    await insertKeys(2_500, FIRST)
    const before = await openedKeys(only(FIRST))
    const crash = new Error('the machine is gone')
    const cut = rotateMasterKey(sql, after(SECOND, FIRST), {
      onProgress: () => {
        throw crash
      },
    })
    await expect(cut).rejects.toBe(crash)
    expect(await countLeft(sql, after(SECOND, FIRST))).toMatchObject({
      shard_secret: 0,
      data_keys: 1_500 + FIRST_KEYS,
      index_secret: 1,
    })
    for (const alone of [FIRST, SECOND]) await expect(secretsOf(database.url, only(alone))).rejects.toThrow(REFUSED)
    for (const alone of [FIRST, SECOND]) await expectPartsRefused(alone)
    await expect(secretsOf(database.url, after(SECOND, FIRST))).resolves.toBeDefined()
    // Rotates to a third key before the rotation to the second is complete.
    await rotateMasterKey(sql, after(THIRD, SECOND, FIRST))
    expect(await openedKeys(only(THIRD))).toEqual(before)
    await expect(secretsOf(database.url, only(THIRD))).resolves.toBeDefined()
  })

  test('R2: a rotation that lacks a master key of some data keys names it and changes nothing', async () => {
    await insertKeys(2, THIRD, 'z')
    await expect(rotateMasterKey(sql, after(SECOND, FIRST))).rejects.toThrow(MasterKeyMissing)
    await expect(countLeft(sql, after(SECOND, FIRST))).rejects.toThrow(
      `2 data_keys are wrapped under master key ${THIRD.masterKeyId}`,
    )
    await expect(secretsOf(database.url)).resolves.toBeDefined()
    const [row] = await sql<
      { count: string }[]
    >`SELECT count(*) FROM data_keys WHERE master_key_id = ${FIRST.masterKeyId}`
    expect(Number(row?.count)).toBe(FIRST_KEYS)
    expect(sumOf(await rotateMasterKey(sql, after(SECOND, FIRST, THIRD)))).toBe(
      FIRST_KEYS + 2 + SERVICE_KEY_PURPOSES.length + LEDGER_SECRETS,
    )
  })

  test('W1: a rotation restores no key that was destroyed meanwhile, and overwrites none that was replaced', async () => {
    await insertKeys(3, FIRST)
    const other = createKeyWrapping(only(SECOND)).wrap(accountKeyName('a000001'), newDataKey())
    const concurrent = interrupted('UPDATE data_keys', async () => {
      await sql`DELETE FROM data_keys WHERE ref = 'a000000'`
      await sql`UPDATE data_keys SET master_key_id = ${other.masterKeyId}, wrapped = ${other.wrapped} WHERE ref = 'a000001'`
    })
    expect(await rotateMasterKey(concurrent, after(SECOND, FIRST))).toMatchObject({ data_keys: FIRST_KEYS + 1 })
    const rows = await sql<
      { ref: string; wrapped: Buffer }[]
    >`SELECT ref, wrapped FROM data_keys WHERE scope = 'account' ORDER BY ref`
    expect(rows.map(({ ref }) => ref)).toEqual(['a000001', 'a000002'])
    expect(rows[0]?.wrapped).toEqual(other.wrapped)
  })

  test('W2: a rotation skips a locked key and retries it later', async () => {
    await insertKeys(3, FIRST)
    const eraser = await connect({ url: database.url, applicationName: 'eraser' })
    await eraser.sql`BEGIN`
    await eraser.sql`DELETE FROM data_keys WHERE ref = 'a000000'`
    const seen: number[] = []
    const rotated = await rotateMasterKey(sql, after(SECOND, FIRST), {
      pauseMs: 100,
      onProgress: ({ kind, done }) => {
        if (kind !== 'data_keys') return
        // All but the locked one were done while its lock was held.
        seen.push(done)
        if (seen.length === 3) void eraser.sql`COMMIT`.execute()
      },
    })
    expect(seen.slice(0, 3)).toEqual(Array<number>(3).fill(FIRST_KEYS + 2))
    expect(rotated).toMatchObject({ data_keys: FIRST_KEYS + 2 })
    expect(await sql`SELECT FROM data_keys WHERE ref = 'a000000'`).toHaveLength(0)
    await eraser.end()
  })

  test('R1: two concurrent rotations wrap each key once', async () => {
    await insertKeys(3_000, FIRST)
    const before = await openedKeys(only(FIRST))
    const second = await connect({ url: database.url, applicationName: 'test' })
    const masterKeys = after(SECOND, FIRST)
    const [one, other] = await Promise.all([rotateMasterKey(sql, masterKeys), rotateMasterKey(second.sql, masterKeys)])
    await second.end()
    expect(sumOf(one) + sumOf(other)).toBe(3_000 + FIRST_KEYS + SERVICE_KEY_PURPOSES.length + LEDGER_SECRETS)
    expect(await openedKeys(only(SECOND))).toEqual(before)
  })

  test('R4: a rotation reports that a part still makes keys under the old key, which remains necessary', async () => {
    let serial = 0
    const concurrent = interrupted('UPDATE data_keys', () => insertKeys(1, FIRST, `A${(serial += 1)}-`), true)
    const rotating = rotateMasterKey(concurrent, after(SECOND, FIRST), { pauseMs: 1 })
    await expect(rotating).rejects.toThrow(RotationUnfinished)
    await expect(rotating).rejects.toThrow('a running part does not have the new key')
    await expect(secretsOf(database.url, only(SECOND))).rejects.toThrow(REFUSED)
    expect(await rotateMasterKey(sql, after(SECOND, FIRST))).toMatchObject({ index_secret: 1 })
  })

  test('R4: a rotation reports such a key also if it is made after all others were wrapped', async () => {
    let secrets = 0
    const beforeTheLast = async (): Promise<void> => {
      secrets += 1
      if (secrets === LEDGER_SECRETS) await insertKeys(1, FIRST)
    }
    const late = interrupted('UPDATE ledger SET', beforeTheLast, true)
    const rotating = rotateMasterKey(late, after(SECOND, FIRST))
    await expect(rotating).rejects.toThrow(RotationUnfinished)
    expect(sumOf(await rotateMasterKey(sql, after(SECOND, FIRST)))).toBe(1)
  })

  test('a rotation changes nothing if a secret of the ledger was sealed for another column', async () => {
    await sql`UPDATE ledger SET sealed_index_secret = ${sealLedgerSecret(only(FIRST), 'shard-secret', randomBytes(32))}`
    await expect(rotateMasterKey(sql, after(SECOND, FIRST))).rejects.toThrow(MasterKeyMissing)
    expect(await openedKeys(only(FIRST))).toHaveProperty('size', FIRST_KEYS)
  })
})
