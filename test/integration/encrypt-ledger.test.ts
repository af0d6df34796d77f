/**
 * Goal: a ledger without encryption becomes one with it while clients use it. Cut short and run again it ends all the same;
 * nothing is lost, nothing is there twice, nothing stays readable, and what is read does not change.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLedgerReads, type PostgresLedgerReads } from '../../infra/postgres/ledger-reads-postgres.ts'
import { createAccessStore } from '../../infra/postgres/access-store-postgres.ts'
import { connect } from '../../infra/postgres/connection.ts'
import { ENCRYPTION_SETTINGS, encryptLedger, EncryptionUnderWay } from '../../infra/postgres/encrypt-ledger.ts'
import { readLedger } from '../../infra/postgres/migrate.ts'
import { PLAN_SETTINGS } from '../../infra/postgres/plan-settings.ts'
import { indexSecretName, openLedgerSecret, sealLedgerSecret } from '../../infra/keys/ledger-seals.ts'
import { createKeyWrapping } from '../../infra/vault/key-wrapping.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { UnreadableRow } from '../../infra/vault/unreadable-row.ts'
import { accountKeyName } from '../../infra/vault/key-name.ts'
import { placeOf } from '../../infra/vault/place.ts'
import { aClient } from '../contract/access-store.contract.ts'
import { homeOf, shardOf } from '../contract/ledger-reads-postgres-subject.ts'
import { aQuery } from '../contract/ledger-reads-scene.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Party,
  type Told,
} from '../support/audited-ledger.ts'
import { DEFAULT_SHARD_COUNT, TEST_MASTER_KEYS, vaultOf } from '../support/ledger-database.ts'
import { until } from '../support/ledger-store-postgres.ts'
import { found } from '../support/needles.ts'
import { walkLedger } from '../support/tampering.ts'

const CUT_AT = 6
const LOADED = 6

let ledger: AuditedLedger
let parties: Parties
let told: Told
let before: unknown
let early: { readonly vault: RowVault; readonly reads: PostgresLedgerReads }
let loaded: readonly Party[]
interface Accepted {
  readonly txnId: string
  readonly accountId: string
  readonly type: string
}

/** One that is changed by nobody, one that is revoked while the ledger is being encrypted, one that is made then. */
const clients = {
  kept: aClient({ clientId: 'kept', accounts: ['customer-3'] }),
  revoked: aClient({ clientId: 'revoked', role: 'admin' }),
  made: aClient({ clientId: 'made', role: 'viewer' }),
}
const REVOKED_AT_MS = 1_790_000_000_456

/** What the load was told of. */
const accepted: Accepted[] = []

beforeAll(async () => {
  ledger = await createAuditedLedger({ encryption: 'off' })
  parties = new Parties(ledger)
  told = await everythingOnce(parties, 'one')
  loaded = await Promise.all(Array.from({ length: LOADED }, (_, index) => parties.open(`customer-${index}`)))
  early = readsWith(await vaultOf(ledger.url))
  before = await everythingRead(early.reads)
  const access = createAccessStore({ url: ledger.url, vault: early.vault })
  for (const client of [clients.kept, clients.revoked]) await access.putClient(client)
  const first = startLoad('first')
  await more()
  await cutShort()
  await more()
  await first.stop()
  await parties.atRest()
  await inBothForms()
  await access.putClient(clients.made)
  await access.revokeClient('revoked', REVOKED_AT_MS)
  await access.close()
  const second = startLoad('second')
  await more()
  await encrypt()
  await more()
  await second.stop()
  await parties.atRest()
})
afterAll(async () => {
  await early?.reads.close()
  await ledger?.close()
})

function readsWith(vault: RowVault) {
  return { vault, reads: createLedgerReads({ url: ledger.url, ledgerId: ledger.ledgerId, shardOf, homeOf, vault }) }
}

