/** A search by amount covers the magnitude of every matching amount. */
import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseQuantity } from '../../../actors/money.ts'
import { magnitudeOf, magnitudesBetween } from '../../../infra/vault/amount-magnitude.ts'

const amounts = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), fc.nat(18))
  .map(([whole, fraction, digits]) => {
    const decimals = fraction.toString().padStart(18, '0').slice(0, digits)
    return decimals === '' ? whole.toString() : `${whole}.${decimals}`
  })

test('it equals the magnitude of the number in any notation', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      const quantity = new Decimal(amount)
      expect(magnitudeOf(amount)).toBe(quantity.isZero() ? -19 : quantity.e)
    }),
    { examples: [['0'], ['0.00'], ['0.000000000000000001'], ['999999999999999999.9']] },
  )
})

test('a search covers the magnitude of every amount between its bounds', () => {
  fc.assert(
    fc.property(amounts, fc.option(amounts), fc.option(amounts), (amount, least, most) => {
      const quantity = parseQuantity(amount)
      const isWithin =
        (least === null || quantity >= parseQuantity(least)) && (most === null || quantity <= parseQuantity(most))
      fc.pre(isWithin)
      expect(magnitudesBetween(least, most)).toContain(magnitudeOf(amount))
    }),
  )
})

test('bounds of one magnitude give that magnitude, and crossed bounds give none', () => {
  expect(magnitudesBetween('100', '999')).toEqual([2])
  expect(magnitudesBetween('99', '100')).toEqual([1, 2])
  expect(magnitudesBetween('100', '1')).toEqual([])
  expect(magnitudesBetween(null, null)).toHaveLength(37)
})
