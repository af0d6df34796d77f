/** The attestation store in PostgreSQL: the contract, and what only a table can get wrong. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActorAddress, actorKey, classAddress } from '../../actors/address.ts'
import { nftId } from '../../actors/nft-id.ts'
import { createShardHash } from '../../infra/keys/shard-hash.ts'
import {
  createAttestationStore,
  type PostgresAttestationStore,
} from '../../infra/postgres/attestation-store-postgres.ts'
import { EXAMINED_ROWS } from '../../infra/postgres/attestations-query.ts'
import { AttestationStoreUnavailable } from '../../runtime/ports/attestation-store.ts'
import { createLedgerDatabase, DEFAULT_SHARD_COUNT, type LedgerDatabase } from '../support/ledger-database.ts'
import { attestationStoreContract } from './attestation-store.contract.ts'
import {
  anAttestation,
  aRevocation,
  aSearch,
  type AttestationStoreSubject,
  eventsAt,
  listed,
  newClassId,
  type SeededInstance,
  START_MS,
} from './attestation-store-scene.ts'

const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))

interface Postgres extends AttestationStoreSubject {
  readonly store: PostgresAttestationStore
  readonly sql: postgres.Sql
  readonly database: LedgerDatabase
}

async function createSubject(): Promise<Postgres> {
  const database = await createLedgerDatabase()
  const store = createAttestationStore({ url: database.url, homeOf })
  const other = createAttestationStore({ url: database.url, homeOf })
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  return {
    store,
    other,
    sql,
    database,
    seedClass: async (classId, name) => {
      const { id } = classAddress(name)
      await sql`
        INSERT INTO actors (shard_id, kind, actor_id, version, status, document, class_id, created_at)
        VALUES (${homeOf(classAddress(name))}, 'class', ${id}, 1, 'active', '{}', ${classId}, 'epoch')`
    },
    seedInstance: (instance, status = 'active') => seedInstance(sql, instance, status),
    close: async () => {
      await Promise.all([store.close(), other.close(), sql.end()])
      await database.drop()
    },
  }
}

async function seedInstance(sql: postgres.Sql, instance: SeededInstance, status: string): Promise<void> {
  const id = nftId(instance)
  const home = homeOf({ kind: 'instance', id })
  await sql`
    INSERT INTO actors (shard_id, kind, actor_id, version, status, document, class_id, issuer, created_at)
    VALUES (0, 'class', ${`name of ${instance.classId}`}, 1, 'active', '{}', ${instance.classId}, ${instance.issuer},
        'epoch'),
      (${home}, 'instance', ${id}, 1, ${status}, '{}', ${instance.classId}, NULL, 'epoch')`
  for (const event of instance.events) {
    await sql`
      INSERT INTO nft_events (shard_id, nft_id, number, type, from_account_id, to_account_id, txn_id, occurred_at,
        previous_hash, event_hash, payload)
      VALUES (${home}, ${id}, ${event.number}, ${event.type}, ${event.from}, ${event.to}, ${event.txnId},
        ${new Date(event.atMs).toISOString()}, decode(${event.previousHash}, 'hex'), decode(${event.eventHash}, 'hex'),
        ${event.payload})`
  }
}

attestationStoreContract('PostgreSQL', createSubject)

describe('AttestationStore: PostgreSQL, its tables', () => {
  let subject: Postgres
  beforeAll(async () => {
    subject = await createSubject()
  })
  afterAll(() => subject.close())

  /** Runs `meanwhile` in a transaction that stays open until what `ask` asks waits for it. */
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
      await expect.poll(() => Promise.race([asked, waiting()]), { timeout: 20_000 }).toBe('waits')
    })
    await earlier.end()
    if (asked === undefined) throw new Error('nothing was asked')
    return await asked
  }

  test('Y2: a submission waits for the one under way with its key, and is told of it', async () => {
    const { store } = subject
    const model = anAttestation({ submittedBy: 'model' })
    await store.create(model, null)
    const outcome = await waitedFor(
      (transaction) => transaction`
        INSERT INTO attestations
        SELECT (jsonb_populate_record(a, ${'{"attestation_id": "att_first", "submitted_by": "waiter"}'}::text::jsonb
          || jsonb_build_object('idempotency_key', 'k', 'payload_hash', '\\x' || repeat('ab', 32)))).*
        FROM attestations a WHERE attestation_id = ${model.attestationId}`,
      () =>
        store.create(anAttestation({ submittedBy: 'waiter' }), {
          idempotencyKey: 'k',
          payloadHash: 'cd'.repeat(32),
        }),
    )
    const attestation = { ...model, attestationId: 'att_first', submittedBy: 'waiter' }
    expect(outcome).toEqual({ kind: 'repeated', earlier: { attestation, payloadHash: 'ab'.repeat(32) } })
  })

  test('Y3: a revocation waits for the one under way, and is told of it', async () => {
    const { store } = subject
    const attestation = anAttestation()
    await store.create(attestation, null)
    const outcome = await waitedFor(
      (transaction) => transaction`
        UPDATE attestations SET status = 'revoked', revoked_at = 'epoch', revoked_by = 'first',
          revocation_key_id = 'k', revocation_signature = 's' WHERE attestation_id = ${attestation.attestationId}`,
      () => store.revoke(attestation.attestationId, aRevocation({ by: 'second' })),
    )
    const revocation = { atMs: 0, by: 'first', reason: null, seal: { keyId: 'k', signature: 's' } }
    expect(outcome).toEqual({ ...attestation, revocation })
  })

  test('a submission that was refused by a constraint is an error, and nothing of it is kept', async () => {
    const { store } = subject
    const attestation = anAttestation()
    await store.create(attestation, null)
    const again = { ...attestation, statement: 'another' }
    await expect(store.create(again, null)).rejects.toThrow(AttestationStoreUnavailable)
    expect(await store.attestation(attestation.attestationId)).toEqual(attestation)
  })

  test('whatever of an attestation is changed in the database is another attestation to whoever reads it', async () => {
    const { store, sql } = subject
    const attestation = anAttestation()
    await store.create(attestation, null)
    const original = await store.revoke(attestation.attestationId, aRevocation())
    const changes = [
      "attester = 'other'",
      "subject_class = 'other'",
      "subject_instance = 'other'",
      "attestation_type = 'other'",
      "statement = 'other'",
      'evidence_url = NULL',
      "submitted_by = 'other'",
      'attester_verified = NOT attester_verified',
      "created_at = created_at + '1 ms'",
      "revoked_at = revoked_at + '1 ms'",
      "revoked_by = 'other'",
      'revocation_reason = NULL',
      "status = 'active', revoked_at = NULL, revoked_by = NULL, revocation_reason = NULL, " +
        'revocation_key_id = NULL, revocation_signature = NULL',
    ]
    const unseen: string[] = []
    const one = `attestation_id = '${attestation.attestationId}'`
    for (const change of changes) {
      await sql.unsafe(
        `CREATE TABLE kept AS SELECT * FROM attestations WHERE ${one}; UPDATE attestations SET ${change} WHERE ${one}`,
      )
      const seen = await store.attestation(attestation.attestationId)
      if (JSON.stringify(seen) === JSON.stringify(original)) unseen.push(change)
      await sql.unsafe(
        `DELETE FROM attestations WHERE ${one}; INSERT INTO attestations SELECT * FROM kept; DROP TABLE kept`,
      )
    }
    expect(unseen).toEqual([])
    expect(await store.attestation(attestation.attestationId)).toEqual(original)
  })

  test('P2: what arrives late, with an earlier time, repeats no entry of a provenance under way and shifts no depth', async () => {
    const { store, sql } = subject
    const instance = {
      classId: newClassId(),
      instanceId: 'late',
      issuer: 'i',
      events: eventsAt([START_MS, START_MS + 9]),
    }
    await seedInstance(sql, instance, 'active')
    const about = { subjectClass: instance.classId, subjectInstance: instance.instanceId }
    await store.create(anAttestation({ ...about, createdAtMs: START_MS + 5, statement: 'early' }), null)
    const query = { classId: instance.classId, instanceId: instance.instanceId, maxDepth: 10, limit: 2, after: null }
    const first = await store.provenance(query)
    await store.create(anAttestation({ ...about, createdAtMs: START_MS + 4, statement: 'late' }), null)
    const second = await store.provenance({ ...query, after: first?.next ?? null })
    const shapes = [first, second].map((page) => page?.entries.map(({ depth, event }) => `${depth} ${event}`))
    expect(shapes).toEqual([['0 mint', '1 attestation'], ['2 transfer']])
    const whole = await store.provenance({ ...query, limit: 10 })
    expect(whole?.entries.map(({ event }) => event)).toEqual(['mint', 'attestation', 'attestation', 'transfer'])
  })

  test('a history that names nobody is no answer', async () => {
    const { store, sql } = subject
    for (const change of [
      'UPDATE actors SET issuer = NULL WHERE class_id',
      'UPDATE nft_events SET from_account_id = NULL WHERE split_part(nft_id, $$/$$, 1)',
    ]) {
      const instance = { classId: newClassId(), instanceId: 'x', issuer: 'i', events: eventsAt([START_MS, START_MS]) }
      await seedInstance(sql, instance, 'active')
      const query = { classId: instance.classId, instanceId: 'x', maxDepth: 10, limit: 10, after: null }
      expect((await store.provenance(query))?.entries).toHaveLength(2)
      await sql.unsafe(`${change} = '${instance.classId}'`)
      await expect(store.provenance(query)).rejects.toThrow(AttestationStoreUnavailable)
    }
  })

  test('without PostgreSQL every call says that the store is unavailable, and what it says names no host', async () => {
    const lost = createAttestationStore({ url: 'postgres://ledger:secret@127.0.0.1:1/ledger', homeOf })
    const outcomes = await Promise.allSettled([
      lost.create(anAttestation(), null),
      lost.submitted('c', 'k'),
      lost.attestation('att_x'),
      lost.revoke('att_x', aRevocation()),
      lost.attestations(aSearch()),
      lost.provenance({ classId: 'c', instanceId: 'i', maxDepth: 1, limit: 1, after: null }),
    ])
    for (const outcome of outcomes) {
      const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      expect(reason).toBeInstanceOf(AttestationStoreUnavailable)
      expect(String(reason)).not.toMatch(/127|secret/)
    }
    await lost.close()
  })
})

