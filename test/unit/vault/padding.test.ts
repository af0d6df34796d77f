/** The padded length does not reveal a short text, and padding loses nothing. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { padded, unpadded } from '../../../infra/vault/padding.ts'

test('JSON round-trips', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify({ value })
      expect(unpadded(padded(text))).toBe(text)
    }),
  )
})

test('balances of one digit and of 36 have one length', () => {
  const balances = ['0', '5', '1234567.89', '999999999999999999.999999999999999999']
  const lengths = balances.map((amount) => padded(JSON.stringify([amount, '0', amount, '0', 1_790_000_000_000])).length)
  expect(new Set(lengths)).toEqual(new Set([256]))
})

test('the length counts the bytes of UTF-8', () => {
  expect(Buffer.byteLength(padded(JSON.stringify('ä'.repeat(100))), 'utf8')).toBe(256)
})

test('long texts grow by a quarter at most', () => {
  for (const length of [4_096, 5_000, 70_000]) {
    expect(padded('x'.repeat(length)).length).toBeLessThan(1.25 * length)
  }
})
