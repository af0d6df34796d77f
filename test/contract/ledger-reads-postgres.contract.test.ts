/** Reads of PostgreSQL: the contract over rows that the ledger store wrote, and what only a database can get wrong. */
import { randomBytes, randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActorAddress, actorKey } from '../../actors/address.ts'
import { createShardHash } from '../../infra/keys/shard-hash.ts'
import { createLedgerReads, type PostgresLedgerReads } from '../../infra/postgres/ledger-reads-postgres.ts'
import { createPostgresLedgerStore, type PostgresLedgerStore } from '../../infra/postgres/ledger-store-postgres.ts'
import { EXAMINED_ROWS } from '../../infra/postgres/transactions-query.ts'
import { COUNT_HOLDS } from '../../infra/postgres/transactions-query-count.ts'
import { ReadsUnavailable } from '../../runtime/ports/ledger-reads.ts'
import type { ShardToken } from '../../runtime/ports/ledger-store.ts'
import { createLedgerDatabase, DEFAULT_SHARD_COUNT, type LedgerDatabase } from '../support/ledger-database.ts'
import { CLASS_ID, classIdOf, classState, instanceState, NFT_ID } from '../support/ledger-rows-nfts.ts'
import { groupState, tokenState } from '../support/ledger-rows-values.ts'
import { ledgerReadsContract } from './ledger-reads.contract.ts'
import { createBook, type ShardSeed } from './ledger-reads-rows.ts'
import { aQuery, type LedgerReadsSubject, receiptSignatureOf, SEED_START_MS, walk } from './ledger-reads-scene.ts'

const LEDGER_ID = 'ledger-under-test'
const shardOf = createShardHash(Buffer.alloc(32, 7), DEFAULT_SHARD_COUNT)
const homeOf = (actor: ActorAddress): number => shardOf(actorKey(actor))

interface Postgres extends LedgerReadsSubject {
  readonly reads: PostgresLedgerReads
  readonly database: LedgerDatabase
}

async function createSubject(): Promise<Postgres> {
  const database = await createLedgerDatabase()
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const session = randomBytes(16).toString('hex')
  const store = await createPostgresLedgerStore({ url: database.url, nodeId: 'node', session, log })
  const reads = createLedgerReads({ url: database.url, ledgerId: LEDGER_ID, shardOf, homeOf, poolSize: 3 })
  const tokens = new Map<number, ShardToken>()
  return {
    reads,
    database,
    ledgerId: LEDGER_ID,
    write: async (seeds) => {
      for (const seed of seeds) await commit(store, tokens, seed)
    },
    close: async () => {
      await Promise.all([reads.close(), store.close()])
      await database.drop()
    },
  }
}

async function commit(store: PostgresLedgerStore, tokens: Map<number, ShardToken>, seed: ShardSeed): Promise<void> {
  const token = tokens.get(seed.shardId) ?? (await owned(store, seed.shardId))
  tokens.set(seed.shardId, token)
  const verdict = await store.commit({ shards: [{ token, ...seed.rows }] })
  if (verdict.kind !== 'answered' || !verdict.committed.has(seed.shardId)) throw new Error(JSON.stringify(verdict))
}

async function owned(store: PostgresLedgerStore, shardId: number): Promise<ShardToken> {
  const result = await store.acquire(shardId, 0, 1)
  if (result.kind !== 'owned') throw new Error(`shard ${shardId} is ${result.kind}`)
  return result.token
}

ledgerReadsContract('PostgreSQL', createSubject)

