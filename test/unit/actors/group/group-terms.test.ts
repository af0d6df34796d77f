/** Invalid terms are refused with every error at once, and the hash of terms covers the terms only (D10). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import { readTerms, type Terms, type TermsProblem } from '../../../../actors/group/terms.ts'
import { GROUP } from '../../../model/mini-clients.ts'
import { IN, OUT } from './agreed-groups.ts'

function terms(fields: JsonObject = {}): JsonObject {
  return { group_id: GROUP, legs: [OUT, IN], timeout_seconds: 900, ...fields }
}

function read(fields: JsonObject): Terms {
  const result = readTerms(fields)
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

function problems(fields: JsonObject): readonly TermsProblem[] {
  const result = readTerms(fields)
  return result.ok ? [] : result.error
}

function named(fields: JsonObject): readonly string[] {
  return problems(fields).map(({ field, rule }) => `${field} ${rule}`)
}

/** The second leg balances nothing: it is never reached where the first one is wrong. */
function first(leg: JsonObject): JsonObject {
  return terms({ legs: [{ ...OUT, ...leg }, IN] })
}

const NFT = { class_id: 'cls_1', instance_id: 'ruby', amount: '1' }

describe('what is wrong with terms', () => {
  test('is nothing where nothing is', () => {
    expect(named(terms())).toEqual([])
    expect(read(terms())).toMatchObject({
      groupId: GROUP,
      timeoutSeconds: 900,
      legs: [
        { accountId: 'ann', type: 'debit', amount: '4', tokenId: 'BASE', toAccountId: null, boundary: false },
        { accountId: 'bob', type: 'credit', amount: '4', tokenId: 'BASE', toAccountId: null, boundary: false },
      ],
    })
  })

  test.for<[string, JsonObject]>([
    ['legs[0] legs', terms({ legs: ['x', IN] })],
    ['legs[0].token_id asset', first({ type: 'burn' })],
    ['legs[0].token_id asset', first({ type: 'mint', token_id: 'BASE' })],
    ['legs[0].token_id asset', first({ type: 'exchange' })],
    ['legs[0].type type', first({ ...NFT, type: 'credit' })],
    ['legs[0].to_account_id receiver', first({ ...NFT, type: 'transfer' })],
    ['legs[0].token_id asset', first({ ...NFT, type: 'burn', token_id: 'GOLD' })],
    ['legs[0].amount amount', first({ ...NFT, type: 'burn', amount: '2' })],
    ['legs[0].instance_id instance', first({ ...NFT, type: 'burn', instance_id: 'a b' })],
    ['legs[0].class_id class', first({ ...NFT, type: 'burn', class_id: 7 })],
    ['legs[0].class_id class', first({ instance_id: '1' })],
    ['legs[0].to_account_id receiver', first({ type: 'transfer', to_account_id: 'a b' })],
    ['legs[0].to_account_id receiver', first({ to_account_id: 'bob' })],
    ['legs[0].to_account_id self_transfer', first({ type: 'transfer', to_account_id: 'ann' })],
    ['legs[0].boundary boundary', first({ boundary: true, type: 'burn', token_id: 'GOLD' })],
    ['legs[0].boundary boundary', first({ boundary: true, type: 'mint', token_id: 'GOLD' })],
    ['legs[0].boundary boundary', first({ boundary: true, type: 'transfer', to_account_id: 'bob' })],
    ['legs net', first({ amount: '4.000000000000000001' })],
    ['legs net', first({ type: 'credit' })],
  ])('is told as %s', ([expected, fields]) => {
    expect(named(fields)).toEqual([expected])
  })

  test('is reported together, for every leg', () => {
    const legs = [
      { account_id: '', type: 'no', amount: 'no' },
      { ...IN, token_id: '?' },
    ]
    expect(named(terms({ legs, group_id: null, timeout_seconds: null }))).toEqual([
      'group_id group_id',
      'timeout_seconds timeout',
      'legs[0].account_id account_id',
      'legs[0].type type',
      'legs[0].amount amount',
      'legs[1].token_id asset',
    ])
  })
})

