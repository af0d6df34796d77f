/** Keys and signatures of the client, against the vector of the guide and node:crypto. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  canonicalOrder,
  exportJwk,
  exportPem,
  generateKey,
  importKey,
  type Order,
  orderHash,
  signOrder,
  thumbprint,
} from '../../../api/client/index.ts'
import { canonical } from '../../support/client/client-keys.ts'

const README = readFileSync(new URL('../../../api/README.md', import.meta.url), 'utf8')

interface Vector {
  readonly payload: Order
  readonly canonical: string
  readonly digest: string
  readonly public_key: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  readonly key_id: string
  readonly private_key_hex: string
}

const vector = JSON.parse(/```json\n(\{\n {2}"payload"[\s\S]*?)```/.exec(README)?.[1] ?? '{}') as Vector
const ORDER: Order = { type: 'credit', account_id: 'alice', amount: '1', idempotency_key: 'once' }

/** Whether node:crypto accepts the signature of the order. */
function isSigned(order: object, { x, y }: { readonly x: string; readonly y: string }): boolean {
  const { signature, ...payload } = order as { signature: string; [member: string]: string }
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const bytes = Buffer.from(signature, 'base64url')
  return verify('sha256', Buffer.from(canonical(payload)), { key, dsaEncoding: 'ieee-p1363' }, bytes)
}

describe('a key', () => {
  test('of the guide signs its payload', async () => {
    const d = Buffer.from(vector.private_key_hex, 'hex').toString('base64url')
    const key = await importKey({ ...vector.public_key, d })
    expect(key).toMatchObject({ publicKey: vector.public_key, keyId: vector.key_id })
    expect(canonicalOrder(vector.payload)).toBe(vector.canonical)
    expect(await orderHash(vector.payload)).toBe(`sha256:${vector.digest}`)
    expect(isSigned(await signOrder(vector.payload, key), vector.public_key)).toBe(true)
  })

  test('of PEM is that of node:crypto, whatever its line ends', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    for (const text of [pem, pem.replaceAll('\n', '\r\n'), `\n${pem}\n`]) {
      const key = await importKey(text)
      expect(key.publicKey).toEqual({ kty: 'EC', crv: 'P-256', x, y })
      expect(await exportPem(key)).toBe(pem)
    }
  })

  test('is the same after export and import', async () => {
    const key = await generateKey()
    const copies = [await importKey(await exportPem(key)), await importKey(await exportJwk(key))]
    expect(copies.map(({ keyId }) => keyId)).toEqual([key.keyId, key.keyId])
    expect(await thumbprint(key.publicKey)).toBe(key.keyId)
    expect(isSigned(await signOrder(ORDER, copies[0] ?? key), key.publicKey)).toBe(true)
  })

  test('that is not extractable signs, and is never exported', async () => {
    const options = { extractable: false }
    for (const key of [await generateKey(options), await importKey(await exportJwk(await generateKey()), options)]) {
      expect(isSigned(await signOrder(ORDER, key), key.publicKey)).toBe(true)
      await expect(exportPem(key)).rejects.toThrow(/extractable/)
      await expect(exportJwk(key)).rejects.toThrow(/extractable/)
    }
  })

  test.for([
    ['text', 'no key'],
    [
      'a public key',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'pem', type: 'spki' }),
    ],
    ['P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ format: 'pem', type: 'pkcs8' })],
  ] as const)('of %s is refused', async ([, text]) => {
    await expect(importKey(text.toString())).rejects.toThrow('This is not a P-256 private key')
  })
})

describe('a signed order', () => {
  test('gets a random idempotency key, keeps a given one, and omits undefined members', async () => {
    const key = await generateKey()
    const { idempotency_key: _, ...withoutKey } = ORDER
    const [one, other] = [await signOrder(withoutKey, key), await signOrder(withoutKey, key)]
    expect(one.idempotency_key).not.toBe(other.idempotency_key)
    const given = { ...ORDER, metadata: undefined } as object as Order
    const signed = await signOrder(given, key)
    expect(Object.keys(signed).toSorted()).toEqual(['account_id', 'amount', 'idempotency_key', 'signature', 'type'])
    expect(isSigned(signed, key.publicKey)).toBe(true)
  })

  test('signs again without its first signature', async () => {
    const key = await generateKey()
    const again = await signOrder(await signOrder(ORDER, await generateKey()), key)
    expect(isSigned(again, key.publicKey)).toBe(true)
  })
})