async function encrypt(
  onProgress?: (shards: number, rows: number, cut: () => void) => void,
): Promise<number | undefined> {
  const settings = { ...PLAN_SETTINGS, ...ENCRYPTION_SETTINGS }
  const connection = await connect({ url: ledger.url, applicationName: 'ledger encrypt', settings })
  try {
    const record = await readLedger(connection.sql)
    if (record === undefined) throw new Error('there is no ledger')
    return await encryptLedger(connection.sql, {
      shardCount: DEFAULT_SHARD_COUNT,
      wrapping: createKeyWrapping(TEST_MASTER_KEYS),
      indexSecret: openLedgerSecret(
        TEST_MASTER_KEYS,
        indexSecretName(record.encryption.stage),
        record.sealedIndexSecret,
      ).secret,
      sealIndexSecret: (secret) => sealLedgerSecret(TEST_MASTER_KEYS, indexSecretName('on'), secret),
      onProgress: ({ shards, rows }) => onProgress?.(shards, rows, connection.destroy),
      // Nobody had the time to look: what they do not know they find out.
      noticeMs: 0,
    })
  } finally {
    await connection.end()
  }
}

async function progress(): Promise<{ readonly encryption: string; readonly encrypted_shards: number } | undefined> {
  const [row] = await ledger.sql<{ encryption: string; encrypted_shards: number }[]>`
    SELECT encryption, encrypted_shards FROM ledger`
  return row
}

/** In the middle of a shard. */
async function cutShort(): Promise<void> {
  const cut = encrypt((shards, _rows, destroy) => {
    if (shards === CUT_AT) destroy()
  })
  await expect(cut).rejects.toThrow(/CONNECTION_/)
  expect(await progress()).toEqual({ encryption: 'converting', encrypted_shards: CUT_AT })
}

async function more(): Promise<void> {
  const { length } = accepted
  await until(() => Promise.resolve(accepted.length > length + 50))
}

/** Everything again while some shards are encrypted and others are not; of each class some instances are on either. */
async function inBothForms(): Promise<void> {
  const { alice, bob } = await everythingOnce(parties, 'two')
  for (const name of ['Red', 'Green', 'Blue', 'White']) {
    const classId = await parties.registerClass(name, alice)
    for (const instance of ['one', 'two', 'three', 'four']) {
      await parties.mint(alice, classId, instance)
      const fields = { class_id: classId, instance_id: instance, amount: '1', to_account_id: bob.accountId }
      await parties.submit(alice, { type: 'transfer', ...fields })
    }
  }
  await parties.atRest()
  expect(await progress()).toEqual({ encryption: 'converting', encrypted_shards: CUT_AT })
  const walked = await walkLedger(ledger.url, ledger.ledgerId, await vaultOf(ledger.url))
  expect(walked.findings).toEqual([])
}

/** Credits and transfers, each asked for under one key until it is accepted. */
function startLoad(phase: string) {
  const ending = new AbortController()
  const run = async (party: Party, index: number): Promise<void> => {
    for (let number = 0; !ending.signal.aborted; number += 1) {
      const key = `load ${phase} ${index} ${number}`
      const to = loaded[(index + 1) % loaded.length]
      const fields =
        number % 3 === 2
          ? { type: 'transfer', amount: '0.25', to_account_id: to?.accountId ?? '' }
          : { type: 'credit', amount: '7777.125' }
      const txnId = await untilAccepted(party, { ...fields, idempotency_key: key })
      accepted.push({ txnId, accountId: party.accountId, type: fields.type })
    }
  }
  const running = loaded.map(run)
  return {
    stop: async () => {
      ending.abort()
      await Promise.all(running)
    },
  }
}

async function untilAccepted(party: Party, fields: Parameters<Parties['submit']>[1]): Promise<string> {
  for (;;) {
    try {
      return await parties.submit(party, fields)
    } catch (error) {
      // Refused for now: its shard is nobody's.
      if (!(error instanceof Error) || !error.message.startsWith('submit: {"kind":"')) throw error
      await pause(10)
    }
  }
}

/** All that is shown of what is at rest. */
async function everythingRead(reads: PostgresLedgerReads): Promise<unknown> {
  const { alice, bob, classId } = told
  const ofAccount = async ({ accountId }: Party) => ({
    account: await reads.account(accountId),
    balances: await reads.balances(accountId),
    chain: await reads.auditChain(accountId, -1, 500),
    transactions: (await reads.transactions(aQuery({ accountId }))).transactions,
    receipts: await Promise.all(
      (await reads.transactions(aQuery({ accountId }))).transactions.map(({ txnId }) => reads.receipt(txnId)),
    ),
    large: (await reads.transactions(aQuery({ accountId, amountMin: '9', amountMax: '60' }))).transactions,
    nfts: await reads.ownedNfts(accountId, null, 100),
  })
  return {
    alice: await ofAccount(alice),
    bob: await ofAccount(bob),
    nftClass: await reads.nftClass(classId),
    instances: await reads.instances(classId, null, 100),
    history: await reads.nftHistory(classId, 'travelled', -1, 100),
    token: await reads.token('GOLD-one'),
  }
}