describe('legs', () => {
  const quantity = fc.integer({ min: 1, max: 1_000 })

  test('net to zero in each asset, in any order, or are refused with the difference', () => {
    const asset = fc.record({
      tokenId: fc.constantFrom('BASE', 'GOLD', 'TIN'),
      outs: fc.array(quantity, { minLength: 1, maxLength: 4 }),
      left: fc.constantFrom(0, 0, 0, 1),
    })
    fc.assert(
      fc.property(fc.uniqueArray(asset, { selector: ({ tokenId }) => tokenId, minLength: 1 }), (assets) => {
        const legs = assets.flatMap(({ tokenId: token_id, outs, left }) => {
          const sum = outs.reduce((total, out) => total + out, 0)
          return [
            { ...IN, token_id, amount: `${sum + left}` },
            ...outs.map((out) => ({ ...OUT, token_id, amount: `${out}.0` })),
          ]
        })
        const wrong = problems(terms({ legs }))
        expect(wrong.map(({ message }) => message)).toEqual(
          assets.filter(({ left }) => left > 0).map(({ tokenId }) => `do not net to zero in ${tokenId}: 1 remains`),
        )
      }),
    )
  })

  test.for<[string, JsonObject]>([
    ['a transfer with its receiver', { ...OUT, type: 'transfer', to_account_id: 'cid' }],
    ['one at the boundary', { ...OUT, boundary: true }],
    ['a mint', { ...OUT, type: 'mint', token_id: 'GOLD' }],
    ['a burn', { ...OUT, type: 'burn', token_id: 'GOLD' }],
  ])('%s is outside the netting', ([, leg]) => {
    expect(named(terms({ legs: [OUT, IN, leg] }))).toEqual([])
  })

  test('transfers and exchanges without a receiver leave value, like debits', () => {
    const legs = [{ ...OUT, type: 'transfer' }, IN, { ...OUT, type: 'exchange', token_id: 'GOLD' }]
    expect(named(terms({ legs }))).toEqual(['legs net'])
    expect(named(terms({ legs: [...legs, { ...IN, token_id: 'GOLD' }] }))).toEqual([])
  })
})

describe('the hash of terms', () => {
  const hash = (fields: JsonObject): string => read(fields).termsHash

  test('does not depend on the case of the group ID or the order of members', () => {
    const reversed = (fields: JsonObject): JsonObject => Object.fromEntries(Object.entries(fields).reverse())
    fc.assert(
      fc.property(fc.uuid(), (groupId) => {
        const original = hash(terms({ group_id: groupId }))
        const turned = { ...reversed(terms({ group_id: groupId.toUpperCase() })), legs: [reversed(OUT), reversed(IN)] }
        expect(hash(turned)).toBe(original)
        expect(original).toMatch(/^[0-9a-f]{64}$/)
      }),
      { numRuns: 20 },
    )
  })

  test('depends on everything else: legs exactly as sent, their order, the timeout in force, the ID', () => {
    const others: readonly JsonObject[] = [
      terms({ group_id: '2f0c2c1e-7d35-4b4e-9d2a-0f4f6f1d2a33' }),
      terms({ timeout_seconds: 901 }),
      terms({ legs: [IN, OUT] }),
      terms({ legs: [{ ...OUT, amount: '4.0' }, IN] }),
      terms({ legs: [{ ...OUT, token_id: 'BASE' }, IN] }),
      terms({ legs: [{ ...OUT, boundary: false }, IN] }),
      terms({ legs: [{ ...OUT, account_id: 'eve' }, IN] }),
      terms({ legs: [{ ...OUT, type: 'transfer' }, IN] }),
      terms({ legs: [{ ...OUT, memo: 'unknown members are signed too' }, IN] as Json }),
    ]
    expect(new Set([terms(), ...others].map(hash)).size).toBe(others.length + 1)
  })
})
