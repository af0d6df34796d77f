/**
 * Goal: a ledger that was written before rows were sealed is read as it was: by every read, and by the nodes that go on with
 * it. It is one without encryption then.
 */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccessStore } from '../../infra/postgres/access-store-postgres.ts'
import { sealedClient } from '../../infra/postgres/client-document.ts'
import { createAttestationStore } from '../../infra/postgres/attestation-store-postgres.ts'
import { createLedgerReads } from '../../infra/postgres/ledger-reads-postgres.ts'
import { createPostgresLedgerStore, type PostgresLedgerStore } from '../../infra/postgres/ledger-store-postgres.ts'
import { migrate, MigrationRefused } from '../../infra/postgres/migrate.ts'
import { sessionLockKey } from '../../infra/postgres/session-lock.ts'
import { sealLedgerSecret } from '../../infra/keys/ledger-seals.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { addressOf, keyAddressOf, type ShardToken } from '../../runtime/ports/ledger-store.ts'
import { addressOfState } from '../../actors/actor-state.ts'
import { actorKey } from '../../actors/address.ts'
import type { MintHold } from '../../actors/account/state.ts'
import { ledgerReadsContract } from '../contract/ledger-reads.contract.ts'
import { homeOf, LEDGER_ID, shardOf } from '../contract/ledger-reads-postgres-subject.ts'
import type { LedgerReadsSubject } from '../contract/ledger-reads-scene.ts'
import { aClient } from '../contract/access-store.contract.ts'
import { anAttestation, aRevocation } from '../contract/attestation-store-scene.ts'
import {
  createLedgerDatabase,
  DEFAULT_SHARD_COUNT,
  type LedgerDatabase,
  TEST_MASTER_KEYS,
  vaultOf,
} from '../support/ledger-database.ts'
import {
  creditAccount,
  failAccount,
  openAccount,
  partWith,
  questionOf,
  RECEIPT,
  rotateAccount,
  ROWS_START_MS,
} from '../support/ledger-rows.ts'
import { readBoundaryTotals, SILENT } from '../support/ledger-store-postgres.ts'
import {
  actorRows,
  exchangeState,
  groupState,
  keepHolds,
  legHold,
  pendTransfer,
  sendRows,
  tokenState,
} from '../support/ledger-rows-values.ts'
import { createVersion9, writeAttestation9, writeClient9, writeVersion9 } from '../support/version-9-rows.ts'

const SESSION = 'f'.repeat(32)

async function version9(): Promise<{ readonly database: LedgerDatabase; readonly sql: postgres.Sql }> {
  const database = await createLedgerDatabase({ migrated: false })
  const sql = postgres(database.url, { max: 2, onnotice: () => undefined })
  const sealedShardSecret = sealLedgerSecret(TEST_MASTER_KEYS, 'shard-secret', randomBytes(32))
  await createVersion9(sql, { ledgerId: LEDGER_ID, shardCount: DEFAULT_SHARD_COUNT, sealedShardSecret })
  return { database, sql }
}

/** As a program that encrypts new ledgers does. */
function migrated(url: string) {
  return migrate(url, { shardCount: DEFAULT_SHARD_COUNT, masterKeys: TEST_MASTER_KEYS, encryption: 'on' })
}

/** What is written first is there at version 9; what is written later comes after the migration. */
async function createMigratedSubject(): Promise<LedgerReadsSubject> {
  const { database, sql } = await version9()
  const { url } = database
  let vault: RowVault | undefined
  let store: PostgresLedgerStore | undefined
  const tokens = new Map<number, ShardToken>()
  const late = new Proxy({} as RowVault, { get: (_, name): unknown => Reflect.get(vault ?? {}, name) })
  const reads = createLedgerReads({ url, ledgerId: LEDGER_ID, shardOf, homeOf, vault: late, poolSize: 3 })
  return {
    reads,
    ledgerId: LEDGER_ID,
    shardOf,
    write: async (seeds) => {
      if (store === undefined) {
        for (const { shardId, rows } of seeds) await writeVersion9(sql, shardId, rows, SESSION)
        await migrated(url)
        vault = await vaultOf(url)
        store = await createPostgresLedgerStore({ url, nodeId: 'node', session: SESSION, log: SILENT, vault })
        for (const { shardId } of seeds) if (!tokens.has(shardId)) tokens.set(shardId, await owned(store, shardId))
        return
      }
      for (const { shardId, rows } of seeds) {
        const token = tokens.get(shardId) ?? (await owned(store, shardId))
        tokens.set(shardId, token)
        const verdict = await store.commit({ shards: [{ token, ...rows }] })
        expect(verdict).toEqual({ kind: 'answered', committed: new Set([shardId]) })
      }
    },
    close: async () => {
      await Promise.all([reads.close(), store?.close(), sql.end()])
      await database.drop()
    },
  }
}

async function owned(store: PostgresLedgerStore, shardId: number): Promise<ShardToken> {
  const result = await store.acquire(shardId, 0, 1)
  if (result.kind !== 'owned') throw new Error(`shard ${shardId} is ${result.kind}`)
  await store.openShard(shardId)
  return result.token
}

