/** The command signs exactly the bytes that the ledger verifies, and refuses ambiguous input. */
import { createPublicKey, verify } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

const SUBMISSION = {
  type: 'credit',
  amount: '1.50',
  account_id: 'alice',
  idempotency_key: 'k',
  metadata: { b: '2', a: 'é' },
}
const CANONICAL =
  '{"account_id":"alice","amount":"1.50","idempotency_key":"k","metadata":{"a":"é","b":"2"},"type":"credit"}'
const DIGEST = 'd4dfabc3d6e22f831ffa5742f2c446f599589dfaa48c2b26b41348f3228864bb'

const shell = commandLine()
let jwk: { kty: string; crv: string; x: string; y: string }

beforeAll(async () => {
  const { out } = await shell.run(['keygen', '--out', 'key.pem'])
  jwk = JSON.parse(out) as typeof jwk
})

afterAll(() => rmSync(shell.cwd, { recursive: true }))

function verifies(signature: string, text: string): boolean {
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))
}

describe('ledger keygen', () => {
  test('prints a P-256 JWK without a private part and writes a file that only its owner can read', () => {
    expect(Object.keys(jwk)).toEqual(['kty', 'crv', 'x', 'y'])
    expect(jwk).toMatchObject({ kty: 'EC', crv: 'P-256' })
    expect(statSync(join(shell.cwd, 'key.pem')).mode & 0o777).toBe(0o600)
  })

  test('does not replace a file', async () => {
    expect(await shell.run(['keygen', '--out', 'key.pem'])).toMatchObject({ code: 1, out: '' })
  })
})

describe('ledger sign', () => {
  test('signs the canonical JSON and prints the submission with the signature', async () => {
    const { code, out, err } = await shell.run(['sign', '--key', 'key.pem'], JSON.stringify(SUBMISSION))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const { signature, ...rest } = JSON.parse(out) as typeof SUBMISSION & { signature: string }
    expect(rest).toEqual(SUBMISSION)
    expect(Buffer.from(signature, 'base64url')).toHaveLength(64)
    expect(verifies(signature, CANONICAL)).toBe(true)
    expect(verifies(signature, CANONICAL.replace('1.50', '1.51'))).toBe(false)
  })

  test.for([
    ['a token registration', '{"symbol":"EUR","decimals":2.0}', '{"decimals":2,"symbol":"EUR"}'],
    ['numbers in NFT metadata', '{"metadata":{"a":[1e16,-0.0,1.50]}}', '{"metadata":{"a":[10000000000000000,0,1.5]}}'],
  ])('signs %s in its canonical form', async ([, input = '', canonical = '']) => {
    const { code, out } = await shell.run(['sign', '--key', 'key.pem'], input)
    expect(code).toBe(0)
    expect(verifies((JSON.parse(out) as { signature: string }).signature, canonical)).toBe(true)
  })

  test('an existing signature is replaced and not covered', async () => {
    const { out } = await shell.run(['sign', '--key', 'key.pem'], JSON.stringify({ ...SUBMISSION, signature: 'old' }))
    expect(verifies((JSON.parse(out) as { signature: string }).signature, CANONICAL)).toBe(true)
  })

  test('prints the signed bytes on request, and a second implementation agrees', async () => {
    const args = ['sign', '--key', 'key.pem', '--show-canonical', '--double-check']
    const { code, err } = await shell.run(args, JSON.stringify(SUBMISSION))
    expect(code).toBe(0)
    expect(err).toBe(`canonical: ${CANONICAL}\nsha256: ${DIGEST}\n`)
  })

  test('a key rotation carries a proof by the new key over the same payload', async () => {
    const other = JSON.parse((await shell.run(['keygen', '--out', 'new.pem'])).out) as typeof jwk
    const { out } = await shell.run(['sign', '--key', 'key.pem', '--new-key', 'new.pem'], JSON.stringify(SUBMISSION))
    const { signature, proof } = JSON.parse(out) as { signature: string; proof: string }
    expect(verifies(signature, CANONICAL)).toBe(true)
    const key = createPublicKey({ key: other, format: 'jwk' })
    const bytes = Buffer.from(proof, 'base64url')
    expect(verify('sha256', Buffer.from(CANONICAL), { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true)
  })

  test.each([
    [
      'a number that a double cannot hold',
      '{"metadata":{"a":[0,12345678901234567890]}}',
      'metadata.a[1]: the number 1234',
    ],
    ['a duplicate key', '{"amount":"1","amount":"2"}', 'duplicate key'],
    ['an array', '["amount"]', 'standard input is not a JSON object'],
    ['malformed JSON', '{"amount":', 'not well-formed'],
    ['empty input', ' \n', 'standard input is empty: pass the submission'],
  ])('refuses %s', async (_, input, message) => {
    const { code, out, err } = await shell.run(['sign', '--key', 'key.pem'], input)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
  })

  test('names the file and the reason when the key cannot be used', async () => {
    shell.write('not.pem', 'hello')
    for (const [key, message] of [
      ['not.pem', 'not.pem is not an unencrypted private key in PEM'],
      ['missing.pem', 'missing.pem cannot be read: there is no such file'],
      ['.', '. cannot be read: it is a directory'],
    ] as const) {
      const { code, out, err } = await shell.run(['sign', '--key', key], '{}')
      expect([code, out, err]).toEqual([1, '', expect.stringContaining(`ledger sign: ${message}`)])
    }
  })
})
