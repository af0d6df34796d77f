/** The attestation store in PostgreSQL: the contract, and properties of its tables. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActorAddress, actorKey } from '../../../actors/address.ts'
import { createShardHash } from '../../../infra/keys/shard-hash.ts'
import { sealedAttestation } from '../../../infra/postgres/rows/attestation-document.ts'
import {
  createAttestationStore,
  type PostgresAttestationStore,
} from '../../../infra/postgres/access/attestation-store-postgres.ts'
import { EXAMINED_ROWS } from '../../../infra/postgres/reads/attestations-query.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { type Attestation, AttestationStoreUnavailable } from '../../../runtime/ports/attestation-store.ts'
import {
  insertAttestations,
  type NftRows,
  putClass,
  putInstance,
  rewriteAttestation,
} from '../../support/postgres/attestation-rows.ts'
import {
  createLedgerDatabase,
  DEFAULT_SHARD_COUNT,
  type LedgerDatabase,
  vaultOf,
} from '../../support/postgres/ledger-database.ts'
import { attestationStoreContract } from './attestation-store.contract.ts'
import {
  anAttestation,
  aRevocation,
  aSearch,
  type AttestationStoreSubject,
  eventsAt,
  listed,
  newClassId,
  START_MS,
} from './attestation-store-scene.ts'

const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))

interface Postgres extends AttestationStoreSubject {
  readonly store: PostgresAttestationStore
  readonly sql: postgres.Sql
  readonly database: LedgerDatabase
  readonly vault: RowVault
}

async function createSubject(): Promise<Postgres> {
  const database = await createLedgerDatabase()
  const [vault, other] = [await vaultOf(database.url), await vaultOf(database.url)]
  const stores = [vault, other].map((own) => createAttestationStore({ url: database.url, homeOf, vault: own }))
  const [first, second] = stores
  if (first === undefined || second === undefined) throw new Error('two were made')
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  const nfts: NftRows = { sql, vault, homeOf }
  return {
    store: first,
    other: second,
    sql,
    database,
    vault,
    seedClass: (classId, name) => putClass(nfts, { classId, name, issuer: 'issuer' }),
    seedInstance: (instance, status = 'active') => putInstance(nfts, instance, status),
    close: async () => {
      await Promise.all([first.close(), second.close(), sql.end()])
      await database.drop()
    },
  }
}

attestationStoreContract('PostgreSQL', () => createSubject())

describe('AttestationStore: PostgreSQL, its tables', () => {
  let subject: Postgres
  beforeAll(async () => {
    subject = await createSubject()
  })
  afterAll(() => subject.close())

  /** Runs `meanwhile` in a transaction that stays open until the request of `ask` waits for it. */
  async function waitedFor<T>(
    meanwhile: (transaction: postgres.TransactionSql) => Promise<unknown>,
    ask: () => Promise<T>,
  ): Promise<T> {
    const { database, sql } = subject
    const earlier = postgres(database.url, { max: 1, onnotice: () => undefined })
    let asked: Promise<T> | undefined
    await earlier.begin(async (transaction) => {
      await meanwhile(transaction)
      asked = ask()
      const waiting = async (): Promise<string> => {
        const rows = await sql`SELECT FROM pg_locks WHERE NOT granted`
        return rows.length === 1 ? 'waits' : 'does not wait'
      }
      await expect.poll(() => Promise.race([asked, waiting()])).toBe('waits')
    })
    await earlier.end()
    if (asked === undefined) throw new Error('nothing was asked')
    return await asked
  }

  test('Y2: a submission waits for the one under way with its key, and gets its result', async () => {
    const { store, vault } = subject
    const first = anAttestation({ submittedBy: 'waiter' })
    const submission = { idempotencyKey: 'k', payloadHash: 'ab'.repeat(32) }
    const outcome = await waitedFor(
      (transaction) => insertAttestations(transaction, [sealedAttestation({ attestation: first, submission }, vault)]),
      () => store.create(anAttestation({ submittedBy: 'waiter' }), { ...submission, payloadHash: 'cd'.repeat(32) }),
    )
    expect(outcome).toEqual({ kind: 'repeated', earlier: { attestation: first, payloadHash: 'ab'.repeat(32) } })
  })

  test('Y3: a revocation waits for the one under way, and gets its result', async () => {
    const { store, vault } = subject
    const attestation = anAttestation()
    await store.create(attestation, null)
    const revocation = aRevocation({ atMs: 0, by: 'first', reason: null })
    const outcome = await waitedFor(
      (transaction) => rewriteAttestation(transaction, vault, { ...attestation, revocation }),
      () => store.revoke(attestation.attestationId, aRevocation({ by: 'second' })),
    )
    expect(outcome).toEqual({ ...attestation, revocation })
  })

  test('a submission that was refused by a constraint is an error, and leaves no row', async () => {
    const { store } = subject
    const attestation = anAttestation()
    await store.create(attestation, null)
    const again = { ...attestation, statement: 'another' }
    await expect(store.create(again, null)).rejects.toThrow(AttestationStoreUnavailable)
    expect(await store.attestation(attestation.attestationId)).toEqual(attestation)
  })

  test('Y7: whatever is changed in its columns, an attestation is not returned', async () => {
    const { store, sql } = subject
    const attestation = anAttestation()
    const bystander = anAttestation()
    for (const one of [attestation, bystander]) {
      await store.create(one, { idempotencyKey: one.attestationId, payloadHash: 'ab'.repeat(32) })
    }
    const original = await store.revoke(attestation.attestationId, aRevocation())
    const { attestationId: id } = attestation
    const changes = [
      "attester = 'other'",
      "subject_class = 'other'",
      "subject_instance = 'other'",
      "submitted_by = 'other'",
      "created_at = created_at + '1 ms'",
      "revoked_at = revoked_at + '1 ms'",
      "status = 'active', revoked_at = NULL",
      "idempotency_key = 'other'",
      `document = (SELECT document FROM attestations WHERE attestation_id = '${bystander.attestationId}')`,
      "document = '\\x00'",
    ]
    const told: string[] = []
    const restore = await keepRow(sql, id)
    for (const change of changes) {
      await sql.unsafe(`UPDATE attestations SET ${change} WHERE attestation_id = '${id}'`)
      const asked = await Promise.allSettled([store.attestation(id), store.revoke(id, aRevocation())])
      if (asked.some((outcome) => outcome.status === 'fulfilled')) told.push(change)
      await restore()
    }
    expect(told).toEqual([])
    expect(await store.attestation(id)).toEqual(original)
  })

  test('P2: what arrives late, with an earlier time, repeats no entry of a provenance under way and shifts no depth', async () => {
    const { store } = subject
    const instance = {
      classId: newClassId(),
      instanceId: 'late',
      issuer: 'i',
      events: eventsAt([START_MS, START_MS + 9]),
    }
    await subject.seedInstance(instance)
    const about = { subjectClass: instance.classId, subjectInstance: instance.instanceId }
    await store.create(anAttestation({ ...about, createdAtMs: START_MS + 5, statement: 'early' }), null)
    const query = { classId: instance.classId, instanceId: instance.instanceId, maxDepth: 10, limit: 2, after: null }
    const first = await store.provenance(query)
    await store.create(anAttestation({ ...about, createdAtMs: START_MS + 4, statement: 'late' }), null)
    const second = await store.provenance({ ...query, after: first?.next ?? null })
    const shapes = [first, second].map((page) => page?.entries.map(({ depth, event }) => `${depth} ${event}`))
    expect(shapes).toEqual([['0 mint', '0 attestation'], ['1 transfer']])
    const whole = await store.provenance({ ...query, limit: 10 })
    expect(whole?.entries.map(({ event }) => event)).toEqual(['mint', 'attestation', 'attestation', 'transfer'])
  })

  test('Y7: a history that names no owner, or whose events were exchanged, is an error', async () => {
    const { store, sql } = subject
    for (const change of [
      "DELETE FROM actors WHERE kind = 'class' AND class_id",
      'UPDATE nft_events SET from_account_id = NULL WHERE number = 1 AND split_part(nft_id, $$/$$, 1)',
      "UPDATE nft_events SET txn_id = 'other' WHERE number = 1 AND split_part(nft_id, $$/$$, 1)",
      "UPDATE nft_events SET type = 'burn' WHERE number = 1 AND split_part(nft_id, $$/$$, 1)",
      `UPDATE nft_events e SET payload = (SELECT payload FROM nft_events o WHERE o.nft_id = e.nft_id AND o.number = 0)
       WHERE number = 1 AND split_part(nft_id, $$/$$, 1)`,
    ]) {
      const instance = { classId: newClassId(), instanceId: 'x', issuer: 'i', events: eventsAt([START_MS, START_MS]) }
      await subject.seedInstance(instance)
      const query = { classId: instance.classId, instanceId: 'x', maxDepth: 10, limit: 10, after: null }
      expect((await store.provenance(query))?.entries).toHaveLength(2)
      expect((await sql.unsafe(`${change} = '${instance.classId}'`)).count).toBe(1)
      await expect(store.provenance(query)).rejects.toThrow(AttestationStoreUnavailable)
    }
  })
})

