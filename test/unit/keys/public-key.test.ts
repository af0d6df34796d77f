/** K1 and K2 of public-key.ts; all forms of a key give the same key. */
import { createECDH, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { expect, test } from 'vitest'
import { jwkOf, keyObjectOf, publicJwkOf, readPublicKey } from '../../../infra/keys/public-key.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = publicKey.export({ format: 'jwk' })
const spki = publicKey.export({ format: 'der', type: 'spki' })
const uncompressed = spki.subarray(spki.length - 65)
const compressed = Buffer.concat([Buffer.of(2 + ((uncompressed[64] ?? 0) & 1)), uncompressed.subarray(1, 33)])
const compressedSpki = Buffer.concat([
  Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
  compressed,
])
const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()

test.for([
  ['a JWK', jwk],
  ['a JWK with other members', { ...jwk, kid: '1', use: 'sig', alg: 'ES256' }],
  ['a PEM SPKI', pem],
  ['a PEM SPKI with CRLF and no line at the end', pem.trim().replaceAll('\n', '\r\n')],
  ['base64url of a DER SPKI', spki.toString('base64url')],
  ['base64 of a DER SPKI', spki.toString('base64')],
  ['base64 of a compressed DER SPKI', compressedSpki.toString('base64')],
  ['base64url of a point', uncompressed.toString('base64url')],
  ['base64 of a point', uncompressed.toString('base64')],
  ['base64url of a compressed point', compressed.toString('base64url')],
  ['base64 of a compressed point', compressed.toString('base64')],
] as const)('%s is the same key', async ([, input]) => {
  expect(readPublicKey(input)).toEqual({
    publicKey: compressed.toString('base64url'),
    keyId: await calculateJwkThumbprint({ ...jwk, kty: 'EC' }),
  })
})

test('the compressed point gives both signs of y', async () => {
  const signs = new Set<number | undefined>()
  for (let tries = 0; tries < 64 && signs.size < 2; tries += 1) {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = readPublicKey(pair.publicKey.export({ format: 'jwk' }))
    const { kty: _, ...coordinates } = pair.publicKey.export({ format: 'jwk' })
    expect(jwkOf(key?.publicKey ?? '')).toEqual({ kty: 'EC', ...coordinates })
    expect((await keyObjectOf(key?.publicKey ?? '')).equals(pair.publicKey)).toBe(true)
    signs.add(Buffer.from(key?.publicKey ?? '', 'base64url')[0])
  }
  expect(signs).toEqual(new Set([2, 3]))
})

test('only a compressed point of the curve becomes a key', async () => {
  const offCurve = Buffer.concat([Buffer.of(2), Buffer.alloc(31), Buffer.of(1)])
  for (const bytes of [offCurve, Buffer.alloc(33), uncompressed, compressed.subarray(0, 32), Buffer.alloc(0)]) {
    await expect(keyObjectOf(bytes.toString('base64url'))).rejects.toMatchObject({
      name: expect.stringMatching(/^(?:DataError|TypeError)$/) as string,
    })
  }
})

test('RFC 7638: leading zeros of a coordinate are part of the thumbprint', async () => {
  const ecdh = createECDH('prime256v1')
  // The x of this scalar begins with a zero byte.
  let scalar = 1n
  let point = Buffer.alloc(0)
  do {
    scalar += 1n
    ecdh.setPrivateKey(Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex'))
    point = ecdh.getPublicKey()
  } while (point[1] !== 0)
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const key = readPublicKey(point.toString('base64url'))
  expect(key?.keyId).toBe(await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x, y }))
  expect(
    readPublicKey({ kty: 'EC', crv: 'P-256', x: Buffer.from(point.subarray(2, 33)).toString('base64url'), y }),
  ).toBe(undefined)
})

const offCurve = Buffer.from(uncompressed)
offCurve.writeUInt8((offCurve[64] ?? 0) ^ 1, 64)
const hybrid = Buffer.from(uncompressed)
hybrid.writeUInt8(6 + ((uncompressed[64] ?? 0) & 1), 0)
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey
const k256 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey
const ed25519 = generateKeyPairSync('ed25519').publicKey
const FIELD_PRIME = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff'
const der = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).toString('base64')

test.for([
  ['K2: a private JWK', privateKey.export({ format: 'jwk' })],
  ['K2: a JWK whose private part is null', { ...jwk, d: null }],
  ['K2: a PEM private key', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()],
  ['K2: a SEC1 PEM private key', privateKey.export({ format: 'pem', type: 'sec1' }).toString()],
  ['K2: a DER private key', privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')],
  ['K1: P-384', p384.export({ format: 'jwk' })],
  ['K1: P-384 as SPKI', der(p384)],
  ['K1: secp256k1 as SPKI', der(k256)],
  ['K1: a point of secp256k1', k256.export({ format: 'der', type: 'spki' }).subarray(-65).toString('base64')],
  ['K1: a JWK of secp256k1 that says P-256', { ...k256.export({ format: 'jwk' }), crv: 'P-256' }],
  ['K1: Ed25519', ed25519.export({ format: 'pem', type: 'spki' }).toString()],
  ['K1: a point off the curve', offCurve.toString('base64url')],
  ['K1: a JWK off the curve', { ...jwk, y: offCurve.subarray(33).toString('base64url') }],
  ['K1: a SPKI off the curve', Buffer.concat([spki.subarray(0, 26), offCurve]).toString('base64')],
  ['K1: a hybrid point', hybrid.toString('base64url')],
  ['K1: infinity', 'AA'],
  ['K1: 33 zero bytes', Buffer.alloc(33).toString('base64url')],
  ['K1: 65 zero bytes', Buffer.alloc(65).toString('base64url')],
  ['K1: a coordinate of the field size', Buffer.from(`02${FIELD_PRIME}`, 'hex').toString('base64url')],
  ['K1: an x that no point has', Buffer.from(`02${'1'.padStart(64, '0')}`, 'hex').toString('base64url')],
  ['bytes behind the point', Buffer.concat([compressed, Buffer.of(0)]).toString('base64url')],
  ['bytes behind the SPKI', Buffer.concat([spki, Buffer.of(0)]).toString('base64url')],
  ['text before the PEM', `x${pem}`],
  ['two PEMs', pem + pem],
  ['a certificate', pem.replaceAll('PUBLIC KEY', 'CERTIFICATE')],
  ['a JWK without y', { kty: 'EC', crv: 'P-256', x: jwk.x }],
  ['a JWK of another kind', { ...jwk, kty: 'OKP' }],
  ['a JWK with a number', { ...jwk, x: 1 }],
  [
    'a JWK with a padded zero',
    { ...jwk, x: Buffer.concat([Buffer.of(0), uncompressed.subarray(1, 33)]).toString('base64url') },
  ],
  ['hexadecimal', compressed.toString('hex')],
  ['an empty text', ''],
  ['a long text', 'A'.repeat(100_000)],
  ['a number', 1],
  ['null', null],
  ['nothing', undefined],
  ['an array', [jwk]],
] as const)('%s is refused', ([, input]) => {
  expect(readPublicKey(input)).toBeUndefined()
})

test('the JWK equals the export of Node.js for private, public and compressed keys', () => {
  const halves = [publicKey, privateKey, createPublicKey({ key: compressedSpki, format: 'der', type: 'spki' })]
  for (const half of halves) expect(publicJwkOf(half)).toEqual(jwk)
})
