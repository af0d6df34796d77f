/**
 * Goal: each rule that an audit holds rows to is broken alone, with every hash around it made anew, and told: what another
 * rule would find as well must not hide that this one is not looked at.
 */
import { describe, expect, test } from 'vitest'
import {
  type AccountHead,
  ChainWalk,
  type LinkedTransaction,
  type WalkedEntry,
} from '../../../actors/audit/chain-walk.ts'
import { type InstanceHead, ProvenanceWalk, type WalkedEvent } from '../../../actors/audit/provenance-walk.ts'
import { type StoredTransaction, transactionProblem } from '../../../actors/audit/transaction-check.ts'
import { chainHash, GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { InstanceState } from '../../../actors/nft-instance/state.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import { SALT, START_MS } from '../../support/accounts.ts'
import { legHold } from '../../support/ledger-rows-values.ts'

const ALICE = 'alice'

/** What an entry has beside what its payload says. */
interface Given extends Partial<Omit<WalkedEntry, 'payload'>> {
  readonly members?: JsonObject
  readonly payload?: string
}

const REGISTRATION = { kind: 'registration', key_id: 'key-1', public_key: 'public-1' }
const CREDIT = { kind: 'transaction', type: 'credit', amount: '10', balance: '10', token_id: 'EUR', group_id: null }
const FROZEN = { kind: 'status_change', status: 'frozen', incoming: 'refuse', reason: 'r' }
const ROTATED = { kind: 'key_rotation', key_id: 'key-2', public_key: 'public-2' }

/** A chain that holds: each given entry follows the one before, whatever else is said of it. */
function chainOf(...given: readonly Given[]): readonly WalkedEntry[] {
  let previous = GENESIS
  return given.map((one, index) => {
    const { sequence = index, members = {} } = one
    const txnId = one.txnId ?? (members['kind'] === 'transaction' ? `txn_${index}` : null)
    const payload =
      one.payload ?? canonicalJson({ account_id: ALICE, format: 1, salt: SALT, sequence, txn_id: txnId, ...members })
    const previousHash = one.previousHash ?? previous
    const auditHash = one.auditHash ?? chainHash(previousHash, payload)
    previous = auditHash
    const linked: LinkedTransaction = { accountId: ALICE, status: 'completed', sequence, auditHash }
    const transaction = one.transaction === undefined ? (txnId === null ? null : linked) : one.transaction
    return { sequence, txnId, previousHash, auditHash, payload, transaction }
  })
}

function said(entries: readonly WalkedEntry[]): readonly (string | undefined)[] {
  const walk = new ChainWalk(ALICE)
  return entries.map((entry) => walk.take(entry)?.problem)
}

/** Of the last entry, when the registration and a credit came before it. */
function saidOf(given: Given): string | undefined {
  const entries = chainOf({ members: REGISTRATION }, { members: CREDIT }, given)
  const problems = said(entries)
  expect(problems.slice(0, 2)).toEqual([undefined, undefined])
  return problems.at(-1)
}

describe('entries', () => {
  test('W1: a sound chain is', () => {
    const entries = [REGISTRATION, CREDIT, FROZEN, ROTATED].map((members) => ({ members }))
    expect(said(chainOf(...entries))).toEqual(entries.map(() => undefined))
  })

  const broken: readonly (readonly [string, Given])[] = [
    ['it is missing', { members: FROZEN, sequence: 3 }],
    ['its previous_hash is not the hash of the entry before', { members: FROZEN, previousHash: sha256Hex('x') }],
    ['its audit_hash does not follow from its payload', { members: FROZEN, auditHash: sha256Hex('x') }],
    ['its payload is no JSON object', { payload: '[]' }],
    ['its payload is in an unknown format', { members: { ...FROZEN, format: 2 } }],
    ['its payload was written for another account', { members: { ...FROZEN, account_id: 'bob' } }],
    ['its payload was written for another sequence', { members: { ...FROZEN, sequence: 7 } }],
    ['its payload was written for another transaction', { members: { ...CREDIT, txn_id: 'txn_x' } }],
    ['its payload is of another kind', { members: FROZEN, txnId: 'txn_9' }],
    ['its place is not that of a registration', { members: REGISTRATION }],
    ['its transaction is not there', { members: { ...CREDIT, balance: '20' }, transaction: null }],
    [
      'its transaction is of another account',
      { members: CREDIT, transaction: { accountId: 'bob', status: 'completed', sequence: 2, auditHash: null } },
    ],
    [
      'its transaction is not completed',
      { members: CREDIT, transaction: { accountId: ALICE, status: 'pending', sequence: 2, auditHash: null } },
    ],
    [
      'its transaction has another place in the chain',
      { members: CREDIT, transaction: { accountId: ALICE, status: 'completed', sequence: 2, auditHash: GENESIS } },
    ],
    ['its balance does not follow from the entries up to it', { members: CREDIT }],
  ]
  test.for(broken)('W1, W2: %s', ([problem, given]) => {
    expect(saidOf(given)).toBe(problem)
  })

  test('W1: a chain begins with its registration', () => {
    expect(said(chainOf({ members: FROZEN }))).toEqual(['its place is not that of a registration'])
  })

  test('W2: a place of its transaction that is another sequence is told', () => {
    const [, second] = chainOf({ members: REGISTRATION }, { members: CREDIT })
    if (second?.transaction === undefined || second.transaction === null) throw new Error('it has a transaction')
    const elsewhere = { ...second, transaction: { ...second.transaction, sequence: 9 } }
    const [first] = chainOf({ members: REGISTRATION })
    expect(first === undefined ? [] : said([first, elsewhere])).toEqual([
      undefined,
      'its transaction has another place in the chain',
    ])
  })
})

const BALANCE = { tokenId: 'EUR', balance: '10', reserved: '0', incoming: '0' }

describe('accounts', () => {
  const entries = chainOf({ members: REGISTRATION }, { members: CREDIT }, { members: FROZEN }, { members: ROTATED })
  const sound: AccountHead = {
    sequence: 3,
    tip: entries.at(-1)?.auditHash ?? '',
    lastEntry: 3,
    facts: { keyId: 'key-2', publicKey: 'public-2', status: 'frozen', incoming: 'refuse' },
    balances: [BALANCE],
    holds: [],
  }
  const end = (head: Partial<AccountHead>, walked = entries): readonly string[] => {
    const walk = new ChainWalk(ALICE)
    for (const entry of walked) walk.take(entry)
    return walk.finish({ ...sound, ...head }).map(({ subject, place, problem }) => `${subject} ${place}: ${problem}`)
  }
  const facts = (changes: Partial<AccountHead['facts']>) => ({ facts: { ...sound.facts, ...changes } })
  const balances = (changes: Partial<typeof BALANCE>) => ({ balances: [{ ...BALANCE, ...changes }] })

  test('W3: a sound account is', () => {
    expect(end({})).toEqual([])
  })

  const chain: readonly (readonly [string, Partial<AccountHead>])[] = [
    ['its last entry is 4, the account says 3', { lastEntry: 4 }],
    ['its last entry is missing, the account says 3', { lastEntry: null }],
    ['its chain ends with 3, the account says 4', { sequence: 4, lastEntry: 4 }],
    ['its tip is not the hash of its last entry', { tip: GENESIS }],
    ['its key_id is not what its chain says', facts({ keyId: 'key-1' })],
    ['its public_key is not what its chain says', facts({ publicKey: 'mine' })],
    ['its status is not what its chain says', facts({ status: 'active' })],
    ['its incoming is not what its chain says', facts({ incoming: 'accept' })],
  ]
  test.for(chain)('W3: %s', ([problem, head]) => {
    expect(end(head)).toEqual([`chains_verify account alice: ${problem}`])
  })

  const leg = legHold({ terms: { ...legHold().terms, type: 'burn', amount: '4', tokenId: 'EUR' } })
  const value: readonly (readonly [string, Partial<AccountHead>])[] = [
    ['EUR: it is not what its chain sums up to', balances({ balance: '10.000000000000000001' })],
    ['EUR: it is below zero, or below what is reserved of it', balances({ balance: '-10' })],
    ['EUR: it is below zero, or below what is reserved of it', balances({ balance: 'NaN' })],
    ['EUR: it is below zero, or below what is reserved of it', balances({ reserved: '11' })],
    ['EUR: it is below zero, or below what is reserved of it', balances({ reserved: '-1' })],
    ['EUR: it is below zero, or below what is reserved of it', balances({ balance: '11', incoming: '-1' })],
    ['EUR: what is reserved is not what is unfinished', balances({ reserved: '1' })],
    ['EUR: what is reserved is not what is unfinished', { holds: [leg] }],
    ['EUR: what is incoming is not what is unfinished', balances({ balance: '9', incoming: '1' })],
    ['EUR: it is not what its chain sums up to', { ...balances({ reserved: '4' }), holds: [leg] }],
    ['holds: what is unfinished at the account cannot be read', { holds: undefined }],
    ['EUR: there is no balance of what has moved', { balances: [] }],
  ]
  test.for(value)('W3: %s', ([problem, head]) => {
    expect(end(head)).toEqual([`no_negative_balance account alice, ${problem}`])
  })

  test('W3: what a leg is about to burn is still in the balance', () => {
    expect(end({ ...balances({ balance: '14', reserved: '4' }), holds: [leg] })).toEqual([])
  })

  test('W3: nothing is concluded from a chain that is broken, but that no balance is below zero', () => {
    const broken = chainOf({ members: REGISTRATION }, { members: CREDIT, auditHash: sha256Hex('x') })
    const head = { ...facts({ status: 'closed' }), sequence: 1, lastEntry: 1, tip: sha256Hex('x') }
    expect(end({ ...head, ...balances({ balance: '1000' }) }, broken)).toEqual([])
    expect(end({ ...head, ...balances({ balance: '-1' }) }, broken)).toHaveLength(1)
  })

  test('G2: a walk that was written down in the middle ends as one that was not', () => {
    const walk = new ChainWalk(ALICE)
    for (const entry of entries.slice(0, 2)) walk.take(entry)
    const again = new ChainWalk(ALICE, JSON.parse(JSON.stringify(walk.stored())) as ReturnType<ChainWalk['stored']>)
    for (const entry of entries.slice(2)) expect(again.take(entry)).toBeUndefined()
    expect(again.finish(sound)).toEqual([])
  })
})

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
  const stored: StoredTransaction = { transaction: record, quantity: '10', payload, accountExists: true, entry }
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
    ['its quantity is not its amount', { quantity: '10.1' }],
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

describe('NFTs', () => {
  const nftId = 'cls_x/one'
  const members = {
    class_id: 'cls_x',
    format: 1,
    from: null,
    instance_id: 'one',
    number: 0,
    salt: SALT,
    timestamp: isoTimestamp(START_MS),
    to: ALICE,
    txn_id: 'txn_1',
    type: 'mint',
  }
  const mint = (changes: JsonObject = {}): WalkedEvent => {
    const payload = canonicalJson({ ...members, ...changes })
    return {
      number: 0,
      type: 'mint',
      from: null,
      to: ALICE,
      txnId: 'txn_1',
      atMs: START_MS,
      previousHash: GENESIS,
      eventHash: chainHash(GENESIS, payload),
      payload,
      transaction: {
        accountId: 'issuer',
        tokenId: nftId,
        status: 'completed',
        type: 'mint',
        receiptProblem: undefined,
      },
    }
  }
  const state = {
    id: nftId,
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
    const walk = new ProvenanceWalk(nftId, 'issuer')
    for (const event of events) expect(walk.take(event)).toBeUndefined()
    return walk.finish({ ...head, ...changes }).map(({ problem }) => problem)
  }

  test('N4: one whose history ends with its owner is sound, as is one that is still being minted', () => {
    expect(end({})).toEqual([])
    const minting = { ...state, status: 'minting' as const, events: 0, tip: GENESIS }
    expect(end({ state: minting, status: 'minting', owner: null, lastEvent: null }, [])).toEqual([])
  })

  test('N1: every member of an entry says what the columns beside it say', () => {
    for (const name of Object.keys(members)) {
      const problem = new ProvenanceWalk(nftId, 'issuer').take(mint({ [name]: name === 'salt' ? 1 : 'x' }))?.problem
      const expected = name === 'salt' ? 'its payload has no salt' : 'its payload says something else than its columns'
      expect([name, problem]).toEqual([name, expected])
    }
    const walk = new ProvenanceWalk(nftId, 'issuer')
    const payload = '[]'
    const eventHash = chainHash(GENESIS, payload)
    expect(walk.take({ ...mint(), payload, eventHash })?.problem).toBe('its payload is no JSON object')
  })

  test('N1: an entry that does not follow the one before is told', () => {
    const problem = (changes: Partial<WalkedEvent>): string | undefined =>
      new ProvenanceWalk(nftId, 'issuer').take({ ...mint(), ...changes })?.problem
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