describe('AttestationStore: PostgreSQL, at rest', () => {
  let subject: Postgres
  beforeAll(async () => {
    subject = await createSubject()
  })
  afterAll(() => subject.close())

  test('D19: what is stated, by whom, why it was taken back and under which key is in no row', async () => {
    const { store, sql } = subject
    const attestation = anAttestation()
    const revocation = aRevocation()
    await store.create(attestation, { idempotencyKey: 'shown-to-no-client', payloadHash: 'ab'.repeat(32) })
    await store.revoke(attestation.attestationId, revocation)
    const [row = {}] = await sql`SELECT * FROM attestations WHERE attestation_id = ${attestation.attestationId}`
    const stored = Object.values(row).map((value: unknown) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    )
    const hidden = [
      attestation.attester,
      'Fine gold',
      attestation.evidenceUrl ?? '',
      attestation.attestationType,
      attestation.seal.signature,
      revocation.reason ?? '',
      revocation.seal.signature,
      'shown-to-no-client',
      'ab'.repeat(32),
    ]
    for (const text of hidden) expect(stored.filter((value) => value.includes(text))).toEqual([])
    expect(stored).toEqual(expect.arrayContaining([attestation.subjectClass, attestation.submittedBy, 'revoked']))
  })

  test('D19: each has a data key of its own in its own row, which fits no other row and is among no data keys', async () => {
    const { store, sql } = subject
    const [one, other] = [anAttestation(), anAttestation()]
    for (const each of [one, other]) await store.create(each, null)
    expect(await sql`SELECT FROM data_keys WHERE scope NOT IN ('shard', 'ledger')`).toHaveLength(0)
    const restore = await keepRow(sql, one.attestationId)
    for (const change of [
      `wrapped_key = (SELECT wrapped_key FROM attestations WHERE attestation_id = '${other.attestationId}')`,
      "wrapped_key = ''",
      "master_key_id = '0123456789abcdef'",
    ]) {
      await sql.unsafe(`UPDATE attestations SET ${change} WHERE attestation_id = '${one.attestationId}'`)
      await expect(store.attestation(one.attestationId)).rejects.toThrow(AttestationStoreUnavailable)
      await expect(store.attestations(aSearch())).rejects.toThrow(AttestationStoreUnavailable)
      await restore()
    }
    const none = sql`UPDATE attestations SET wrapped_key = NULL, master_key_id = NULL`
    await expect(none).rejects.toThrow(/violates not-null constraint/)
    expect(await store.attestation(one.attestationId)).toEqual(one)
    expect(await store.attestation(other.attestationId)).toEqual(other)
  })

  test('D19: the text from before a revocation does not bring the attestation back', async () => {
    const { store, sql } = subject
    const attestation = anAttestation()
    await store.create(attestation, null)
    const ofIt = sql`attestation_id = ${attestation.attestationId}`
    const [before] = await sql<{ document: Buffer }[]>`SELECT document FROM attestations WHERE ${ofIt}`
    await store.revoke(attestation.attestationId, aRevocation())
    await sql`UPDATE attestations SET document = ${before?.document ?? ''} WHERE ${ofIt}`
    await expect(store.attestation(attestation.attestationId)).rejects.toThrow(AttestationStoreUnavailable)
  })
})

