/** D17: a client's scope consists of the named accounts and of those with a named prefix. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accountScopeOf, areScopeEntries, MAX_SCOPE_ENTRIES } from '../../../actors/account-scope.ts'

const ID = fc.stringMatching(/^[ab.:@]{1,6}$/).filter((text) => text !== '.' && text !== '..')

describe('the accounts that a client is scoped to', () => {
  test('S1: are exactly the named ones and those with a named prefix', () => {
    fc.assert(
      fc.property(fc.array(ID), fc.array(ID), ID, (ids, prefixes, asked) => {
        const scope = accountScopeOf([...ids, ...prefixes.map((prefix) => `${prefix}*`)])
        const expected = ids.includes(asked) || prefixes.some((prefix) => asked.startsWith(prefix))
        expect(scope.includes(asked)).toBe(expected)
        expect(scope.whole).toBe(false)
      }),
    )
  })

  test('S1: an invalid entry matches no account', () => {
    for (const entries of [[], ['*'], [''], ['a b*'], ['**'], ['a**']]) {
      const scope = accountScopeOf(entries)
      for (const id of ['a', 'alice@bank', 'a*', '*', 'a b', 'a bc', ''])
        expect([entries, scope.includes(id)]).toEqual([entries, false])
    }
  })

  test('S2: no prefix matches the name of an erased account', () => {
    const erased = 'erased:0123456789ab'
    for (const entries of [['e*'], ['erased:*'], ['erased:0123456789a*'], [erased]]) {
      const scope = accountScopeOf(entries)
      expect([entries, scope.includes(erased)]).toEqual([entries, false])
    }
    const scope = accountScopeOf(['erased:*'])
    expect(['erased:0123456789', 'erased:0123456789AB', 'erased:0123456789abc'].map(scope.includes)).toEqual([
      true,
      true,
      true,
    ])
  })

  test('are all of them for a client without a scope', () => {
    const scope = accountScopeOf(null)
    expect([scope.whole, scope.includes('anybody'), scope.ids]).toEqual([true, true, null])
  })

  test('are listed one by one if none of them is a prefix', () => {
    expect(accountScopeOf(['b', 'a', 'b']).ids).toEqual(['a', 'b'])
    expect(accountScopeOf(['b', 'a*']).ids).toBeNull()
  })

  test('have one text in any order, and a different one for other accounts', () => {
    expect(accountScopeOf(['b*', 'a', 'b*']).text).toBe(accountScopeOf(['a', 'b*']).text)
    const texts = [null, [], ['*'], ['a'], ['a*'], ['a', 'b'], ['a b']].map((entries) => accountScopeOf(entries).text)
    expect(new Set(texts).size).toBe(texts.length)
  })

  test('are case-sensitive', () => {
    const scope = accountScopeOf(['Shop:*', 'Alice'])
    expect(['Shop:1', 'shop:1', 'Alice', 'alice'].map(scope.includes)).toEqual([true, false, true, false])
  })
})

test('entries are IDs and prefixes of at least one character, up to their limit', () => {
  for (const entries of [['a'], ['a*'], ['.*'], [`${'a'.repeat(127)}*`], ['alice@bank', 'shop:*']]) {
    expect([entries, areScopeEntries(entries)]).toEqual([entries, true])
  }
  for (const entries of [[], [''], ['*'], ['a*b'], ['a b'], ['.'], [`${'a'.repeat(128)}*`], ['a', '']]) {
    expect([entries, areScopeEntries(entries)]).toEqual([entries, false])
  }
  const many = Array.from({ length: MAX_SCOPE_ENTRIES }, (_, number) => `a${number}`)
  expect([areScopeEntries(many), areScopeEntries([...many, 'b'])]).toEqual([true, false])
})
