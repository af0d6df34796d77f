/** Goal: identifiers, quantities and canonical JSON do what their headers say. */
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
import { formatQuantity, fractionalDigits, isDecimalString, parseQuantity, sum, ZERO } from '../../../actors/money.ts'

const parts = fc.record({
  timeMs: fc.nat({ max: 2 ** 48 - 1 }),
  counter: fc.nat({ max: 65_535 }),
  shardId: fc.nat({ max: 65_535 }),
  random: fc.nat({ max: 2 ** 48 - 1 }),
})

describe('identifiers', () => {
  test('a ULID gives back what it was made of, and sorts by time and counter', () => {
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

  test('a transaction ID tells its shard; anything else tells none', () => {
    expect(shardOfTransactionId(`txn_${encodeUlid({ timeMs: 1, counter: 2, shardId: 255, random: 3 })}`)).toBe(255)
    for (const text of ['', 'txn_', 'txn_8ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'txn_0000000000000000000000000I']) {
      expect(shardOfTransactionId(text)).toBeUndefined()
    }
  })

  test('the floor of a time is above every ID of the millisecond before and below those of its own', () => {
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

  test('sums are those of BigInt, to the last digit', () => {
    const atto = fc.bigInt({ min: 0n, max: 10n ** 36n - 1n })
    const text = (value: bigint) => `${value / 10n ** 18n}.${(value % 10n ** 18n).toString().padStart(18, '0')}`
    fc.assert(
      fc.property(fc.array(atto, { maxLength: 50 }), (values) => {
        const total = values.reduce((before, value) => sum(before, parseQuantity(text(value))), ZERO)
        const exact = text(values.reduce((before, value) => before + value, 0n))
        expect(formatQuantity(total)).toBe(exact.replace(/\.?0*$/, ''))
      }),
    )
  })

  test('what is taken away is added with its sign, and zero of any sign changes nothing, not even the sign', () => {
    const [two, none] = [parseQuantity('2'), ZERO.negated()]
    expect(formatQuantity(sum(two, parseQuantity('0.5').negated()))).toBe('1.5')
    expect(sum(two, none)).toBe(two)
    expect(sum(none, two)).toBe(two)
    expect(sum(ZERO, none).isNegative()).toBe(false)
    expect(sum(two, two.negated()).isNegative()).toBe(false)
  })

  test('trailing zeros do not count as digits', () => {
    expect(fractionalDigits(parseQuantity('1.500'))).toBe(1)
  })
})

describe('RFC 8785', () => {
  test('parsing and writing again changes nothing, whatever the order of the keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value as Json)
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text)
      }),
    )
  })
})
