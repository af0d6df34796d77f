/** Tests the arithmetic of audits: sums of entries, supplies and NFT owners. */
import { describe, expect, test } from 'vitest'
import type { Hold, LegHold } from '../../../actors/account/state.ts'
import { Books } from '../../../runtime/audit/books.ts'
import { addCounts } from '../../../runtime/audit/finding.ts'
import { heldValue } from '../../../runtime/audit/held-value.ts'
import { type SupplyMoves, supplyProblem } from '../../../runtime/audit/supply-check.ts'
import { type JsonObject } from '../../../actors/canonical-json.ts'
import { formatQuantity, parseQuantity, ZERO } from '../../../actors/money.ts'
import { legHold, tokenState } from '../../support/postgres/ledger-rows-values.ts'

/** The members of an entry that books read. */
function entry(type: string, amount: string, balance: string, others: JsonObject = {}): JsonObject {
  const after = { balance_after: balance, available_after: '0' }
  return { format: 2, type, amount, ...after, token_id: 'EUR', group_id: null, ...others }
}

const DISAGREES = 'its balance does not follow from the entries up to it'

/** The problems of the entries, in their order; settlements have a `settles`. */
function problemsOf(...entries: readonly JsonObject[]): readonly (string | undefined)[] {
  const books = new Books()
  return entries.map((members, index) =>
    members['settles'] === undefined ? books.enter({ txn_id: `txn_${index}`, ...members }) : books.settle(members),
  )
}

const IN_GROUP = { group_id: 'a group' }
const FUNDED = entry('credit', '10', '10')

