/** Identifiers, quantities and canonical JSON. */
import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type Json } from '../../../actors/canonical-json.ts'
import {
  decodeUlid,
  encodeUlid,
  isAccountId,
  isUuid,
  shardOfTransactionId,
  transactionIdFloor,
} from '../../../actors/identifiers.ts'
import { formatQuantity, fractionalDigits, isDecimalString, parseQuantity } from '../../../actors/money.ts'

const parts = fc.record({
  timeMs: fc.nat({ max: 2 ** 48 - 1 }),
  counter: fc.nat({ max: 65_535 }),
  shardId: fc.nat({ max: 65_535 }),
  random: fc.nat({ max: 2 ** 48 - 1 }),
})

describe('identifiers', () => {
  test('a ULID round-trips, and sorts by time and counter', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(decodeUlid(encodeUlid(a))).toEqual(a)
        const order = a.timeMs - b.timeMs || a.counter - b.counter || a.shardId - b.shardId || a.random - b.random
        const left = encodeUlid(a)
        const right = encodeUlid(b)
        expect(left < right ? -1 : left > right ? 1 : 0).toBe(Math.sign(order))
      }),
    )
  })

  test('only a transaction ID names a shard', () => {
    expect(shardOfTransactionId(`txn_${encodeUlid({ timeMs: 1, counter: 2, shardId: 255, random: 3 })}`)).toBe(255)
    for (const text of ['', 'txn_', 'txn_8ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'txn_0000000000000000000000000I']) {
      expect(shardOfTransactionId(text)).toBeUndefined()
    }
  })

  test('the lowest ID of a millisecond is above all earlier IDs and below all of its own', () => {
    const id = (timeMs: number, counter: number) => `txn_${encodeUlid({ timeMs, counter, shardId: 9, random: 9 })}`
    expect(transactionIdFloor(1_000) > id(999, 65_535)).toBe(true)
    expect(transactionIdFloor(1_000) < id(1_000, 0)).toBe(true)
  })

  test.for(['a', 'A_b.c:d@e-1', 'x'.repeat(128)])('D1: %s is an account ID', (text) => {
    expect(isAccountId(text)).toBe(true)
  })

  test.for(['', '.', '..', 'a b', 'ä', 'x'.repeat(129), 'a/b', 'a\n'])('D1: %j is no account ID', (text) => {
    expect(isAccountId(text)).toBe(false)
  })

  test('UUIDs of any version and case', () => {
    expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true)
    expect(isUuid('F47AC10B-58CC-4372-A567-0E02B2C3D479')).toBe(true)
    expect(isUuid('f47ac10b58cc4372a5670e02b2c3d479')).toBe(false)
  })
})

describe('quantities', () => {
  test.for(['0', '0.1', '1', '999999999999999999.999999999999999999'])('D4: %s is a decimal string', (text) => {
    expect(isDecimalString(text)).toBe(true)
    expect(formatQuantity(parseQuantity(text))).toBe(text)
  })

  test.for([
    '',
    '01',
    '1.',
    '.5',
    '-1',
    '+1',
    '1e5',
    '0x1',
    '1_0',
    ' 1',
    '1000000000000000000',
    '0.0000000000000000001',
  ])('D4: %j is none', (text) => {
    expect(isDecimalString(text)).toBe(false)
  })

  const units = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
  const Exact = Decimal.clone({ precision: 100, toExpNeg: -100, toExpPos: 100 })
  const decimalOf = (quantity: bigint) => new Exact(quantity.toString()).div('1e18')

  test('the text equals that of decimal.js, and round-trips', () => {
    fc.assert(
      fc.property(units, (quantity) => {
        const text = formatQuantity(quantity)
        expect(text).toBe(decimalOf(quantity).toFixed())
        expect(parseQuantity(text)).toBe(quantity)
        expect(fractionalDigits(quantity)).toBe(decimalOf(quantity).decimalPlaces())
      }),
    )
  })

  test('the parsed value equals that of decimal.js, with or without trailing zeros', () => {
    const digits = fc.stringMatching(/^[0-9]{1,18}$/)
    fc.assert(
      fc.property(fc.boolean(), digits, fc.option(digits), (isNegative, whole, fraction) => {
        const text = `${isNegative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}`
        expect(parseQuantity(text).toString()).toBe(new Exact(text).times('1e18').plus(0).toFixed())
      }),
    )
  })

  test('sums, differences and comparisons equal those of decimal.js', () => {
    fc.assert(
      fc.property(units, units, (one, other) => {
        const [left, right] = [decimalOf(one), decimalOf(other)]
        expect(formatQuantity(one + other)).toBe(left.plus(right).toFixed())
        expect(formatQuantity(one - other)).toBe(left.minus(right).toFixed())
        expect([one < other, one === other, one > other]).toEqual([left.lt(right), left.eq(right), left.gt(right)])
      }),
    )
  })

  test.for(['', '.', '1.', '.5', '+1', '1e5', '0x1', ' 1', '1_0', 'NaN', '--1', '1.0000000000000000001'])(
    '%j is no quantity, and the error does not repeat it',
    (text) => {
      const reading = () => parseQuantity(text)
      expect(reading).toThrow(RangeError)
      expect(reading).toThrow(/^a quantity must be a decimal with at most 18 fractional digits$/)
    },
  )

  test('trailing zeros do not count as digits', () => {
    expect(fractionalDigits(parseQuantity('1.500'))).toBe(1)
  })
})

describe('RFC 8785', () => {
  test('canonical text round-trips, for any order of the keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value as Json)
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text)
      }),
    )
  })
})
