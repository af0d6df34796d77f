/** Reads of PostgreSQL: the contract over rows that the ledger store wrote, and properties of its tables. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EntryDetails, Transaction } from '../../../actors/account/transaction.ts'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { receiptPayload } from '../../../api/schemas/responses/transaction.ts'
import { type PostgresLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { ReadsUnavailable, type SignedReceipt } from '../../../runtime/ports/ledger-reads.ts'
import {
  CLASS_ID,
  classIdOf,
  classState,
  historyOf,
  instanceState,
  NFT_ID,
} from '../../support/postgres/ledger-rows-nfts.ts'
import { SALT } from '../../support/postgres/ledger-rows.ts'
import { groupState, tokenState } from '../../support/postgres/ledger-rows-values.ts'
import { rewriteActors, rewriteTransaction } from '../../support/postgres/sealed-rows.ts'
import { ledgerReadsContract } from './ledger-reads.contract.ts'
import { createPostgresSubject, type PostgresSubject, shardOf } from './ledger-reads-postgres-subject.ts'
import { createBook, type Order } from './ledger-reads-rows.ts'
import { aQuery, receiptSignatureOf, SEED_START_MS } from './ledger-reads-scene.ts'

ledgerReadsContract('PostgreSQL', createPostgresSubject)

/** Members of a receipt that no row has. */
const STORED_NOWHERE = ['ledger_id']

const OTHER_ENTRY: EntryDetails = {
  format: 2,
  salt: SALT,
  balance: '1.5',
  available: '0.5',
  incoming: null,
  receivedBalance: null,
  receivedAvailable: null,
  receivedIncoming: null,
}

interface ReceiptChange {
  readonly to?: Partial<Transaction>
  readonly keyId?: string
}

/** For each stored member of a receipt, another value of the field that it shows. */
const RECEIPT_CHANGES: Readonly<Record<string, ReceiptChange>> = {
  account_id: { to: { accountId: 'other' } },
  amount: { to: { amount: '6' } },
  audit_hash: { to: { auditHash: 'ab'.repeat(32) } },
  available_after: { to: { entry: OTHER_ENTRY } },
  balance_after: { to: { entry: OTHER_ENTRY } },
  class_id: { to: { tokenId: `${classIdOf(1)}/no:1` } },
  compensates: { to: { compensates: 'txn_2' } },
  refunds: { to: { refunds: 'txn_2' } },
  hold_id: { to: { holdId: 'hld_2' } },
  counter_txn_id: { to: { counterTxnId: 'txn_3' } },
  created_at: { to: { createdAtMs: 1_000 } },
  failure: { to: { failure: { code: 'expired', detail: '' } } },
  format: { to: { entry: { ...OTHER_ENTRY, format: 1, available: null } } },
  from_account_id: { to: { fromAccountId: 'other' } },
  group_id: { to: { groupId: null } },
  instance_id: { to: { tokenId: `${CLASS_ID}/no:2` } },
  key_id: { keyId: 'another' },
  metadata: { to: { metadata: {} } },
  origin: { to: { origin: 'ledger' } },
  previous_hash: { to: { previousHash: 'ab'.repeat(32) } },
  processed_at: { to: { processedAtMs: 1_000 } },
  receive: { to: { receive: { tokenId: 'EUR', amount: '2' } } },
  sequence: { to: { sequence: 9 } },
  shard_id: { to: { shardId: -1 } },
  status: { to: { status: 'failed', sequence: null, previousHash: null, auditHash: null } },
  submission_hash: { to: { payload: '{"account_id":"rewritten","idempotency_key":"other"}' } },
  to_account_id: { to: { toAccountId: 'other' } },
  token_id: { to: { tokenId: 'USD' } },
  type: { to: { type: 'debit' } },
}

/** Of the same time and shard. */
function otherId(txnId: string): string {
  return txnId.slice(0, -1) + (txnId.endsWith('1') ? '2' : '1')
}