ledgerReadsContract('PostgreSQL, of a ledger that was made before rows were sealed', createMigratedSubject)

describe('Nodes go on with it', () => {
  const SHARD = 3
  const AMOUNTS = ['0.000000000000000001', '999999999999999999.999999999999999999', '10', '9.99', '1000', '0.5']
  /** JSON that a server which reads it would refuse or change. */
  const PAYLOAD = '{"amount":"1.50","big":1e400,"note":"a\\u0000b","z":1.0}'

  let database: LedgerDatabase
  let sql: postgres.Sql
  let vault: RowVault
  let store: PostgresLedgerStore

  const open = openAccount(SHARD, 'alice "of" \\ é')
  const credits = AMOUNTS.slice(0, 1)
    .concat(AMOUNTS.slice(2))
    .reduce(
      (changes, amount, index) => [
        ...changes,
        creditAccount(changes.at(-1)?.account ?? open.account, `k${index}`, amount),
      ],
      [] as readonly ReturnType<typeof creditAccount>[],
    )
  const failed = failAccount(credits.at(-1)?.account ?? open.account, 'too much')
  const rotated = rotateAccount(failed.account, 'rotation')
  const pending = pendTransfer(rotated.account, 'pending', '2.25')
  const [submitted] = credits[0]?.rows.transactions ?? []
  if (submitted === undefined) throw new Error('there is no credit')
  const mint: MintHold = {
    kind: 'mint',
    idempotencyKey: 'my own key',
    transaction: { ...submitted.transaction, payload: PAYLOAD, metadata: { note: 'a\u0000b' } },
    acceptedUnder: { keyId: 'k', publicKey: 'p' },
  }
  const held = keepHolds(pending.account, legHold(), mint)
  const plain = openAccount(SHARD, 'keyless')
  const keyless = { ...plain.account, key: null }
  // Only ended groups: the migration refuses open ones.
  const ended = groupState({ status: 'reverted', dueAtMs: null, finishedAtMs: ROWS_START_MS + 5 })
  const states = [tokenState(), ended, exchangeState()]
  const attestations = [
    anAttestation({ statement: 'a "statement" \\ \n é' }),
    { ...anAttestation({ evidenceUrl: null }), revocation: aRevocation({ reason: null }) },
  ]
  const clients = [
    aClient({ clientId: 'a"b\\c', boundary: ['USD', 'a"b'], secretHash: 'scrypt:32768-8-1:00:11' }),
    aClient({ role: 'admin', boundary: false, revokedAtMs: 1_790_000_000_123 }),
  ]

  beforeAll(async () => {
    const old = await version9()
    ;({ database, sql } = old)
    const [first] = credits
    const odd = first?.rows.transactions.map((write) => ({
      ...write,
      transaction: { ...write.transaction, payload: PAYLOAD, metadata: { note: 'a\u0000b', one: 1 } },
    }))
    const token = { shardId: SHARD, epoch: 1, attempt: 0 }
    const commits = [
      open.rows,
      ...credits.map(({ rows }, index) => (index === 0 ? { ...rows, transactions: odd ?? [] } : rows)),
      failed.rows,
      rotated.rows,
      pending.rows,
      held.rows,
      { ...plain.rows, accounts: [{ previousVersion: 0, account: keyless }], keys: [] },
      partWith(
        token,
        ...states.map((state) => ({ actors: [{ address: addressOfState(state), previousVersion: 0, state }] })),
        sendRows(5, 1, 3),
        { boundary: [{ tokenId: 'BASE', credited: '1000.50', debited: '0' }] },
        { boundary: [{ tokenId: 'BASE', credited: '0', debited: '0.25' }] },
        { boundary: [{ tokenId: 'gold', credited: '7', debited: '0' }] },
      ),
    ]
    for (const rows of commits) await writeVersion9(sql, SHARD, rows, SESSION)
    for (const attestation of attestations) {
      await writeAttestation9(sql, attestation, {
        idempotencyKey: attestation.attestationId,
        payloadHash: 'cd'.repeat(32),
      })
    }
    for (const client of clients) await writeClient9(sql, client)
    await migrated(database.url)
    vault = await vaultOf(database.url)
    store = await createPostgresLedgerStore({ url: database.url, nodeId: 'n', session: SESSION, log: SILENT, vault })
  })
  afterAll(async () => {
    await store?.close()
    await sql?.end()
    await database?.drop()
  })

  test('its rows are not encrypted', async () => {
    expect([...(await sql`SELECT encryption FROM ledger`)]).toEqual([{ encryption: 'off' }])
    expect(vault.seals(SHARD)).toBe(false)
  })

  test('accounts are found as they were, with balances and holds, and those without a key', async () => {
    const { accounts } = await store.lookUp(questionOf({ accounts: [held.account, keyless] }))
    expect(accounts.get(addressOf(held.account))).toEqual(held.account)
    expect(accounts.get(addressOf(keyless))).toEqual(keyless)
  })

  test('what a client signed is what it was, byte for byte', async () => {
    const [row] = await sql<{ document: Buffer }[]>`
      SELECT document FROM transactions WHERE txn_id = ${submitted.transaction.txnId}`
    const { transaction, receipt } = JSON.parse(row?.document.toString() ?? '') as typeof submitted
    expect(transaction.payload).toBe(PAYLOAD)
    expect(transaction.metadata).toEqual({ note: 'a\u0000b', one: 1 })
    expect(receipt).toEqual(RECEIPT)
  })

  test('keys that were used show what they did', async () => {
    const { accountId } = held.account
    const uses = [
      { shardId: SHARD, accountId, operation: 'transaction', idempotencyKey: 'k0' },
      { shardId: SHARD, accountId, operation: 'key_rotation', idempotencyKey: 'rotation' },
    ] as const
    const { keys } = await store.lookUp(questionOf({ keys: uses }))
    const [operation] = rotated.rows.operations
    expect(keys.get(keyAddressOf(uses[0]))).toMatchObject({ payloadHash: submitted.transaction.payloadHash })
    expect(keys.get(keyAddressOf(uses[1]))).toMatchObject({
      payloadHash: operation?.payloadHash,
      answer: { kind: 'rotated', account: operation?.answer },
      key: { keyId: operation?.keyId },
    })
  })

  test('actors, messages and what crossed the boundary are as they were', async () => {
    const actors = states.map((state) => ({ shardId: SHARD, address: addressOfState(state) }))
    const { actors: found } = await store.lookUp(questionOf({ actors }))
    for (const state of states) expect(found.get(actorKey(addressOfState(state)))).toEqual(state)
    const { outbox } = await store.openShard(SHARD)
    expect(outbox.map(({ envelope }) => envelope)).toEqual(sendRows(5, 1, 3).outbox?.map(({ envelope }) => envelope))
    expect(await readBoundaryTotals(sql, vault)).toEqual(
      new Map([
        ['BASE', { credited: '1000.5', debited: '0.25' }],
        ['gold', { credited: '7', debited: '0' }],
      ]),
    )
  })

  test('attestations are as they were, and found by the key that they were sent under', async () => {
    const reads = createAttestationStore({ url: database.url, homeOf, vault })
    for (const attestation of attestations) {
      const { attestationId, submittedBy } = attestation
      expect(await reads.attestation(attestationId)).toEqual(attestation)
      expect(await reads.submitted(submittedBy, attestationId)).toEqual({ attestation, payloadHash: 'cd'.repeat(32) })
    }
    await reads.close()
  })

  test('clients are as they were, in the texts that are written of them, and can be revoked', async () => {
    const access = createAccessStore({ url: database.url, vault })
    for (const client of clients) {
      const [row] = await sql<{ document: Buffer }[]>`SELECT document FROM clients WHERE client_id = ${client.clientId}`
      expect(JSON.parse(row?.document.toString() ?? '')).toEqual(
        JSON.parse(Buffer.from(sealedClient(client, vault), 'hex').toString()),
      )
      expect(await access.findClient(client.clientId)).toEqual(client)
      const revokedAtMs = client.revokedAtMs ?? 1_790_000_000_456
      expect(await access.revokeClient(client.clientId, 1_790_000_000_456)).toBe(true)
      expect(await access.findClient(client.clientId)).toEqual({ ...client, revokedAtMs })
    }
    await access.close()
  })
})

