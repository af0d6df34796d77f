import type { KeyObject } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { balanceText } from '../../../api/schemas/requests/export-records.ts'
import { keyObjectOf } from '../../../infra/keys/public-key.ts'
import { decryptBalance, decryptKeySalt, encryptBalance, encryptKeySalt } from '../../../infra/keys/balance-jwe.ts'
import { createRecipient } from './export-scene.ts'

const GOLD = { accountId: 'acc-alice', tokenId: 'GOLD' }
const SALT = '0123456789abcdef0123456789abcdef'

const { key, privateKey } = createRecipient()
const ours = (keyId: string): KeyObject | undefined => (keyId === key.keyId ? privateKey : undefined)

function headerWith(jwe: string, change: object): string {
  const [, ...parts] = jwe.split('.')
  const header = { ...decodeProtectedHeader(jwe), ...change }
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...parts].join('.')
}

async function joseJwe(text: string, header: object = {}): Promise<string> {
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.keyId, ...header })
    .encrypt(await keyObjectOf(key.publicKey))
}

describe('a balance for another ledger', () => {
  test('decrypts with the private key that it names', () => {
    for (const balance of ['1', '0.000000000000000001', '999999999999999999.999999999999999999']) {
      expect(decryptBalance(ours, GOLD, encryptBalance(key, GOLD, balance))).toBe(balance)
    }
  })

  test('is a JWE that other libraries read and write', async () => {
    const jwe = encryptBalance(key, GOLD, '12.5')
    const { plaintext, protectedHeader } = await compactDecrypt(jwe, privateKey)
    expect(Buffer.from(plaintext).toString()).toBe(balanceText('acc-alice', 'GOLD', '12.5'))
    expect(protectedHeader).toMatchObject({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.keyId })
    expect(decryptBalance(ours, GOLD, await joseJwe(balanceText('acc-alice', 'GOLD', '7')))).toBe('7')
  })

  test('has a new ephemeral key each time, and a length independent of the balance', () => {
    const [small, large, again] = ['1', '123456789012345678.123456789012345678', '1'].map((balance) =>
      encryptBalance(key, GOLD, balance),
    )
    expect(small?.length).toBe(large?.length)
    expect(decodeProtectedHeader(small ?? '')['epk']).not.toEqual(decodeProtectedHeader(again ?? '')['epk'])
  })

  test('cannot be decrypted for another account or token (J1)', () => {
    const jwe = encryptBalance(key, GOLD, '5')
    expect(decryptBalance(ours, { ...GOLD, accountId: 'acc-mallory' }, jwe)).toBeUndefined()
    expect(decryptBalance(ours, { ...GOLD, tokenId: 'SILVER' }, jwe)).toBeUndefined()
    expect(decryptBalance(ours, GOLD, jwe)).toBe('5')
  })

  test('cannot be decrypted with another key, nor after any change (J2)', () => {
    const jwe = encryptBalance(key, GOLD, '5')
    const other = createRecipient()
    expect(decryptBalance(() => other.privateKey, GOLD, jwe)).toBeUndefined()
    expect(decryptBalance(() => undefined, GOLD, jwe)).toBeUndefined()
    for (let at = 0; at < jwe.length; at += 1) {
      const changed = `${jwe.slice(0, at)}${jwe[at] === 'A' ? 'B' : 'A'}${jwe.slice(at + 1)}`
      expect(decryptBalance(ours, GOLD, changed), `character ${at}`).toBeUndefined()
    }
  })

  test.for([
    ['nothing', ''],
    ['dots', '....'],
    ['four parts', 'a.b.c.d'],
    ['a text that is too long', 'A'.repeat(100_000)],
    ['a header that is no JSON', 'AAAA..AAAAAAAAAAAAAAAA.AA.AAAAAAAAAAAAAAAAAAAAAA'],
    [
      'a header that is null',
      `${Buffer.from('null').toString('base64url')}..AAAAAAAAAAAAAAAA.AA.AAAAAAAAAAAAAAAAAAAAAA`,
    ],
  ])('is not %s (J2)', ([, jwe]) => {
    expect(decryptBalance(ours, GOLD, jwe ?? '')).toBeUndefined()
  })

  test('is refused with parties, compression or a point off the curve', async () => {
    const text = balanceText('acc-alice', 'GOLD', '5')
    expect(decryptBalance(ours, GOLD, await joseJwe(text, { typ: 'JWT' }))).toBeUndefined()
    expect(decryptBalance(ours, GOLD, await joseJwe(text, { zip: 'DEF' }))).toBeUndefined()
    const jwe = encryptBalance(key, GOLD, '5')
    const { epk } = decodeProtectedHeader(jwe) as { epk: { x: string } }
    expect(decryptBalance(ours, GOLD, headerWith(jwe, { epk: { ...epk, y: epk.x } }))).toBeUndefined()
    expect(decryptBalance(ours, GOLD, `${jwe}.`)).toBeUndefined()
  })

  test.for(['0', '05', '5.0', '-5', '5e3', ' 5', '1000000000000000000', '0.0000000000000000001'])(
    'is not %j, which is no quantity as the ledger writes it',
    (balance) => {
      expect(decryptBalance(ours, GOLD, encryptBalance(key, GOLD, balance))).toBeUndefined()
    },
  )

  test('is refused in any other form, even if it is encrypted correctly', async () => {
    const text = balanceText('acc-alice', 'GOLD', '5')
    for (const other of [text.trim(), `${text} `, text.replace('"5"', '5'), '{"balance":"5"}', '[]', 'null', '']) {
      expect(decryptBalance(ours, GOLD, await joseJwe(other)), other).toBeUndefined()
    }
  })
})

test('only its receiver can decrypt a salt of used keys, and only as 32 hexadecimal digits', () => {
  expect(decryptKeySalt(ours, encryptKeySalt(key, SALT))).toBe(SALT)
  expect(decryptKeySalt(() => createRecipient().privateKey, encryptKeySalt(key, SALT))).toBeUndefined()
  expect(decryptKeySalt(ours, encryptKeySalt(key, SALT.toUpperCase()))).toBeUndefined()
  expect(decryptKeySalt(ours, encryptBalance(key, GOLD, '5'))).toBeUndefined()
})