describe('books', () => {
  test('K1: balances follow from the amounts of the entries', () => {
    const gold = { token_id: 'GOLD', amount: '7', balance_after: '7', available_after: '7' }
    const entries = [
      FUNDED,
      entry('debit', '2.5', '7.5'),
      entry('mint', '1', '8.5'),
      entry('transfer', '3', '5.5'),
      entry('burn', '0.5', '5'),
      entry('exchange', '1', '4', { receive: gold }),
      entry('debit', '7', '0', { token_id: 'GOLD' }),
    ]
    expect(problemsOf(...entries)).toEqual(entries.map(() => undefined))
  })

  test.for<[what: string, ...JsonObject[]]>([
    ['a balance below', entry('credit', '1', '10.9')],
    ['a balance above', entry('credit', '1', '11.1')],
    ['incoming value of no leg', entry('credit', '1', '11', { incoming: '1' })],
    ['an amount that waits without a group', entry('credit', '1', '10', { incoming: '1' })],
    [
      'another balance of the received asset',
      entry('exchange', '1', '9', {
        receive: { token_id: 'GOLD', amount: '7', balance_after: '8', available_after: '0' },
      }),
    ],
    [
      'incoming value of the received asset',
      entry('exchange', '1', '9', {
        receive: { token_id: 'GOLD', amount: '7', balance_after: '7', available_after: '0' },
        received_incoming: '1',
      }),
    ],
  ])('K1: %s is a finding', ([, ...entries]) => {
    expect(problemsOf(FUNDED, ...entries).at(-1)).toBe(DISAGREES)
  })

  const leg = entry('credit', '4', '10', { incoming: '4', ...IN_GROUP })
  const burn = entry('burn', '4', '10', IN_GROUP)
  const settled = (type: string, balance: string, others: JsonObject = {}) =>
    entry(type, '4', balance, { settles: 'txn_1', ...IN_GROUP, ...others })

  test.for<[what: string, ...JsonObject[]]>([
    ['value comes when its group settles', leg, settled('credit', '14'), entry('debit', '1', '13')],
    ['value is burned when its group settles', burn, settled('burn', '6'), entry('debit', '1', '5')],
    ['reverted value never came', leg, entry('debit', '4', '10', { compensates: 'txn_1', ...IN_GROUP })],
    ['a reverted burn never happened', burn, entry('credit', '4', '10', { compensates: 'txn_1', ...IN_GROUP })],
    ['a debit of a leg changes the balance at once', entry('debit', '4', '6', IN_GROUP)],
    ['a linked group changes it at once', entry('credit', '4', '14', IN_GROUP), entry('burn', '4', '10', IN_GROUP)],
    ['other entries come between', leg, entry('debit', '1', '9', { incoming: '4' }), settled('credit', '13')],
  ])('K2: %s', ([, ...entries]) => {
    expect(problemsOf(FUNDED, ...entries)).toEqual([undefined, ...entries.map(() => undefined)])
  })

  const NO_LEG = 'it settles no such leg'
  test.for<[what: string, problem: string, ...JsonObject[]]>([
    ['without a leg', NO_LEG, settled('credit', '14')],
    ['twice', NO_LEG, leg, settled('credit', '14'), settled('credit', '18')],
    [
      'after its compensation',
      NO_LEG,
      leg,
      entry('debit', '4', '10', { compensates: 'txn_1' }),
      settled('credit', '14'),
    ],
    ['of another amount', NO_LEG, leg, { ...settled('credit', '15'), amount: '5' }],
    ['of another type', NO_LEG, leg, settled('burn', '6')],
    ['of another asset', NO_LEG, leg, settled('credit', '4', { token_id: 'GOLD' })],
    ['that is missing', DISAGREES, leg, entry('debit', '1', '13')],
    ['of a linked transaction', NO_LEG, entry('credit', '4', '14', IN_GROUP), settled('credit', '18')],
  ])('K2: a settlement %s is a finding', ([, problem, ...entries]) => {
    expect(problemsOf(FUNDED, ...entries).at(-1)).toBe(problem)
  })

  test('K2: more than the balance without open burns is not available', () => {
    const told = (available: string) => problemsOf(FUNDED, { ...burn, available_after: available })[1]
    expect([told('6'), told('6.1')]).toEqual([undefined, 'more is available than its balance'])
  })

  test('K3: groups of format 1 keep a looser rule, also for settlements of format 2', () => {
    const first = (type: string, amount: string, balance: string, others: JsonObject = {}): JsonObject => ({
      format: 1,
      type,
      amount,
      balance,
      token_id: 'EUR',
      ...IN_GROUP,
      ...others,
    })
    const begun = [first('credit', '10', '0', { incoming: '10' }), first('burn', '4', '10')]
    for (const [balance, told] of [
      ['11', undefined],
      ['7', undefined],
      ['6.9', DISAGREES],
      ['11.1', DISAGREES],
    ] as const) {
      expect([balance, problemsOf(...begun, entry('credit', '1', balance))[2]]).toEqual([balance, told])
    }
    expect(problemsOf(...begun, settled('burn', '6'), entry('credit', '1', '8')).slice(2)).toEqual([
      undefined,
      DISAGREES,
    ])
  })

  test('an entry of format 1 has its balance alone', () => {
    const first = { format: 1, type: 'credit', amount: '10', token_id: 'EUR', group_id: null }
    expect(new Books().enter({ ...first, balance: '10' })).toBeUndefined()
    expect(new Books().enter({ ...first, balance: '11' })).toBe(DISAGREES)
    expect(new Books().enter({ ...first, balance_after: '10', available_after: '10' })).toBe(
      'its balance is no quantity',
    )
    const received = { receive: { token_id: 'GOLD', amount: '7' }, balance: '-1' }
    const exchange = { ...first, type: 'exchange', ...received, received_balance: '7' }
    expect(new Books().enter({ ...exchange, balance: '0', amount: '0' })).toBeUndefined()
    expect(new Books().enter({ ...exchange, received_balance: '6' })).toBe(DISAGREES)
  })

  test('stored books go on as they were', () => {
    const books = new Books()
    for (const [index, members] of [FUNDED, leg].entries()) books.enter({ txn_id: `txn_${index}`, ...members })
    const again = new Books(books.stored())
    expect(again.stored()).toEqual(books.stored())
    expect(again.settle(settled('credit', '14'))).toBeUndefined()
  })

  test('NFTs are ignored', () => {
    const books = new Books()
    const nft = { class_id: 'cls_x', instance_id: 'one' }
    expect(books.enter({ type: 'transfer', amount: '1', nft_count: 0, ...nft })).toBeUndefined()
    expect(books.enter(entry('credit', '5', '5'))).toBeUndefined()
    expect(books.enter(entry('exchange', '2', '3', { receive: { ...nft, amount: '1' } }))).toBeUndefined()
    expect([...books.tokens()]).toEqual(['EUR'])
  })

  test('malformed quantities are problems', () => {
    for (const members of [
      entry('credit', '1e3', '1'),
      entry('credit', '1', 'much'),
      entry('credit', '1', '1', { available_after: 'some' }),
      entry('credit', '1', '1', { incoming: 'NaN' }),
      entry('exchange', '1', '1', { receive: { token_id: 'X', amount: '-1' } }),
    ]) {
      expect(new Books().enter(members)).toMatch(/is (no|not a) quantity$/)
    }
  })
})