/** Returns a function that restores the row's present state. */
async function keepRow(sql: postgres.Sql, attestationId: string): Promise<() => Promise<void>> {
  const one = `attestation_id = '${attestationId}'`
  await sql.unsafe(`CREATE TABLE kept AS SELECT * FROM attestations WHERE ${one}`)
  return async () => {
    await sql.unsafe(`DELETE FROM attestations WHERE ${one}; INSERT INTO attestations SELECT * FROM kept`)
  }
}

/** One class and attester for nearly all; every 4,000th is of another attester, and revoked. */
const MANY = 12_000
const RARE_EVERY = 4_000

/** The first `old` rows match no filter of the tests. */
async function insertMany({ sql, vault }: Postgres, old = 0): Promise<void> {
  const rows = Array.from({ length: MANY }, (_, index) => {
    const attestation = numbered(index + 1, index < old)
    return sealedAttestation({ attestation, submission: null }, vault)
  })
  await insertAttestations(sql, rows)
}

function idOf(number: number): string {
  return `att_${String(number).padStart(26, '0')}`
}

function numbered(number: number, old = false): Attestation {
  const rare = number % RARE_EVERY === 0
  return anAttestation({
    attestationId: idOf(number),
    subjectClass: old ? 'old' : 'class',
    subjectInstance: old ? 'old' : 'one',
    attester: old ? 'old' : rare ? 'rare' : 'common',
    createdAtMs: number,
    revocation: rare ? aRevocation({ atMs: 0 }) : null,
  })
}

