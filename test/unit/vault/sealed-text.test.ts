/** A sealed text opens only unchanged, in its own place and under its own key. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeOf } from '../../../infra/vault/place.ts'
import { padded } from '../../../infra/vault/padding.ts'
import {
  openText,
  sealPadded,
  sealTextBytes,
  SealedTextBroken,
  SEALING_BYTES,
} from '../../../infra/vault/sealed-text.ts'

const KEY = randomBytes(32)
const PLACE = placeOf('balances', 3, 'ref', 'EUR')

function sealed(text: string): Buffer {
  return sealTextBytes(KEY, PLACE, text)
}

test('any text round-trips', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3_000 }), (text) => {
      expect(openText(KEY, PLACE, sealed(text))).toBe(text)
    }),
  )
})

test('the same text never gives the same bytes or the same nonce', () => {
  const nonces = new Set(Array.from({ length: 2_000 }, () => sealed('the same').subarray(1, 25).toString('hex')))
  expect(nonces.size).toBe(2_000)
})

test('a padded text of any length round-trips with its padding, after any other text', () => {
  const sealPaddedBytes = (text: string): Buffer => Buffer.from(sealPadded(KEY, PLACE, text, 'base64'), 'base64')
  const lengths = [5_000, 0, 255, 256, 257, 21_845, 21_846, 70_000, 3]
  for (const text of lengths.flatMap((length) => [
    'x'.repeat(length),
    '\u20ac'.repeat(length),
    '\ud800'.repeat(length),
  ])) {
    const whole = sealPaddedBytes(text)
    const plain = Buffer.from(padded(text), 'utf8')
    expect(whole.length).toBe(SEALING_BYTES + plain.length)
    expect(openText(KEY, PLACE, whole)).toBe(plain.toString('utf8'))
    const changed = Buffer.from(whole)
    changed[whole.length - 17] = (changed[whole.length - 17] ?? 0) ^ 1
    expect(() => openText(KEY, PLACE, changed)).toThrow(SealedTextBroken)
  }
  const nonces = new Set(Array.from({ length: 2_000 }, () => sealPaddedBytes('the same').toString('hex', 1, 25)))
  expect(nonces.size).toBe(2_000)
})

test('it does not open with any bit removed, added or changed', () => {
  const whole = sealed('{"balance":"100"}')
  for (let bit = 0; bit < whole.length * 8; bit += 1) {
    const changed = Buffer.from(whole)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(() => openText(KEY, PLACE, changed)).toThrow(SealedTextBroken)
  }
  for (let length = 0; length < whole.length; length += 1) {
    expect(() => openText(KEY, PLACE, whole.subarray(0, length))).toThrow(SealedTextBroken)
  }
  expect(() => openText(KEY, PLACE, Buffer.concat([whole, Buffer.of(0)]))).toThrow(SealedTextBroken)
})

test('it does not open under another key or in another place', () => {
  const whole = sealed('100')
  expect(() => openText(randomBytes(32), PLACE, whole)).toThrow(SealedTextBroken)
  for (const other of [
    placeOf('balances', 4, 'ref', 'EUR'),
    placeOf('balances', 3, 'other', 'EUR'),
    placeOf('balances', 3, 'ref', 'USD'),
    placeOf('holds', 3, 'ref', 'EUR'),
    placeOf('balances', 3, 'refEUR'),
  ]) {
    expect(() => openText(KEY, other, whole)).toThrow(SealedTextBroken)
  }
})

test('the error reveals nothing of the text', () => {
  const opening = () => openText(randomBytes(32), PLACE, sealed('recognizable'))
  expect(opening).toThrow(SealedTextBroken)
  expect(opening).not.toThrow('recognizable')
})
