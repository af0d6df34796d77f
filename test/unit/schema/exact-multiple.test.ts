/** Numbers divide as decimals, and not as binary fractions. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isMultipleOf } from '../../../infra/schema/exact-multiple.ts'

const decimals = fc.tuple(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: -6, max: 6 }))

test('a decimal times a whole number is a multiple of it', () => {
  fc.assert(
    fc.property(decimals, fc.integer({ min: -999, max: 999 }), ([units, exponent], factor) => {
      fc.pre(units !== 0)
      const divisor = Number(`${units}e${exponent}`)
      expect(isMultipleOf(Number(`${BigInt(units) * BigInt(factor)}e${exponent}`), divisor)).toBe(true)
    }),
  )
})

test('a decimal between two multiples is none', () => {
  fc.assert(
    fc.property(
      decimals,
      fc.integer({ min: -999, max: 999 }),
      fc.integer({ min: 1, max: 9 }),
      ([units, exponent], factor, rest) => {
        fc.pre(units !== 0)
        const divisor = Number(`${units}0e${exponent - 1}`)
        const value = Number(`${BigInt(units) * 10n * BigInt(factor) + BigInt(rest)}e${exponent - 1}`)
        expect(isMultipleOf(value, divisor)).toBe(false)
      },
    ),
  )
})

test.for([
  [Number.MAX_VALUE, Number.MIN_VALUE, true],
  [Number.MIN_VALUE, Number.MAX_VALUE, false],
  [0, Number.MAX_VALUE, true],
  [-0, 0.1, true],
  [1e21, 1, true],
  [1e23, 7, false],
  [123456789.1, 0.1, true],
] as const)('%d of %d: %s', ([value, divisor, expected]) => {
  expect(isMultipleOf(value, divisor)).toBe(expected)
})