describe('AttestationStore: PostgreSQL, bounds', () => {
  let subject: Postgres
  beforeAll(async () => {
    subject = await createSubject()
    await insertMany(subject)
    await subject.sql`ANALYZE attestations`
  })
  afterAll(() => subject.close())
  const rare = Array.from({ length: MANY / RARE_EVERY }, (_, index) => idOf((index + 1) * RARE_EVERY)).toReversed()

  test('Z1: a rare filter beside a common one: pages examine a bounded number of rows, and find every match once', async () => {
    const { store } = subject
    for (const narrow of [{ subjectClass: 'class' }, { subjectInstance: 'one' }, { attester: 'common' }]) {
      const status = 'attester' in narrow ? 'none' : 'revoked'
      const pages = await listed(store, aSearch({ ...narrow, status, limit: 10 }))
      expect(pages.flat().map(({ attestationId }) => attestationId)).toEqual(status === 'none' ? [] : rare)
      expect(pages).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
    }
  })

  test('Z1: the last row examined is on this page, the one behind it on the next', async () => {
    const { store, sql, vault } = subject
    const last = MANY - EXAMINED_ROWS + 1
    const move = (number: number, attester: string) => rewriteAttestation(sql, vault, { ...numbered(number), attester })
    for (const [number, counts] of [
      [last, [1, 0, 0]],
      [last - 1, [0, 1, 0]],
    ] as const) {
      await move(number, 'edge')
      const pages = await listed(store, aSearch({ subjectInstance: 'one', attester: 'edge' }))
      expect(pages.map((page) => page.length)).toEqual(counts)
      await move(number, 'common')
    }
  })

  test('a filter that an index serves finds its few in one page, whatever the ledger holds', async () => {
    const { store } = subject
    for (const filter of [{ attester: 'rare' }, { status: 'revoked' }, { attester: 'rare', status: 'revoked' }]) {
      const page = await store.attestations(aSearch(filter))
      expect(page.attestations.map(({ attestationId }) => attestationId)).toEqual(rare)
      expect(page.next).toBeNull()
    }
  })

  test('Z2: what many rows have is found by its own index: what is newer, or older, is not walked past', async () => {
    const aged = await createSubject()
    const { store, sql, database } = aged
    await insertMany(aged, MANY / 5)
    await sql`ANALYZE attestations`
    const instance = { classId: 'class', instanceId: 'one', issuer: 'i', events: eventsAt([0]) }
    await aged.seedInstance(instance)
    const own = ['attester', 'class', 'instance', 'subject'].map((name) => `attestations_by_${name}`)
    const readsOf = async (indexes: readonly string[]): Promise<number> => {
      const [row] = await sql<{ reads: string }[]>`
        SELECT sum(idx_tup_fetch) AS reads FROM pg_stat_user_indexes WHERE indexrelname IN ${sql(indexes)}`
      return Number(row?.reads)
    }
    const before = await readsOf(own)
    const primaryBefore = await readsOf(['attestations_pkey'])
    for (const filter of [
      { attester: 'old' },
      { subjectClass: 'old' },
      { subjectInstance: 'old' },
      { subjectClass: 'old', subjectInstance: 'old' },
    ]) {
      expect((await store.attestations(aSearch({ ...filter, limit: 5 }))).attestations).toHaveLength(5)
    }
    const page = await store.provenance({ ...instance, maxDepth: 199, limit: 10, after: null })
    expect(page?.entries).toHaveLength(10)
    // A session tells what it has read when it ends.
    await store.close()
    await expect.poll(() => readsOf(own)).toBeGreaterThanOrEqual(before + 4 * 5 + 10)
    expect((await readsOf(own)) - before).toBeLessThan(60)
    expect((await readsOf(['attestations_pkey'])) - primaryBefore).toBeLessThan(20)
    await sql.end()
    await database.drop()
  })
})