describe('LedgerReads: PostgreSQL, its tables', () => {
  let subject: PostgresSubject
  let reads: PostgresLedgerReads
  let sql: postgres.Sql
  beforeAll(async () => {
    subject = await createPostgresSubject()
    ;({ reads } = subject)
    sql = postgres(subject.database.url, { max: 3, onnotice: () => undefined })
  })
  afterAll(async () => {
    await sql.end()
    await subject.close()
  })

  let written = 0
  /** A transaction with every optional field that a receipt has. */
  async function writeTransaction(accountId: string, changes: Partial<Order> = {}): Promise<string> {
    const book = createBook(shardOf, receiptSignatureOf)
    await subject.write([
      book.open(accountId, SEED_START_MS),
      book.decide(accountId, {
        atMs: SEED_START_MS + (written += 1),
        amount: '5',
        metadata: { a: 'b' },
        groupId: randomUUID(),
        toAccountId: 'elsewhere',
        fromAccountId: 'elsewhere',
        receive: { tokenId: 'EUR', amount: '1' },
        compensates: 'txn_1',
        refunds: 'txn_1',
        holdId: 'hld_1',
        ...changes,
      }),
    ])
    return book.transactions[0]?.txnId ?? ''
  }

  test('a receipt no longer matches once any stored field of it was changed by a holder of the keys', async () => {
    const checked = new Set(STORED_NOWHERE)
    const withheld: string[] = []
    const nft = { tokenId: NFT_ID, failed: true }
    for (const txnId of [await writeTransaction('rewritten'), await writeTransaction('rewritten.2', nft)]) {
      const original = await reads.receipt(txnId)
      const members = JSON.parse(original?.payload ?? '{}') as JsonObject
      const changed: Record<string, Json> = {}
      for (const member of Object.keys(members).filter((name) => !checked.has(name))) {
        checked.add(member)
        const { to = {}, keyId } =
          member === 'txn_id' ? { to: { txnId: otherId(txnId) } } : (RECEIPT_CHANGES[member] ?? {})
        await sql`CREATE TABLE kept AS SELECT * FROM transactions`
        await rewriteTransaction(sql, subject.vault, txnId, ({ transaction, receipt }) => ({
          transaction: { ...transaction, ...to },
          receipt: receipt && { ...receipt, keyId: keyId ?? receipt.keyId },
        }))
        const found = await reads.receipt(to.txnId ?? txnId).catch((error: unknown) => error)
        if (found === undefined || found instanceof ReadsUnavailable) withheld.push(member)
        else changed[member] = (JSON.parse((found as SignedReceipt).payload) as JsonObject)[member] ?? null
        await sql.unsafe('DELETE FROM transactions; INSERT INTO transactions SELECT * FROM kept; DROP TABLE kept')
      }
      expect(Object.keys(changed).filter((member) => isDeepStrictEqual(changed[member], members[member]))).toEqual([])
      expect(await reads.receipt(txnId)).toEqual(original)
    }
    // A row opens with the key of its own account, and is found in the shard that its ID names.
    expect(withheld).toEqual(['account_id', 'shard_id'])
    expect([...checked].toSorted()).toEqual(Object.keys(receiptPayload.entries).toSorted())
  })

  test('content copied from another row of its table is an error', async () => {
    const [mine, other] = [await writeTransaction('swapped'), await writeTransaction('swapped.2')]
    await sql`
      UPDATE transactions SET document = (SELECT document FROM transactions WHERE txn_id = ${other})
      WHERE txn_id = ${mine}`
    await expect(reads.transaction(mine)).rejects.toThrow(ReadsUnavailable)
    await expect(reads.transactions(aQuery({ accountId: 'swapped' }))).rejects.toThrow(ReadsUnavailable)
    await expect(reads.transactions(aQuery({ accountId: 'swapped', amountMin: '1' }))).rejects.toThrow(ReadsUnavailable)
    expect(await reads.transaction(other)).toBeDefined()
  })

  test('a row that cannot be read is named in the cause of the error, without its content', async () => {
    const txnId = await writeTransaction('named')
    await sql`UPDATE transactions SET document = '{"transaction": secret' WHERE txn_id = ${txnId}`
    const refusal: unknown = await reads.transaction(txnId).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ReadsUnavailable)
    const { cause } = refusal as ReadsUnavailable
    expect(cause).toMatchObject({ name: 'UnreadableRow', message: expect.stringContaining(`transactions`) as unknown })
    expect((cause as Error).message).toContain(txnId)
    expect(JSON.stringify([String(refusal), String(cause), String((cause as Error).cause)])).not.toMatch(
      /secret|named"/,
    )
  })

  test('a balance of a token that was never registered is an error', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    await subject.write([book.open('damaged', SEED_START_MS)])
    await subject.write([book.decide('damaged', { atMs: SEED_START_MS, tokenId: 'GHOST' })])
    await expect(reads.balances('damaged')).rejects.toThrow(ReadsUnavailable)
  })

  test('the row of a group names the commit that ended it, also if that is its first', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    const ids = { open: randomUUID(), ended: randomUUID() }
    const namesCommit = async (id: string): Promise<unknown> => {
      const [row] = await sql`
        SELECT ended_xid IS NOT NULL AS named, ended_xid FROM actors WHERE kind = 'group' AND actor_id = ${id}`
      return row
    }
    await subject.write([
      book.put(groupState({ id: ids.open, status: 'open' })),
      book.put(groupState({ id: ids.ended, status: 'reverted' })),
    ])
    expect(await namesCommit(ids.open)).toMatchObject({ named: false })
    const first = await namesCommit(ids.ended)
    expect(first).toMatchObject({ named: true })
    await subject.write([
      book.put(groupState({ id: ids.open, status: 'settled', version: 2 })),
      book.put(groupState({ id: ids.ended, status: 'reverted', version: 2 })),
    ])
    expect(await namesCommit(ids.open)).toMatchObject({ named: true })
    expect(await namesCommit(ids.ended)).toEqual(first)
  })

  test('documents of another kind or format, and non-documents, are an error', async () => {
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
    const damages: readonly ((state: object) => string)[] = [
      (state) => JSON.stringify({ ...state, format: 2 }),
      (state) => JSON.stringify({ ...state, kind: 'exchange' }),
      () => '{',
    ]
    const ofBook = `a.actor_id IN (${[token, group, ofNfts, instance].map(({ id }) => `'${id}'`).join(', ')})`
    for (const damaged of damages) {
      await rewriteActors(sql, subject.vault, ofBook, damaged)
      for (const read of asked) await expect(read()).rejects.toThrow(ReadsUnavailable)
      await sql`DELETE FROM actors`
      await sql`INSERT INTO actors SELECT * FROM kept`
    }
    await sql`DROP TABLE kept`
    expect(await Promise.all(asked.map((read) => read()))).toEqual(answers)
  })

  test('an NFT of a class that was never registered, and one in the state minting, are errors', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    const [ofNfts, ghost] = [classIdOf(7), classIdOf(8)]
    const classes = [ofNfts, ghost].map((classId) =>
      classState({ id: classId.toLowerCase(), name: classId, classId, status: 'active', description: '' }),
    )
    const instances = [ofNfts, ghost].map((classId) =>
      instanceState({ id: `${classId}/1`, status: 'held', metadata: {} }),
    )
    await subject.write([
      ...['alice', 'bob'].map((accountId) => book.open(accountId, SEED_START_MS)),
      ...classes.map((state) => book.put({ ...state, metadataSchema: {} })),
      ...instances.map((state, index) => book.put({ ...state, owner: index === 0 ? 'alice' : 'bob' })),
    ])
    for (const owner of ['alice', 'bob']) expect((await reads.ownedNfts(owner, null, 1))?.nfts).toHaveLength(1)
    await sql`DELETE FROM actors WHERE kind = 'class' AND class_id = ${ghost}`
    await expect(reads.ownedNfts('bob', null, 1)).rejects.toThrow(ReadsUnavailable)
    await rewriteActors(sql, subject.vault, `a.kind = 'instance' AND a.class_id = '${ofNfts}'`, (state) =>
      JSON.stringify({ ...state, status: 'minting' }),
    )
    await expect(reads.ownedNfts('alice', null, 1)).rejects.toThrow(ReadsUnavailable)
    await expect(reads.instances(ofNfts, null, 1)).rejects.toThrow(ReadsUnavailable)
  })

  test('an NFT whose row names another owner than its document is in no account’s list', async () => {
    const { instance } = await writeNft(9, 'loser')
    const { vault } = subject
    await sql`UPDATE actors SET owner = ${vault.accountRef('winner')} WHERE actor_id = ${instance.id}`
    await subject.write([createBook(shardOf, receiptSignatureOf).open('winner', SEED_START_MS)])
    await expect(reads.ownedNfts('winner', null, 1)).rejects.toThrow(ReadsUnavailable)
    expect(await reads.ownedNfts('loser', null, 1)).toEqual({ nfts: [], next: null })
  })

  test('a history with a column that differs from its entry is an error', async () => {
    const { classId, instance } = await writeNft(10, 'curator')
    const history = await reads.nftHistory(classId, '1', -1, 10)
    expect(history?.events.map(({ from, to }) => [from, to])).toEqual([
      [null, 'issuer'],
      ['issuer', 'curator'],
    ])
    for (const change of [
      "type = 'burn'",
      "to_account_id = 'x'",
      'from_account_id = NULL',
      "txn_id = 'x'",
      "payload = ''",
    ]) {
      await sql.unsafe(
        `CREATE TABLE kept AS SELECT * FROM nft_events; UPDATE nft_events SET ${change} WHERE number = 1`,
      )
      await expect(reads.nftHistory(classId, '1', -1, 10), change).rejects.toThrow(ReadsUnavailable)
      await sql.unsafe('DELETE FROM nft_events; INSERT INTO nft_events SELECT * FROM kept; DROP TABLE kept')
    }
    expect(await reads.nftHistory(classId, '1', -1, 10)).toEqual(history)
    expect(instance.owner).toBe('curator')
  })

  async function writeNft(number: number, owner: string) {
    const book = createBook(shardOf, receiptSignatureOf)
    const classId = classIdOf(number)
    const ofNft = classState({
      id: classId.toLowerCase(),
      name: classId,
      classId,
      status: 'active',
      metadataSchema: {},
    })
    const instance = instanceState({ id: `${classId}/1`, status: 'active', owner, metadata: {} })
    await subject.write([
      book.open(owner, SEED_START_MS),
      book.put(ofNft),
      book.put(instance, ...historyOf(['issuer', owner])),
    ])
    return { classId, instance }
  }

  test('a key without its account is an error, not an omitted filter', async () => {
    await expect(reads.transactions(aQuery({ idempotencyKey: 'key' }))).rejects.toThrow('a key is one of an account')
    await expect(reads.transactions(aQuery({ idempotencyKey: 'key', amountMin: '1' }))).rejects.toThrow(
      'a key is one of an account',
    )
  })

  test('accounts are readable while no node owns their shard, and the reads report whether any shard has an owner', async () => {
    const book = createBook(shardOf, receiptSignatureOf)
    await subject.write([book.open('orphan', SEED_START_MS)])
    await sql`UPDATE shards SET node_id = NULL, session = NULL WHERE shard_id = ${shardOf('orphan')}`
    expect(await reads.account('orphan')).toBeDefined()
    await sql`UPDATE shards SET node_id = 'another', session = 'another' WHERE shard_id <> ${shardOf('orphan')}`
    expect(await reads.anyShardOwned()).toBe(true)
    await sql`UPDATE shards SET node_id = NULL, session = NULL`
    expect(await reads.anyShardOwned()).toBe(false)
  })
})
