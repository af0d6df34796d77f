/**
 * Goal: each rule that an audit holds transactions and NFTs to is broken alone, with every hash around it made anew, and told: what another
 * rule would find as well must not hide that this one is not looked at.
 */
import { describe, expect, test } from 'vitest'
import {
  type InstanceHead,
  type NamedTransaction,
  ProvenanceWalk,
  type WalkedEvent,
} from '../../../runtime/audit/provenance-walk.ts'
import { type StoredTransaction, transactionProblem } from '../../../runtime/audit/transaction-check.ts'
import { chainHash, GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { InstanceState } from '../../../actors/nft-instance/state.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import { SALT, START_MS } from '../../support/accounts.ts'

const ALICE = 'alice'

describe('transactions', () => {
  const payload = '{"amount":"10"}'
  const record: TransactionRecord = {
    txnId: 'txn_1',
    accountId: ALICE,
    shardId: 7,
    type: 'exchange',
    amount: '10.0',
    tokenId: 'cls_x/one',
    groupId: '4a1c1b1e-6a38-4a9e-8f58-0c8b1e1d2f3a',
    status: 'completed',
    failure: null,
    origin: 'client',
    metadata: { b: '1', a: '2' },
    toAccountId: 'bob',
    fromAccountId: 'carol',
    receive: { tokenId: 'EUR', amount: '3' },
    compensates: 'txn_0',
    counterTxnId: 'txn_2',
    createdAtMs: START_MS,
    processedAtMs: START_MS + 1,
    sequence: 4,
    previousHash: GENESIS,
    auditHash: sha256Hex('audit'),
    idempotencyKey: 'key',
    payloadHash: sha256Hex(payload),
    keyId: 'key-1',
  }
  const members: JsonObject = {
    account_id: ALICE,
    amount: '10.0',
    class_id: 'cls_x',
    compensates: 'txn_0',
    counter_txn_id: 'txn_2',
    created_at: isoTimestamp(START_MS),
    format: 1,
    from_account_id: 'carol',
    group_id: '4a1c1b1e-6a38-4a9e-8f58-0c8b1e1d2f3a',
    instance_id: 'one',
    key_id: 'key-1',
    kind: 'transaction',
    metadata: { a: '2', b: '1' },
    nft_count: 3,
    origin: 'client',
    processed_at: isoTimestamp(START_MS + 1),
    receive: { amount: '3', token_id: 'EUR' },
    received_balance: '33',
    salt: SALT,
    sequence: 4,
    shard_id: 7,
    submission_hash: sha256Hex(payload),
    to_account_id: 'bob',
    txn_id: 'txn_1',
    type: 'exchange',
  }
  const entry = {
    txnId: 'txn_1',
    previousHash: GENESIS,
    auditHash: sha256Hex('audit'),
    payload: canonicalJson(members),
  }
  const stored: StoredTransaction = { transaction: record, searchable: true, payload, accountExists: true, entry }
  const of = (changes: Partial<TransactionRecord>): Partial<StoredTransaction> => ({
    transaction: { ...record, ...changes },
  })
  const failed = { status: 'failed', failure: { code: 'expired', detail: '' } } as const
  const outside = { sequence: null, previousHash: null, auditHash: null }

  test('Y1: a completed one that its entry says the same of is sound, and so is a failed one without an entry', () => {
    expect(transactionProblem(stored)).toBeUndefined()
    expect(transactionProblem({ ...stored, ...of({ ...failed, ...outside }), entry: null })).toBeUndefined()
  })

  const broken: readonly (readonly [string, Partial<StoredTransaction>])[] = [
    ['its account is not there', { accountExists: false }],
    ['its payload is not what was submitted', { payload: '{}' }],
    ['its amount is no quantity', of({ amount: '1e1' })],
    ['it is found by another amount than its own', { searchable: false }],
    ['it failed and has a place in the chain', of({ ...failed, ...outside, sequence: 4 })],
    ['it failed and has a place in the chain', of({ ...failed, ...outside, previousHash: GENESIS })],
    ['it failed and has a place in the chain', of({ ...failed, ...outside, auditHash: GENESIS })],
    ['it failed for no reason', of({ ...failed, ...outside, failure: null })],
    ['it is completed and says why it failed', of({ failure: failed.failure })],
    ['its entry is not there', { entry: null }],
    ['the entry at its place is of another transaction', { entry: { ...entry, txnId: 'txn_9' } }],
    ['its hashes are not those of its entry', { entry: { ...entry, auditHash: GENESIS } }],
    ['its hashes are not those of its entry', { entry: { ...entry, previousHash: sha256Hex('x') } }],
    ['its entry cannot be read', { entry: { ...entry, payload: '{' } }],
  ]
  test.for(broken)('Y1, Y2: %s', ([problem, changes]) => {
    expect(transactionProblem({ ...stored, ...changes })).toBe(problem)
  })

  test('Y1: each member that its entry has is held to, and none that the entry lacks is made up', () => {
    const alone = new Set(['nft_count', 'received_balance', 'salt'])
    for (const name of Object.keys(members)) {
      const { [name]: _, ...others } = members
      for (const changed of [others, { ...members, [name]: 'x' }]) {
        const told = transactionProblem({ ...stored, entry: { ...entry, payload: canonicalJson(changed) } })
        expect([name, told]).toEqual([name, alone.has(name) ? undefined : 'its entry says something else'])
      }
    }
    const more = canonicalJson({ ...members, more: 1 })
    expect(transactionProblem({ ...stored, entry: { ...entry, payload: more } })).toBe('its entry says something else')
  })
})

const NFT = 'cls_x/one'

/** An entry of a history in which every hash holds. `members`: what its payload says otherwise. */
function event(previousHash: string, fields: Partial<WalkedEvent>, members: JsonObject = {}): WalkedEvent {
  const { number = 0, type = 'mint', from = null, to = ALICE, txnId = 'txn_1', transaction } = fields
  const payload = canonicalJson({
    class_id: 'cls_x',
    format: 1,
    from,
    instance_id: 'one',
    number,
    salt: SALT,
    timestamp: isoTimestamp(START_MS),
    to,
    txn_id: txnId,
    type,
    ...members,
  })
  const named: NamedTransaction = {
    accountId: from ?? 'issuer',
    tokenId: NFT,
    status: 'completed',
    type,
    receiptProblem: undefined,
  }
  return {
    number,
    type,
    from,
    to,
    txnId,
    atMs: START_MS,
    previousHash,
    eventHash: chainHash(previousHash, payload),
    payload,
    transaction: transaction === undefined ? named : transaction,
  }
}

/** What is said of each entry. */
function told(...fields: readonly Partial<WalkedEvent>[]): readonly (string | undefined)[] {
  const walk = new ProvenanceWalk(NFT, 'issuer')
  let previous = GENESIS
  return fields.map((some, number) => {
    const next = event(previous, { number, ...some })
    previous = next.eventHash
    return walk.take(next)?.problem
  })
}

describe('the history of an NFT', () => {
  const mint = {}
  const toBob = { type: 'transfer', from: 'alice', to: 'bob' } as const
  const of = (changes: Partial<NamedTransaction>): WalkedEvent['transaction'] => {
    return {
      accountId: 'alice',
      tokenId: NFT,
      status: 'completed',
      type: 'transfer',
      receiptProblem: undefined,
      ...changes,
    }
  }

  test('N2: goes from a mint by its issuer from owner to owner, a burn at its end', () => {
    expect(told(mint, toBob, { type: 'burn', from: 'bob', to: 'bob' })).toEqual([undefined, undefined, undefined])
    expect(told(mint, { ...toBob, from: 'carol' })[1]).toBe('it does not pass on from the owner before it')
    expect(told(mint, mint)[1]).toBe('only the first entry is the mint')
    expect(told({ ...toBob, from: null })[0]).toBe('only the first entry is the mint')
    expect(told(mint, { type: 'burn', from: 'alice', to: 'bob' })[1]).toBe('it is a burn that passes it on')
    const after = told(mint, { type: 'burn', from: 'alice', to: 'alice' }, toBob)
    expect(after[2]).toBe('it comes after the burn')
  })

  test('N3: each entry has its transaction; a decided one may be pending, that of a mint may still come', () => {
    const second = (transaction: WalkedEvent['transaction']) => told(mint, { ...toBob, transaction })[1]
    expect(second(of({ status: 'pending' }))).toBeUndefined()
    expect(second(of({ type: 'exchange' }))).toBeUndefined()
    expect(second(of({ status: 'failed' }))).toBe('its transaction failed')
    expect(second(of({ accountId: 'bob' }))).toBe('its transaction is not of who gave it away')
    expect(second(of({ tokenId: `${NFT}x` }))).toBe('its transaction is of something else')
    expect(second(of({ type: 'credit' }))).toBe('its transaction is of another type')
    expect(second(of({ receiptProblem: 'its receipt does not verify' }))).toBe('its receipt does not verify')
    expect(second(null)).toBe('its transaction is not there')
    expect(second('on_its_way')).toBe('its transaction is not there')
    expect(told({ transaction: 'on_its_way' })[0]).toBeUndefined()
    expect(told({ transaction: of({ accountId: 'alice', type: 'mint' }) })[0]).toBe(
      'its transaction is not of who gave it away',
    )
  })
})

describe('NFTs', () => {
  const mint = (members: JsonObject = {}): WalkedEvent => event(GENESIS, {}, members)
  const state = {
    id: NFT,
    status: 'active',
    issuer: 'issuer',
    owner: ALICE,
    events: 1,
    tip: mint().eventHash,
  } as unknown as InstanceState
  const head: InstanceHead = {
    state,
    status: 'active',
    owner: ALICE,
    classId: 'cls_x',
    lastEvent: 0,
    classIssuer: 'issuer',
  }
  const end = (changes: Partial<InstanceHead>, events: readonly WalkedEvent[] = [mint()]) => {
    const walk = new ProvenanceWalk(NFT, 'issuer')
    for (const event of events) expect(walk.take(event)).toBeUndefined()
    return walk.finish({ ...head, ...changes }).map(({ problem }) => problem)
  }

  test('N4: one whose history ends with its owner is sound, as is one that is still being minted', () => {
    expect(end({})).toEqual([])
    const minting = { ...state, status: 'minting' as const, events: 0, tip: GENESIS }
    expect(end({ state: minting, status: 'minting', owner: null, lastEvent: null }, [])).toEqual([])
  })

  test('N1: every member of an entry says what the columns beside it say', () => {
    for (const name of Object.keys(JSON.parse(mint().payload) as JsonObject)) {
      const problem = new ProvenanceWalk(NFT, 'issuer').take(mint({ [name]: name === 'salt' ? 1 : 'x' }))?.problem
      const expected = name === 'salt' ? 'its payload has no salt' : 'its payload says something else than its columns'
      expect([name, problem]).toEqual([name, expected])
    }
    const walk = new ProvenanceWalk(NFT, 'issuer')
    const payload = '[]'
    const eventHash = chainHash(GENESIS, payload)
    expect(walk.take({ ...mint(), payload, eventHash })?.problem).toBe('its payload is no JSON object')
  })

  test('N1: an entry that does not follow the one before is told', () => {
    const problem = (changes: Partial<WalkedEvent>): string | undefined =>
      new ProvenanceWalk(NFT, 'issuer').take({ ...mint(), ...changes })?.problem
    const elsewhere = sha256Hex('x')
    expect(problem({ previousHash: elsewhere, eventHash: chainHash(elsewhere, mint().payload) })).toBe(
      'its previous_hash is not the hash of the entry before',
    )
    expect(problem({ eventHash: elsewhere })).toBe('its hash does not follow from its payload')
    expect(problem({ number: 1 })).toBe('it is missing')
  })

  const broken: readonly (readonly [string, Partial<InstanceHead>])[] = [
    ['its document cannot be read', { state: undefined }],
    ['its document says something else than its row', { status: 'held' }],
    ['its document says something else than its row', { state: { ...state, id: 'cls_x/two' } }],
    ['its row names another class', { classId: 'cls_y' }],
    ['its issuer is not the issuer of its class', { classIssuer: undefined }],
    ['its issuer is not the issuer of its class', { state: { ...state, issuer: 'mallory' } }],
    ['its history has another length', { state: { ...state, events: 2 } }],
    ['its history has another length', { lastEvent: 1 }],
    ['its tip is not the hash of its last entry', { state: { ...state, tip: GENESIS } }],
    ['its owner is not the one that its history ends with', { state: { ...state, owner: 'mallory' } }],
    [
      'its status is not the one that its history ends with',
      { state: { ...state, status: 'burned' }, status: 'burned', owner: null },
    ],
    ['its row names another owner', { owner: 'mallory' }],
    ['its row names another owner', { owner: null }],
    ['it is being minted and has a history', { state: { ...state, status: 'minting' }, status: 'minting' }],
  ]
  test.for(broken)('N4: %s', ([problem, changes]) => {
    expect(end(changes)).toEqual([problem])
  })

  test('N4: one that is being minted has no owner beside its document', () => {
    const minting = { ...state, status: 'minting' as const, events: 0, tip: GENESIS }
    expect(end({ state: minting, status: 'minting', lastEvent: null }, [])).toEqual([
      'it is being minted and has a history',
    ])
  })
})