test('all of it is encrypted at the end, and a further run changes nothing', async () => {
  expect(await progress()).toEqual({ encryption: 'on', encrypted_shards: DEFAULT_SHARD_COUNT })
  expect(await encrypt()).toBeUndefined()
})

test('what was accepted before, meanwhile and afterwards is there once', async () => {
  const rows = await ledger.sql<{ txn_id: string }[]>`SELECT txn_id FROM transactions`
  const there = new Set(rows.map((row) => row.txn_id))
  expect(there.size).toBe(rows.length)
  expect(accepted.filter(({ txnId }) => !there.has(txnId))).toEqual([])
  const { reads } = readsWith(await vaultOf(ledger.url))
  for (const { accountId } of loaded) {
    const shown = await reads.transactions(aQuery({ accountId, type: 'credit', limit: 5_000 }))
    const credits = shown.transactions.filter(({ origin }) => origin === 'client')
    const own = accepted.filter((one) => one.accountId === accountId && one.type === 'credit')
    expect(credits.map(({ txnId }) => txnId).toSorted()).toEqual(own.map(({ txnId }) => txnId).toSorted())
  }
  await reads.close()
})

test('chains, receipts, value and keys are sound', async () => {
  const walked = await walkLedger(ledger.url, ledger.ledgerId, await vaultOf(ledger.url))
  expect(walked.findings).toEqual([])
})

test('nothing can be read without keys: no account, no amount, no text', async () => {
  const needles = {
    alice: told.alice.accountId,
    bob: told.bob.accountId,
    customer: 'customer-3',
    amount: '7777.125',
    small: '100.5',
    metadata: '{"a":"é"}',
    key: 'load second 3 1',
    signed: 'to_account_id',
  }
  const tables = await ledger.sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  const readable: string[] = []
  for (const { name } of tables) {
    const rows = await ledger.sql<{ text: string }[]>`SELECT t::text AS text FROM ${ledger.sql(name)} t`
    for (const { text } of rows) readable.push(...found(needles, Buffer.from(text)).map((what) => `${name}: ${what}`))
  }
  expect([...new Set(readable)]).toEqual([])
})

test('reads are the same as before, for whoever began to read before and for whoever begins now', async () => {
  await early.vault.follow?.(ledger.sql)
  expect(await everythingRead(early.reads)).toEqual(before)
  const late = readsWith(await vaultOf(ledger.url))
  expect(await everythingRead(late.reads)).toEqual(before)
  await late.reads.close()
})

test('clients are as they were, for whoever began to read before, and each is sealed', async () => {
  const expected = [clients.kept, clients.made, { ...clients.revoked, revokedAtMs: REVOKED_AT_MS }]
  for (const vault of [early.vault, await vaultOf(ledger.url)]) {
    const access = createAccessStore({ url: ledger.url, vault })
    expect(await access.listClients()).toEqual(expected)
    await access.close()
  }
  const plain = ledger.sql`UPDATE clients SET document = convert_to('{}', 'UTF8') WHERE client_id = 'kept'`
  await expect(plain).rejects.toThrow(/clients_encrypted/)
})

test('from then on a plain text is refused, also by a process that was started before', async () => {
  await early.vault.follow?.(ledger.sql)
  const place = placeOf('accounts', 1)
  expect(() => early.vault.open(accountKeyName('a'), place, Buffer.from('{}'))).toThrow(UnreadableRow)
})

test('two runs at once: one is refused', async () => {
  const other = await connect({ url: ledger.url, applicationName: 'ledger encrypt' })
  await other.sql`SELECT pg_advisory_lock(7810198402634810716)`
  await expect(encrypt()).rejects.toThrow(EncryptionUnderWay)
  await other.end()
})
