/** A text decodes to at most one value, and only if it is base64. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64 } from '../../../infra/keys/base64.ts'

test('any bytes decode from either alphabet, with or without padding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const buffer = Buffer.from(bytes)
      for (const text of [
        buffer.toString('base64'),
        buffer.toString('base64').replace(/=+$/, ''),
        buffer.toString('base64url'),
        buffer.toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
      ]) {
        expect(decodeBase64(text)).toEqual(buffer)
      }
    }),
  )
})

test.for([
  ['white space inside', 'AA AA'],
  ['a line break at the end', 'AAAA\n'],
  ['a mixture of alphabets', '-+AA'],
  ['a length that no bytes have', 'AAAAA'],
  ['padding that is not complete', 'AA='],
  ['padding where none belongs', 'AAAA='],
  ['padding in the middle', 'AA==AA'],
  ['set bits behind the last byte', 'AB'],
  ['set bits behind the last byte, padded', 'AAB='],
  ['another character', 'AA.A'],
  ['a character outside ASCII', 'AAé'],
])('%s is refused', ([, text]) => {
  expect(decodeBase64(text ?? '')).toBeUndefined()
})