test('holds give reserved and incoming value, but none for NFTs', () => {
  const terms = (changes: Partial<LegHold['terms']>): LegHold['terms'] => ({ ...legHold().terms, ...changes })
  const pending = { tokenId: 'EUR', amount: '3' } as Extract<Hold, { kind: 'pending' }>['transaction']
  const held = heldValue([
    { kind: 'pending', transaction: pending, reserves: true, room: null, reportsOn: null },
    { kind: 'pending', transaction: pending, reserves: false, room: null, reportsOn: null },
    legHold({ terms: terms({ type: 'credit', amount: '5', tokenId: 'EUR' }) }),
    legHold({ role: 'receiver', terms: terms({ type: 'transfer', amount: '7', tokenId: 'EUR' }) }),
    legHold({ terms: terms({ type: 'mint', amount: '11', tokenId: 'EUR' }), state: 'expected' }),
    legHold({ terms: terms({ type: 'burn', amount: '13', tokenId: 'EUR' }) }),
    legHold({ terms: terms({ type: 'debit', amount: '17', tokenId: 'EUR' }) }),
    legHold({ terms: terms({ type: 'burn', amount: '1', tokenId: 'cls_x/one' }) }),
    { kind: 'issue', tokenId: 'EUR', totalSupply: '19' },
  ])
  const shown = [...held].map(([tokenId, { reserved, incoming, burns }]) => [
    tokenId,
    [reserved, incoming, burns].map((part) => formatQuantity(part)).join(' '),
  ])
  expect(shown).toEqual([['EUR', '16 12 13']])
})

describe('a supply', () => {
  const token = tokenState({ status: 'active', initialSupply: '100', totalSupply: '110', held: {} })
  const of = parseQuantity
  const moves: SupplyMoves = {
    done: of('110'),
    issued: of('100'),
    underWay: ZERO,
    issuing: ZERO,
    settling: new Map(),
    isPartial: false,
  }
  const WRONG = 'it is not what was minted and not burned'

  test('S1, S3: is the minted less the burned quantity, including value in transit', () => {
    expect(supplyProblem(token, moves)).toBeUndefined()
    expect(supplyProblem(token, { ...moves, done: of('115'), underWay: of('-5') })).toBeUndefined()
    expect(
      supplyProblem(token, { ...moves, done: of('10'), issued: ZERO, underWay: of('100'), issuing: of('100') }),
    ).toBeUndefined()
    expect(supplyProblem(token, { ...moves, done: of('111') })).toBe(WRONG)
    expect(supplyProblem(token, { ...moves, issued: of('99') })).toBe('what was issued is not its initial supply')
  })

  test('S2: while a group settles, its legs count unless the token has holds of them', () => {
    const settling = { ...moves, done: of('100'), settling: new Map([['g1', of('10')]]) }
    expect(supplyProblem(token, settling)).toBeUndefined()
    const held = {
      'g1 0': { change: 'mint', amount: '25', clientId: 'c' },
      'g1 1': { change: 'burn', amount: '15', clientId: 'c' },
    } as const
    const others = { 'g11 0': { change: 'mint', amount: '1', clientId: 'c' } } as const
    expect(supplyProblem({ ...token, totalSupply: '100', held: { ...held, ...others } }, settling)).toBeUndefined()
    expect(supplyProblem({ ...token, totalSupply: '85', held: { 'g1 0': held['g1 0'] } }, settling)).toBeUndefined()
    expect(supplyProblem({ ...token, held }, settling)).toBe(WRONG)
  })

  test('a malformed one is a problem', () => {
    expect(supplyProblem({ ...token, totalSupply: 'much' }, moves)).toBe('its supply is no quantity')
  })
})

test('counts are added by subject, and missing subjects stay missing', () => {
  expect(addCounts({ chains_verify: 1 }, { chains_verify: 2, provenance: 3 })).toEqual({
    chains_verify: 3,
    provenance: 3,
  })
})