/** One class and attester for nearly all; every 4,000th is of another attester, and revoked. */
const MANY = 12_000
const RARE_EVERY = 4_000

/** The first `old` of them are of other filters' values altogether. */
function insertMany(sql: postgres.Sql, old = 0) {
  return sql`
    INSERT INTO attestations (attestation_id, subject_class, subject_instance, attester, status, attestation_type,
      statement, submitted_by, attester_verified, created_at, key_id, signature, revoked_at, revoked_by,
      revocation_key_id, revocation_signature)
    SELECT 'att_' || lpad(n::text, 26, '0'), CASE WHEN old THEN 'old' ELSE 'class' END,
      CASE WHEN old THEN 'old' ELSE 'one' END, CASE WHEN old THEN 'old' WHEN rare THEN 'rare' ELSE 'common' END,
      CASE WHEN rare THEN 'revoked' ELSE 'active' END, 't', 's', 'c', false, 'epoch'::timestamptz + n * '1 ms'::interval,
      'k', 's', CASE WHEN rare THEN 'epoch'::timestamptz END, CASE WHEN rare THEN 'c' END, CASE WHEN rare THEN 'k' END,
      CASE WHEN rare THEN 's' END
    FROM (SELECT n, n % ${RARE_EVERY} = 0 AS rare, n <= ${old} AS old FROM generate_series(1, ${MANY}::integer) n) numbers`
}

describe('AttestationStore: PostgreSQL, bounds', () => {
  let subject: Postgres
  beforeAll(async () => {
    subject = await createSubject()
    const { sql } = subject
    await insertMany(sql)
    await sql`ANALYZE attestations`
  })
  afterAll(() => subject.close())
  const idOf = (n: number): string => `att_${String(n).padStart(26, '0')}`
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
    const { store, sql } = subject
    const last = MANY - EXAMINED_ROWS + 1
    const move = (number: number, attester: string) =>
      sql`UPDATE attestations SET attester = ${attester} WHERE attestation_id = ${idOf(number)}`
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
    const { store, sql, database } = await createSubject()
    await insertMany(sql, MANY / 5)
    await sql`ANALYZE attestations`
    const instance = { classId: 'class', instanceId: 'one', issuer: 'i', events: eventsAt([0]) }
    await seedInstance(sql, instance, 'active')
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
    await expect.poll(() => readsOf(own), { timeout: 20_000 }).toBeGreaterThanOrEqual(before + 4 * 5 + 200)
    expect((await readsOf(own)) - before).toBeLessThan(250)
    expect((await readsOf(['attestations_pkey'])) - primaryBefore).toBeLessThan(20)
    await sql.end()
    await database.drop()
  })
})
