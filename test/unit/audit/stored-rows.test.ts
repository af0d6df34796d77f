/**
 * An audit reports each broken rule of transactions and NFTs. Each case breaks one rule and recomputes every hash
 * around it, so that no other rule reports the fault.
 */
import { describe, expect, test } from 'vitest'
import {
  type InstanceHead,
  type NamedTransaction,
  ProvenanceWalk,
  type WalkedEvent,
} from '../../../runtime/audit/provenance-walk.ts'
import { refundProblem, transactionProblem } from '../../../runtime/audit/transaction-check.ts'
import { entryPayload } from '../../../actors/account/record.ts'
import { chainHash, GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { EntryDetails, Transaction } from '../../../actors/account/transaction.ts'
import { SALT, START_MS } from '../../support/accounts.ts'
import { chained } from '../../support/chain.ts'
import { instanceState } from '../../support/postgres/ledger-rows-nfts.ts'

const ALICE = 'alice'
const HASHED = 'its audit_hash does not follow from what it says'

describe('transactions', () => {
  const ordered: Transaction = {
    txnId: 'txn_1',
    accountId: ALICE,
    shardId: 7,
    type: 'exchange',
    amount: '10.0',
    tokenId: 'cls_x/one',
    groupId: '4a1c1b1e-6a38-4a9e-8f58-0c8b1e1d2f3a',
    status: 'pending',
    failure: null,
    origin: 'client',
    metadata: { b: '1', a: '2' },
    toAccountId: 'bob',
    fromAccountId: 'carol',
    receive: { tokenId: 'EUR', amount: '3' },
    compensates: 'txn_0',
    refunds: null,
    counterTxnId: 'txn_2',
    createdAtMs: START_MS,
    processedAtMs: null,
    sequence: null,
    previousHash: null,
    auditHash: null,
    entry: null,
    idempotencyKey: 'key',
    payload: '{"amount":"10"}',
    payloadHash: sha256Hex('{"amount":"10"}'),
    signature: 'signature',
    keyId: 'key-1',
  }
  const { transaction: completed } = chained({ sequence: 3, tip: GENESIS }, ordered, START_MS + 1, SALT)
  const failure = { code: 'expired', detail: '' } as const
  const failed: Transaction = { ...ordered, status: 'failed', failure, processedAtMs: START_MS + 1 }

  test('a completed one with its audit_hash and a failed one without are valid', () => {
    expect(transactionProblem(completed)).toBeUndefined()
    expect(transactionProblem(failed)).toBeUndefined()
  })

  const broken: readonly (readonly [string, Transaction])[] = [
    ['its amount is no quantity', { ...completed, amount: '1e1' }],
    ['it failed and has a place in the chain', { ...failed, sequence: 4 }],
    ['it failed and has a place in the chain', { ...failed, previousHash: GENESIS }],
    ['it failed and has a place in the chain', { ...failed, auditHash: GENESIS }],
    ['it failed for no reason', { ...failed, failure: null }],
    ['it is completed and says why it failed', { ...completed, failure }],
    ['it is completed and in no chain', { ...completed, entry: null }],
    ['it is completed and in no chain', { ...completed, previousHash: null }],
    ['it is completed and in no chain', { ...completed, auditHash: null }],
    [HASHED, { ...completed, auditHash: GENESIS }],
    [HASHED, { ...completed, previousHash: sha256Hex('x') }],
  ]
  test.for(broken)('%s', ([problem, transaction]) => {
    expect(transactionProblem(transaction)).toBe(problem)
  })

  const others: Partial<Transaction> = {
    txnId: 'txn_9',
    accountId: 'eve',
    shardId: 8,
    type: 'transfer',
    amount: '10',
    tokenId: 'cls_x/two',
    groupId: null,
    origin: 'ledger',
    metadata: { a: '2' },
    toAccountId: 'eve',
    fromAccountId: null,
    receive: { tokenId: 'EUR', amount: '4' },
    compensates: null,
    refunds: 'txn_7',
    counterTxnId: 'txn_3',
    createdAtMs: START_MS + 1,
    processedAtMs: START_MS + 2,
    sequence: 5,
    payloadHash: sha256Hex('{}'),
    keyId: 'key-2',
  }
  test.for(Object.entries(others))('its audit_hash covers its %s', ([name, value]) => {
    expect(transactionProblem({ ...completed, [name]: value })).toBe(HASHED)
  })

  test.for([
    'salt',
    'balance',
    'available',
    'incoming',
    'receivedBalance',
    'receivedAvailable',
    'receivedIncoming',
  ] as const)('its audit_hash covers the %s', (name) => {
    const received = { receivedBalance: '5', receivedAvailable: '4', receivedIncoming: '3' }
    const balances = { balance: '7', available: '6', incoming: '1', ...received }
    const entry: EntryDetails = { format: 2, salt: SALT, ...balances }
    const exchange = { ...completed, tokenId: 'GOLD', receive: { tokenId: 'EUR', amount: '4' }, entry }
    const whole = { ...exchange, auditHash: chainHash(GENESIS, entryPayload(exchange)) }
    expect(transactionProblem(whole)).toBeUndefined()
    expect(transactionProblem({ ...whole, entry: { ...entry, [name]: '8' } })).toBe(HASHED)
  })
})

const NFT = 'cls_x/one'

/** An entry of a history with valid hashes. `members`: changes of its payload. */
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

/** Problems of the entries. */
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

  test('N3: each entry has its transaction; it may be pending, and that of a mint may be in transit', () => {
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
  const ended = { status: 'active', owner: ALICE, hold: null, events: 1, tip: mint().eventHash } as const
  const state = instanceState({ id: NFT, issuer: 'issuer', ...ended })
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

  test('N4: an NFT with its owner at the end of its history is valid, and one being minted is, too', () => {
    expect(end({})).toEqual([])
    const minting = { ...state, status: 'minting' as const, events: 0, tip: GENESIS }
    expect(end({ state: minting, status: 'minting', owner: null, lastEvent: null }, [])).toEqual([])
  })

  test('N1: every member of an entry must match its column', () => {
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

  test('N1: an entry that does not follow the one before is a finding', () => {
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

test.for([
  [null, undefined],
  ['2', undefined],
  ['2.5', undefined],
  ['2.500000000000000001', 'its refunds exceed its amount'],
  ['-1', 'the sum of its refunds is no quantity'],
] as const)('D26: refunds of %s of a transfer of 2.5', ([refunded, problem]) => {
  expect(refundProblem({ amount: '2.5', status: 'completed' }, refunded)).toBe(problem)
  const failed = refundProblem({ amount: '2.5', status: 'failed' }, refunded)
  expect(failed).toBe(refunded === null ? undefined : 'it did not complete and was refunded')
})