describe('LedgerReads: PostgreSQL, its tables', () => {
  let subject: Postgres
  let reads: PostgresLedgerReads
  let sql: postgres.Sql
  beforeAll(async () => {
    subject = await createSubject()
    ;({ reads } = subject)
    sql = postgres(subject.database.url, { max: 3, onnotice: () => undefined })
  })
  afterAll(async () => {
    await sql.end()
    await subject.close()
  })

  test('a receipt no longer matches once any signed field was changed in the database', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    await subject.write([
      book.open('tampered', SEED_START_MS),
      book.decide('tampered', {
        atMs: SEED_START_MS + 1,
        amount: '5',
        metadata: { a: 'b' },
        groupId: randomUUID(),
        toAccountId: 'elsewhere',
        fromAccountId: 'elsewhere',
        receive: { tokenId: 'EUR', amount: '1' },
        compensates: 'txn_1',
      }),
    ])
    const txnId = book.transactions[0]?.txnId ?? ''
    const original = await reads.receipt(txnId)
    const changes = [
      "amount = '6'",
      "status = 'failed'",
      "type = 'debit'",
      "account_id = 'other'",
      "token_id = 'USD'",
      'group_id = NULL',
      "metadata = '{}'",
      "origin = 'ledger'",
      "created_at = created_at + '1 ms'",
      "processed_at = processed_at + '1 ms'",
      'sequence = sequence + 1',
      'previous_hash = audit_hash',
      'audit_hash = previous_hash',
      'payload_hash = audit_hash',
      "receipt_key_id = 'x'",
      "failure_code = 'expired'",
      "to_account_id = 'other'",
      'from_account_id = NULL',
      "details = details::jsonb #- '{receive}'",
      'details = details::jsonb || \'{"compensates": "txn_2"}\'',
      "details = details::jsonb - 'counterTxnId'",
    ]
    const unseen: string[] = []
    for (const change of changes) {
      await sql.unsafe(`CREATE TABLE kept AS SELECT * FROM transactions; UPDATE transactions SET ${change}`)
      if ((await reads.receipt(txnId))?.payload === original?.payload) unseen.push(change)
      await sql.unsafe('DELETE FROM transactions; INSERT INTO transactions SELECT * FROM kept; DROP TABLE kept')
    }
    expect(unseen).toEqual([])
    expect(await reads.receipt(txnId)).toEqual(original)
  })

  test('a balance of a token that nobody registered is no answer', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    await subject.write([book.open('damaged', SEED_START_MS)])
    await subject.write([book.decide('damaged', { atMs: SEED_START_MS, tokenId: 'GHOST' })])
    await expect(reads.balances('damaged')).rejects.toThrow(ReadsUnavailable)
  })

  test('documents of another kind or format, and what is no document, are no answer', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    const [token, group] = [tokenState({ status: 'active' }), groupState({ status: 'open' })]
    const plain = { description: '', metadataSchema: {} }
    const ofNfts = classState({ status: 'active', ...plain })
    const instance = instanceState({ status: 'active', owner: 'keeper', metadata: {} })
    const open = book.open('keeper', SEED_START_MS)
    await subject.write([open, ...[token, group, ofNfts, instance].map((state) => book.put(state))])
    const asked = [
      () => reads.token('EUR'),
      () => reads.tokens(null, 1),
      () => reads.group(group.id),
      () => reads.nftClass(CLASS_ID),
      () => reads.nftClasses(null, 1),
      () => reads.instance(CLASS_ID, 'no:1'),
      () => reads.instances(CLASS_ID, null, 1),
      () => reads.ownedNfts('keeper', null, 1),
    ]
    const answers = await Promise.all(asked.map((read) => read()))
    expect(answers).not.toContain(undefined)
    await sql`CREATE TABLE kept AS SELECT * FROM actors`
    for (const damaged of [`document::jsonb || '{"format": 2}'`, `document::jsonb || '{"kind": "exchange"}'`, `'{'`]) {
      await sql.unsafe(`UPDATE actors SET document = ${damaged}`)
      for (const read of asked) await expect(read()).rejects.toThrow(ReadsUnavailable)
      await sql`DELETE FROM actors`
      await sql`INSERT INTO actors SELECT * FROM kept`
    }
    await sql`DROP TABLE kept`
    expect(await Promise.all(asked.map((read) => read()))).toEqual(answers)
  })

  test('an NFT of a class that nobody registered, and one that says it is being minted, are no answer', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    const [ofNfts, ghost] = [classIdOf(7), classIdOf(8)]
    const named = { id: 'of nfts', name: 'Of NFTs', classId: ofNfts, status: 'active', description: '' } as const
    const instances = [ofNfts, ghost].map((classId) =>
      instanceState({ id: `${classId}/1`, status: 'held', metadata: {} }),
    )
    await subject.write([
      ...['alice', 'bob'].map((accountId) => book.open(accountId, SEED_START_MS)),
      book.put(classState({ ...named, metadataSchema: {} })),
      ...instances.map((state, index) => book.put({ ...state, owner: index === 0 ? 'alice' : 'bob' })),
    ])
    expect((await reads.ownedNfts('alice', null, 1))?.nfts).toHaveLength(1)
    await expect(reads.ownedNfts('bob', null, 1)).rejects.toThrow(ReadsUnavailable)
    await sql`UPDATE actors SET document = document::jsonb || '{"status": "minting"}' WHERE class_id = ${ofNfts}`
    await expect(reads.ownedNfts('alice', null, 1)).rejects.toThrow(ReadsUnavailable)
    await expect(reads.instances(ofNfts, null, 1)).rejects.toThrow(ReadsUnavailable)
  })

  test('a shard that nobody owns is not owned', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    await subject.write([book.open('orphan', SEED_START_MS)])
    expect(await reads.shardOwned('orphan')).toBe(true)
    await sql`UPDATE shards SET node_id = NULL, session = NULL WHERE shard_id = ${shardOf('orphan')}`
    expect(await reads.shardOwned('orphan')).toBe(false)
    expect(await reads.account('orphan')).toBeDefined()
  })

  test('without PostgreSQL every read says that it is unavailable, and names no host', async () => {
    const lost = createLedgerReads({ url: 'postgres://u:secret@127.0.0.1:1/x', ledgerId: LEDGER_ID, shardOf, homeOf })
    const txnId = 'txn_00000000000000000000000000'
    const outcomes = await Promise.allSettled([
      lost.transaction(txnId),
      lost.receipt(txnId),
      lost.transactions(aQuery()),
      lost.account('a'),
      lost.accounts(null, 1),
      lost.balances('a'),
      lost.auditChain('a', -1, 1),
      lost.token('a'),
      lost.tokens(null, 1),
      lost.group(randomUUID()),
      lost.nftClass(CLASS_ID),
      lost.nftClasses(null, 1),
      lost.instance(CLASS_ID, '1'),
      lost.instances(CLASS_ID, null, 1),
      lost.ownedNfts('a', null, 1),
      lost.nftHistory(CLASS_ID, '1', -1, 1),
      lost.openGroups('a'),
      lost.shardOwned('a'),
    ])
    for (const outcome of outcomes) {
      const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      expect(reason).toBeInstanceOf(ReadsUnavailable)
      expect(String(reason)).not.toMatch(/127|secret/)
    }
    await lost.close()
  })
})

