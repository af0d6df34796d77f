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

describe('books', () => {
  test('K1: entries change the sum by their amounts, and their balances follow from it', () => {
    const books = new Books()
    const entries = [
      entry('credit', '10', '10'),
      entry('debit', '2.5', '7.5'),
      entry('mint', '1', '8.5'),
      entry('transfer', '3', '5.5'),
      entry('burn', '0.5', '5'),
      entry('credit', '4', '5', { incoming: '4' }),
      entry('debit', '4', '5'),
      entry('exchange', '1', '4', { receive: { token_id: 'GOLD', amount: '7' } }),
    ]
    expect(entries.map((members) => books.enter(members))).toEqual(entries.map(() => undefined))
    expect(books.stored()).toEqual([
      ['EUR', '4', '0'],
      ['GOLD', '7', '0'],
    ])
  })

  test('K2: the burn of a leg is in the balance until its group settles', () => {
    const begin = (): Books => {
      const books = new Books()
      expect(books.enter(entry('credit', '10', '10'))).toBeUndefined()
      // Held, not burned.
      expect(books.enter(entry('burn', '4', '10', { group_id: 'a group' }))).toBeUndefined()
      return books
    }
    for (const [balance, told] of [
      ['11', undefined],
      ['7', undefined],
      ['6.9', DISAGREES],
      ['11.1', DISAGREES],
    ] as const) {
      expect([balance, begin().enter(entry('credit', '1', balance))]).toEqual([balance, told])
    }
  })

  test('an entry of format 1 has its balance alone', () => {
    const first = { format: 1, type: 'credit', amount: '10', token_id: 'EUR', group_id: null }
    expect(new Books().enter({ ...first, balance: '10' })).toBeUndefined()
    expect(new Books().enter({ ...first, balance: '11' })).toBe(DISAGREES)
    expect(new Books().enter({ ...first, balance_after: '10', available_after: '10' })).toBe(
      'its balance is no quantity',
    )
  })

  test('no more is available than the balance', () => {
    expect(new Books().enter(entry('credit', '10', '10', { available_after: '10' }))).toBeUndefined()
    expect(new Books().enter(entry('credit', '10', '10', { available_after: '10.1' }))).toBe(
      'more is available than its balance',
    )
  })

  test('NFTs are ignored', () => {
    const books = new Books()
    const nft = { class_id: 'cls_x', instance_id: 'one' }
    expect(books.enter({ type: 'transfer', amount: '1', nft_count: 0, ...nft })).toBeUndefined()
    expect(books.enter(entry('credit', '5', '5'))).toBeUndefined()
    expect(books.enter(entry('exchange', '2', '3', { receive: { ...nft, amount: '1' } }))).toBeUndefined()
    expect(books.stored()).toEqual([['EUR', '3', '0']])
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
