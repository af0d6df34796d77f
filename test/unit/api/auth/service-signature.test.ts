/** A signature of the service verifies only in its original encoding. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifiesText } from '../../../../api/endpoint/service-signature.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
const TEXT = '{"amount":"1"}'
const signature = sign('sha256', Buffer.from(TEXT), { key: privateKey, dsaEncoding: 'der' }).toString('base64')

test('a signature verifies only under the signing key and over the signed text', () => {
  expect(verifiesText(publicKey, TEXT, signature)).toBe(true)
  expect(verifiesText({ x, y }, TEXT, signature)).toBe(true)
  expect(verifiesText({ x, y }, `${TEXT} `, signature)).toBe(false)
  expect(verifiesText({ x: y, y: x }, TEXT, signature)).toBe(false)
  expect(verifiesText({ x: '', y: '' }, TEXT, signature)).toBe(false)
})

test.for([
  ['white space', (text: string) => `${text.slice(0, 10)} ${text.slice(10)}`],
  ['padding behind the end', (text: string) => `${text}====`],
  ['characters outside base64', (text: string) => `${text.slice(0, 10)}!!!!${text.slice(10)}`],
  ['extra characters behind it', (text: string) => `${text.replace(/=+$/, '')}AAAA`],
  ['no characters', () => ''],
] as const)('a signature with %s does not verify', ([, spelled]) => {
  expect(verifiesText(publicKey, TEXT, spelled(signature))).toBe(false)
})