/** Rows without the domain: all of one shard, one transaction a millisecond, every 4,000th the mint of an NFT. */
const MANY = 22_000
const RARE_EVERY = 4_000

function insertMany(sql: postgres.Sql, from: number, to: number) {
  return sql`
    INSERT INTO transactions (shard_id, txn_id, account_id, type, amount, quantity, token_id, group_id, status, origin,
      created_at, processed_at, idempotency_key, payload, payload_hash, signature, key_id, receipt_key_id, receipt_signature)
    SELECT 0, 'txn_' || lpad(n::text, 26, '0'), CASE WHEN n % ${RARE_EVERY} = 0 THEN 'rare' ELSE 'common' END,
      CASE WHEN n % ${RARE_EVERY} = 0 THEN 'mint' ELSE 'credit' END, '1', n % 100,
      CASE WHEN n % ${RARE_EVERY} = 0 THEN ${NFT_ID} ELSE 'BASE' END,
      CASE WHEN n % 2 = 0 THEN '00000000-0000-4000-8000-000000000000'::uuid END, 'completed', 'client',
      'epoch', 'epoch', 'key-' || n, '{}', '\\x00', 's', 'k', 'r', 's'
    FROM generate_series(${from}::integer, ${to}::integer) n`
}

describe('LedgerReads: PostgreSQL, bounds', () => {
  let database: LedgerDatabase
  let reads: PostgresLedgerReads
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    reads = createLedgerReads({ url: database.url, ledgerId: LEDGER_ID, shardOf: () => 0, homeOf: () => 0 })
    sql = postgres(database.url, { max: 3, onnotice: () => undefined })
    for (let from = 1; from <= MANY; from += 1_000) await insertMany(sql, from, from + 999)
    await sql`ANALYZE transactions`
  })
  afterAll(async () => {
    await Promise.all([reads.close(), sql.end()])
    await database.drop()
  })
  const rare = Array.from({ length: Math.floor(MANY / RARE_EVERY) }, (_, index) => (index + 1) * RARE_EVERY)
  const idOf = (n: number): string => `txn_${String(n).padStart(26, '0')}`

  test('L1: a rare filter: pages examine a bounded number of rows, may be empty, and find every match once', async () => {
    for (const filter of [{ type: 'mint' }, { tokenClass: 'nft' }] as const) {
      const pages = await walk(reads, aQuery({ ...filter, limit: 10, counted: false }))
      expect(pages.flatMap((page) => page.transactions.map((view) => view.txnId))).toEqual(rare.toReversed().map(idOf))
      expect(pages).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
      expect(pages[0]?.next?.txnId).toBe(idOf(MANY - EXAMINED_ROWS + 1))
    }
    const none = await walk(reads, aQuery({ type: 'burn', counted: false }))
    expect(none).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS))
  })

  test('L1: the last row examined is on this page, the one behind it on the next', async () => {
    const first = { counted: false, limit: 10 }
    const last = MANY - EXAMINED_ROWS + 1
    const page = await reads.transactions(aQuery({ ...first, idempotencyKey: `key-${last}` }))
    expect(page.transactions.map((view) => view.txnId)).toEqual([idOf(last)])
    const behind = aQuery({ ...first, idempotencyKey: `key-${last - 1}` })
    const empty = await reads.transactions(behind)
    expect(empty.transactions).toEqual([])
    const next = await reads.transactions({ ...behind, after: empty.next })
    expect(next.transactions.map((view) => view.txnId)).toEqual([idOf(last - 1)])
  })

  test('L1: the feed goes on behind the rows that it examined', async () => {
    const pages = await walk(reads, aQuery({ type: 'mint', limit: 10, counted: false, order: 'asc' }))
    expect(pages.flatMap((page) => page.transactions.map((view) => view.txnId))).toEqual(rare.map(idOf))
    expect(pages[0]?.next?.txnId).toBe(idOf(EXAMINED_ROWS))
    expect(pages).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS) + 1)
  })

  test('an account or group with few rows is found in one page, whatever the ledger holds', async () => {
    const account = aQuery({ accountId: 'rare', counted: false })
    const found = await reads.transactions(account)
    expect(found).toMatchObject({ next: null, transactions: rare.toReversed().map((n) => ({ txnId: idOf(n) })) })
    for (const filter of [{}, { type: 'mint' }] as const) {
      const feed = await reads.transactions({ ...account, ...filter, order: 'asc' })
      expect(feed.transactions.map((view) => view.txnId)).toEqual(rare.map(idOf))
    }
    const key = await reads.transactions(
      aQuery({ accountId: 'common', idempotencyKey: 'key-17', counted: false, order: 'asc' }),
    )
    expect(key.transactions.map((view) => view.txnId)).toEqual([idOf(17)])
  })

  test('an account with many rows: the feed walks, and still gives each row once', async () => {
    const pages = await walk(reads, aQuery({ accountId: 'common', limit: 1_000, counted: false, order: 'asc' }))
    const all = Array.from({ length: MANY }, (_, index) => index + 1).filter((n) => n % RARE_EVERY !== 0)
    expect(pages.flatMap((page) => page.transactions.map((view) => view.txnId))).toEqual(all.map(idOf))
    const none = await walk(reads, aQuery({ accountId: 'common', type: 'burn', counted: false, order: 'asc' }))
    expect(none).toHaveLength(Math.ceil(MANY / EXAMINED_ROWS) + 1)
  })

  test('counts beyond the bound are lower bounds and say so', async () => {
    const count = async (changes: Parameters<typeof aQuery>[0]) => (await reads.transactions(aQuery(changes))).count
    expect(await count({ type: 'credit' })).toEqual({ total: 10_000, exact: false })
    expect(await count({ type: 'mint' })).toEqual({ total: rare.length, exact: true })
    expect(await count({ tokenClass: 'nft' })).toEqual({ total: rare.length, exact: true })
    expect(await count({ tokenClass: 'fungible' })).toEqual({ total: 10_000, exact: false })
    expect(await count({ tokenClass: 'another' })).toEqual({ total: 0, exact: true })
    expect(await count({ amountMin: '0' })).toEqual({ total: 1_000, exact: false })
    expect(await count({ amountMin: '99', amountMax: '99' })).toEqual({ total: 220, exact: true })
    expect(await count({ createdFromMs: 1 })).toEqual({ total: 0, exact: true })
    const groupId = '00000000-0000-4000-8000-000000000000'
    expect(await count({ groupId })).toEqual({ total: 10_000, exact: false })
    expect(await count({ groupId, accountId: 'rare' })).toEqual({ total: rare.length, exact: true })
  })

  test('what is pending is counted whole for an account, and for the ledger while few things are unfinished', async () => {
    const count = async (changes: Parameters<typeof aQuery>[0]) => (await reads.transactions(aQuery(changes))).count
    const insertHolds = (accountId: string, prefix: string, holds: number) => sql`
      INSERT INTO holds (shard_id, account_id, hold_id, document)
      SELECT 0, ${accountId}, ${prefix} || n, '{}' FROM generate_series(1, ${holds}::integer) n`
    await insertHolds('many', 'txn_', 4_000)
    await insertHolds('many', 'issue ', 10)
    await insertHolds('crowd', 'leg ', COUNT_HOLDS - 4_010)
    for (const status of ['pending', null] as const) {
      expect(await count({ accountId: 'many', status })).toEqual({ total: 4_000, exact: true })
      expect(await count({ status })).toEqual({ total: 4_000, exact: true })
    }
    await insertHolds('zealous', 'txn_', 1)
    for (const status of ['pending', null] as const) {
      expect(await count({ accountId: 'many', status })).toEqual({ total: 4_000, exact: true })
      expect(await count({ status })).toMatchObject({ exact: false })
      expect((await count({ status }))?.total).toBeLessThanOrEqual(4_001)
    }
    expect(await count({ status: 'completed' })).toEqual({ total: 0, exact: true })
  })

  test('legs whose transactions are pending are counted with what is pending', async () => {
    const count = async (changes: Parameters<typeof aQuery>[0]) => (await reads.transactions(aQuery(changes))).count
    await sql`DELETE FROM holds`
    await sql`
      INSERT INTO holds (shard_id, account_id, hold_id, document, pending_txn_id)
      SELECT 0, 'legs', 'group ' || n || ' own', '{}', CASE WHEN n % 10 = 0 THEN 'txn_' || n END
      FROM generate_series(1, 100) n`
    for (const status of ['pending', null] as const) {
      expect(await count({ accountId: 'legs', status })).toEqual({ total: 10, exact: true })
      expect(await count({ status })).toEqual({ total: 10, exact: true })
    }
    await sql`
      INSERT INTO holds (shard_id, account_id, hold_id, document, pending_txn_id)
      SELECT 0, 'crowd', 'group ' || n || ' own', '{}', 'txn_' || n FROM generate_series(1, ${COUNT_HOLDS}::integer) n`
    expect(await count({ status: 'pending' })).toMatchObject({ exact: false })
    expect(await count({ accountId: 'legs', status: 'pending' })).toEqual({ total: 10, exact: true })
  })

  test('L3: what is in flight elsewhere holds the feed back, and nothing slips behind a position', async () => {
    const start = (await walk(reads, aQuery({ order: 'asc', limit: 1_000, counted: false }))).at(-1)?.next ?? null
    let arrive: () => void = () => undefined
    let end: () => void = () => undefined
    const inserted = new Promise<void>((resolve) => (arrive = resolve))
    const mayEnd = new Promise<void>((resolve) => (end = resolve))
    const slow = sql.begin(async (transaction) => {
      await transaction`SELECT pg_current_xact_id()`
      arrive()
      await mayEnd
      await insertMany(transaction as unknown as postgres.Sql, 50_001, 50_001)
    })
    await inserted
    await insertMany(sql, 60_000, 60_001)
    const held = await reads.transactions(aQuery({ order: 'asc', after: start, counted: false }))
    expect(held.transactions).toEqual([])
    expect((await reads.transactions(aQuery({ limit: 1 }))).transactions[0]?.txnId).toBe(idOf(60_001))
    end()
    await slow
    const after = await reads.transactions(aQuery({ order: 'asc', after: held.next, counted: false }))
    expect(after.transactions.map((view) => view.txnId)).toEqual([idOf(50_001), idOf(60_000), idOf(60_001)])
  })
})