describe('While parts of the earlier program run', () => {
  test('a node that holds a shard keeps the migration away, and nothing has changed', async () => {
    const { database, sql } = await version9()
    await sql`UPDATE shards SET epoch = 1, node_id = 'old-node', session = ${SESSION} WHERE shard_id = 1`
    const node = postgres(database.url, { max: 1 })
    await node`SELECT pg_advisory_lock(${String(sessionLockKey(SESSION))}::bigint)`
    await expect(migrated(database.url)).rejects.toThrow(MigrationRefused)
    await expect(migrated(database.url)).rejects.toThrow(/node old-node of an earlier version runs/)
    expect([...(await sql`SELECT max(version) AS version FROM schema_migrations`)]).toEqual([{ version: 9 }])
    await node.end()
    await expect(migrated(database.url)).resolves.toMatchObject({ ledgerId: LEDGER_ID })
    await sql.end()
    await database.drop()
  })
  test('an open settlement group stops the migration with the remedy', async () => {
    const { database, sql } = await version9()
    const rows = partWith({ shardId: 3, epoch: 1, attempt: 0 }, actorRows(groupState({ status: 'open' })))
    await writeVersion9(sql, 3, rows, SESSION)
    await expect(migrated(database.url)).rejects.toThrow(MigrationRefused)
    await expect(migrated(database.url)).rejects.toThrow(/settlement groups are still open: let them end/)
    await sql`UPDATE actors SET status = 'settled' WHERE kind = 'group'`
    await expect(migrated(database.url)).resolves.toMatchObject({ ledgerId: LEDGER_ID })
    await sql.end()
    await database.drop()
  })
})
