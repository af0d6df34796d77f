/**
 * An audit reports each broken rule of chains and accounts. Each case breaks one rule and recomputes every hash
 * around it, so that no other rule reports the fault.
 */
import { describe, expect, test } from 'vitest'
import type { LegHold } from '../../../actors/account/state.ts'
import { type AccountHead, ChainWalk } from '../../../runtime/audit/chain-walk.ts'
import { type EntryPlace, type Holding, newEntryFindings } from '../../../runtime/audit/new-entry.ts'
import { type AuditEntry, chainHash, GENESIS, sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { SALT } from '../../support/accounts.ts'
import { legHold } from '../../support/postgres/ledger-rows-values.ts'

const ALICE = 'alice'

/** Members of an entry besides its payload. */
interface Given extends Partial<Omit<AuditEntry, 'payload'>> {
  readonly members?: JsonObject
  readonly payload?: string
}

const REGISTRATION = { kind: 'registration', key_id: 'key-1', public_key: 'public-1' }
const CREDIT = { kind: 'transaction', type: 'credit', amount: '10', balance: '10', token_id: 'EUR', group_id: null }
const FROZEN = { kind: 'status_change', status: 'frozen', incoming: 'refuse', reason: 'r' }
const ROTATED = { kind: 'key_rotation', key_id: 'key-2', public_key: 'public-2' }

/** A chain with valid links: each given entry follows the one before. */
function chainOf(...given: readonly Given[]): readonly AuditEntry[] {
  let previous = GENESIS
  return given.map((one, index) => {
    const { sequence = index, members = {} } = one
    const txnId = one.txnId ?? (members['kind'] === 'transaction' ? `txn_${index}` : null)
    const payload =
      one.payload ?? canonicalJson({ account_id: ALICE, format: 1, salt: SALT, sequence, txn_id: txnId, ...members })
    const previousHash = one.previousHash ?? previous
    const auditHash = one.auditHash ?? chainHash(previousHash, payload)
    previous = auditHash
    return { sequence, txnId, previousHash, auditHash, payload }
  })
}

function said(entries: readonly AuditEntry[]): readonly (string | undefined)[] {
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
  const broken: readonly (readonly [string, Given])[] = [
    ['it is missing', { members: FROZEN, sequence: 3 }],
    ['its previous_hash is not the hash of the entry before', { members: FROZEN, previousHash: sha256Hex('x') }],
    ['its audit_hash does not follow from its payload', { members: FROZEN, auditHash: sha256Hex('x') }],
    ['its payload is no JSON object', { payload: '[]' }],
    ['its payload is in an unknown format', { members: { ...FROZEN, format: 3 } }],
    ['its payload was written for another account', { members: { ...FROZEN, account_id: 'bob' } }],
    ['its payload was written for another sequence', { members: { ...FROZEN, sequence: 7 } }],
    ['its payload was written for another transaction', { members: { ...CREDIT, txn_id: 'txn_x' } }],
    ['its payload is of another kind', { members: FROZEN, txnId: 'txn_9' }],
    ['its place is not that of a registration', { members: REGISTRATION }],
    ['its balance does not follow from the entries up to it', { members: CREDIT }],
  ]
  test.for(broken)('W1, W2: %s', ([problem, given]) => {
    expect(saidOf(given)).toBe(problem)
  })

  test('W1: a chain begins with its registration', () => {
    expect(said(chainOf({ members: FROZEN }))).toEqual(['its place is not that of a registration'])
  })
})

function held(balance: string, incoming: string, side: Holding['side'] = 'given'): Holding {
  return { side, tokenId: 'EUR', balance, incoming }
}

describe('entries that are new', () => {
  const [registration, credit] = chainOf({ members: REGISTRATION }, { members: CREDIT })
  if (registration === undefined || credit === undefined) throw new Error('there are two entries')
  const last: EntryPlace = {
    accountId: ALICE,
    before: registration.auditHash,
    head: { sequence: 1, tip: credit.auditHash },
    holdings: [held('8', '2')],
  }
  const told = (changes: Partial<EntryPlace>, entry = credit): readonly string[] =>
    newEntryFindings(entry, { ...last, ...changes }).map(({ subject, problem }) => `${subject}: ${problem}`)

  test('X1, X2: the last entry, an earlier one and a registration are valid', () => {
    expect(told({})).toEqual([])
    expect(told({ head: { sequence: 2, tip: GENESIS }, holdings: [] })).toEqual([])
    expect(told({ before: null, head: { sequence: 1, tip: GENESIS }, holdings: [] }, registration)).toEqual([])
  })

  const broken: readonly (readonly [string, Partial<EntryPlace>])[] = [
    ['chains_verify: its payload was written for another account', { accountId: 'bob' }],
    ['chains_verify: the entry before it is missing', { before: null }],
    ['chains_verify: its previous_hash is not the hash of the entry before', { before: sha256Hex('x') }],
    ['chains_verify: its account is not there', { head: null }],
    ['chains_verify: its account does not know of it', { head: { sequence: 0, tip: registration.auditHash } }],
    ['chains_verify: it is the last one, and not the tip of its account', { head: { sequence: 1, tip: GENESIS } }],
    ['no_negative_balance: it is not what its chain says', { holdings: [held('10', '0.000000000000000001')] }],
    ['no_negative_balance: it is not what its chain says', { holdings: [held('7', '0')] }],
    ['no_negative_balance: it is not what its chain says', { holdings: [held('NaN', '0')] }],
  ]
  test.for(broken)('X1, X2: %s', ([problem, changes]) => {
    expect(told(changes)).toEqual([problem])
  })

  test('X1: a registration follows nothing', () => {
    const place = { before: null, head: { sequence: 0, tip: registration.auditHash }, holdings: [] }
    const [elsewhere] = chainOf({ members: REGISTRATION, previousHash: sha256Hex('x') })
    expect(told(place, registration)).toEqual([])
    expect(told(place, elsewhere)[0]).toBe('chains_verify: its previous_hash is not the hash of the entry before')
  })

  test('X2: from format 2 on, balance and incoming value are compared each, of both assets of an exchange', () => {
    const stated = { balance_after: '8', available_after: '8', incoming: '2' }
    const receive = { token_id: 'GOLD', amount: '3', balance_after: '3', available_after: '3' }
    const exchange = { ...CREDIT, type: 'exchange', format: 2, ...stated, receive, received_incoming: '1' }
    const [, entry] = chainOf({ members: REGISTRATION }, { members: exchange })
    const head = { sequence: 1, tip: entry?.auditHash ?? '' }
    expect(told({ head, holdings: [held('8', '2'), held('3', '1', 'received')] }, entry)).toEqual([])
    const findings = told({ head, holdings: [held('10', '0'), held('3', '0', 'received')] }, entry)
    expect(findings).toEqual(Array(2).fill('no_negative_balance: it is not what its chain says'))
  })

  test('X2: an entry without quantities is a finding', () => {
    const { balance: _, ...silent } = CREDIT
    const [, entry] = chainOf({ members: REGISTRATION }, { members: silent })
    expect(told({ head: { sequence: 1, tip: entry?.auditHash ?? '' } }, entry)).toEqual([
      'no_negative_balance: it is not what its chain says',
    ])
  })
})

