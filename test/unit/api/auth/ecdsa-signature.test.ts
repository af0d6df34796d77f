import { expect, test } from 'vitest'
import { rawSignature } from '../../../../api/auth/ecdsa-signature.ts'

const integer = (hex: string): string => `02${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`

function der(r: string, s: string): Buffer {
  const body = integer(r) + integer(s)
  return Buffer.from(`30${(body.length / 2).toString(16).padStart(2, '0')}${body}`, 'hex')
}

const FULL = '7f'.repeat(32)

test.for([
  ['integers of full length', FULL, FULL, FULL + FULL],
  ['a leading zero before a high bit', `00${'ff'.repeat(32)}`, FULL, 'ff'.repeat(32) + FULL],
  ['short integers', '01', '7f02', `${'00'.repeat(31)}01${'00'.repeat(30)}7f02`],
] as const)('DER with %s becomes 64 bytes of r || s', ([, r, s, expected]) => {
  expect(rawSignature(der(r, s)).toString('hex')).toBe(expected)
})

test.for([
  ['an empty text', Buffer.alloc(0)],
  ['a truncated signature', der(FULL, FULL).subarray(0, 69)],
  ['trailing bytes', Buffer.concat([der(FULL, FULL), Buffer.of(0)])],
  ['an integer too long', der(`01${FULL}`, FULL)],
  ['another type inside', Buffer.from('3006030101030101', 'hex')],
] as const)('%s is rejected as not DER', ([, bytes]) => {
  expect(() => rawSignature(bytes)).toThrow('not DER')
})
