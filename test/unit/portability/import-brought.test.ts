/** Tests that all imports of a ledger together bring no more of a token than its supply. */
import { describe, expect, test } from 'vitest'
import type { Arrival } from '../../../actors/arrival.ts'
import { BroughtSums, type BroughtToken } from '../../../infra/portability/import-brought.ts'

const TOKEN = { tokenId: 'GOLD', decimals: 2, issuer: 'mint', initialSupply: '10' }

function account(balances: Readonly<Record<string, string>>): Arrival {
  const tip = 'ab'.repeat(32)
  return {
    kind: 'account',
    account: {
      key: null,
      status: 'active',
      incoming: 'accept',
      balances,
      nfts: 0,
      keySalt: '',
      txnCount: 0,
      tip,
      createdAt: '',
      updatedAt: '',
    },
  }
}

/** A file with this supply of GOLD and these accounts. */
function sumsOf(totalSupply: string, ...quantities: readonly string[]): BroughtSums {
  const sums = new BroughtSums()
  sums.see({ line: 1, arrival: { kind: 'token', token: { ...TOKEN, totalSupply } } }, true)
  quantities.forEach((GOLD, index) => sums.see({ line: 2 + index, arrival: account({ GOLD, BASE: '5' }) }, false))
  return sums
}

function before(quantity: string, supply: string): { readonly brought: readonly BroughtToken[] } {
  return { brought: [{ tokenId: 'GOLD', quantity, supply }] }
}

test('sums by token, without the base unit and without records that existed before', () => {
  const sums = sumsOf('100', '10.5', '2')
  sums.see({ line: 9, arrival: account({ GOLD: '7' }) }, true)
  sums.see({ line: 10, arrival: { kind: 'account', account: null } }, false)
  expect(sums.brought()).toEqual([{ tokenId: 'GOLD', quantity: '12.5', supply: '100' }])
})

describe('with earlier imports', () => {
  test.for([
    ['nothing', '100', [], undefined],
    ['as much as is left', '100', [before('40', '100'), before('50', '100')], undefined],
    ['more than is left', '100', [before('40', '100'), before('50.01', '100')], '100.01'],
    ['more than there was then, and less than there is now', '200', [before('100', '100')], undefined],
    ['less than there was then, and more than there is now', '15', [before('90', '100')], undefined],
    ['another token', '10', [{ brought: [{ tokenId: 'SILVER', quantity: '99', supply: '99' }] }], undefined],
    ['what was decided before it was noted', '10', [{ brought: null }], undefined],
  ] as const)('%s', ([, supply, earlier, sum]) => {
    const refusal = sumsOf(supply, '4', '6').refusal(earlier)
    const [, told] = / would bring ([0-9.]+) /.exec(JSON.stringify(refusal) ?? '') ?? []
    expect([refusal?.kind, told]).toEqual(sum === undefined ? [undefined, undefined] : ['exists', sum])
  })
})

test('a file that brings nothing of a token is not refused because of earlier imports', () => {
  expect(sumsOf('10').refusal([before('11', '10')])).toBeUndefined()
})

test('a balance of a token outside the file is an error', () => {
  const sums = sumsOf('10')
  expect(() => sums.see({ line: 3, arrival: account({ SILVER: '1' }) }, false)).toThrow(
    'an imported balance has no token',
  )
})