const BALANCE = { tokenId: 'EUR', balance: '10', reserved: '0', incoming: '0' }

describe('an account that came from another ledger', () => {
  const ARRIVAL = {
    kind: 'arrival',
    balances: { EUR: '5' },
    import_id: 'i',
    ledger_id: 'l',
    record_hash: 'h',
    key_id: 'key-1',
    public_key: 'public-1',
    status: 'active',
    incoming: 'accept',
  }
  const KEYLESS = { kind: 'registration', key_id: null, public_key: null }
  const problemsIn = (entries: readonly AuditEntry[]): readonly (string | undefined)[] => {
    const walk = new ChainWalk(ALICE)
    return entries.map((entry) => walk.take(entry)?.problem)
  }

  test('came once', () => {
    const forged = 'it came from another ledger, and was here'
    expect(problemsIn(chainOf({ members: KEYLESS }, { members: ARRIVAL }))).toEqual([undefined, undefined])
    const twice = chainOf({ members: KEYLESS }, { members: ARRIVAL }, { members: ARRIVAL })
    expect(problemsIn(twice)).toEqual([undefined, undefined, forged])
  })

  test('had no key of this ledger before', () => {
    const chain = chainOf({ members: REGISTRATION }, { members: ARRIVAL })
    expect(problemsIn(chain)).toEqual([undefined, 'it came from another ledger, and was here'])
  })
})

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

  test('W3: an intact account has no findings', () => {
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

  /** The account after an entry of a leg that is open. */
  const withLeg = (members: JsonObject, hold: LegHold) => {
    const stated = { format: 2, balance_after: '10', available_after: '0', group_id: 'g' }
    const walked = chainOf(
      { members: REGISTRATION },
      { members: CREDIT },
      { members: { ...CREDIT, ...stated, ...members } },
    )
    const open = { keyId: 'key-1', publicKey: 'public-1', status: 'active', incoming: 'accept' } as const
    const head = { sequence: 2, lastEntry: 2, tip: walked.at(-1)?.auditHash ?? '', ...facts(open), holds: [hold] }
    return (changes: Partial<typeof BALANCE>) => end({ ...head, ...balances(changes) }, walked)
  }

  test('W3: a pending burn of a leg is still in the balance', () => {
    const ended = withLeg({ type: 'burn', amount: '4' }, leg)
    expect(ended({ reserved: '4' })).toEqual([])
    expect(ended({ balance: '6', reserved: '4' })).toHaveLength(1)
  })

  test('W3: the incoming value of a leg is not in the balance yet', () => {
    const terms = { ...legHold().terms, type: 'credit', amount: '3', tokenId: 'EUR' } as const
    const ended = withLeg({ amount: '3', incoming: '3' }, legHold({ terms }))
    expect(ended({ incoming: '3' })).toEqual([])
    expect(ended({ balance: '7', incoming: '3' })).toHaveLength(1)
  })

  test('W3: of a broken chain only negative balances are findings', () => {
    const broken = chainOf({ members: REGISTRATION }, { members: CREDIT, auditHash: sha256Hex('x') })
    const head = { ...facts({ status: 'closed' }), sequence: 1, lastEntry: 1, tip: sha256Hex('x') }
    expect(end({ ...head, ...balances({ balance: '1000' }) }, broken)).toEqual([])
    expect(end({ ...head, ...balances({ balance: '-1' }) }, broken)).toHaveLength(1)
  })

  test('G2: a walk that was stored and continued ends like an uninterrupted one', () => {
    const walk = new ChainWalk(ALICE)
    for (const entry of entries.slice(0, 2)) walk.take(entry)
    const again = new ChainWalk(ALICE, JSON.parse(JSON.stringify(walk.stored())) as ReturnType<ChainWalk['stored']>)
    for (const entry of entries.slice(2)) expect(again.take(entry)).toBeUndefined()
    expect(again.finish(sound)).toEqual([])
  })
})
