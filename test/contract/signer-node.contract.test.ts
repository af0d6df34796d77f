/**
 * The node signer: the contract, and the encodings of decision D6, held against an implementation of ECDSA that shares
 * no code with it.
 */
import { createHash, generateKeyPairSync, sign as signWithKey } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { describe, expect, test } from 'vitest'
import { readPublicKey } from '../../infra/keys/public-key.ts'
import { createNodeSigner } from '../../infra/keys/signer-node.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { SignatureCheck } from '../../runtime/ports/signer.ts'
import { createFakeServiceKeys } from '../unit/api/fakes/fake-service-keys.ts'
import { verifiesUnder } from './service-keys.contract.ts'
import { type ClientKey, signerContract } from './signer.contract.ts'

interface Keys extends ServiceKeys {
  readonly verifies: (keyId: string, payload: string, signature: string) => boolean
}

const ROTATED_AT_MS = 1_790_000_000_000

function serviceKeys(): Keys {
  const keys = createFakeServiceKeys(0)
  keys.rotateAt('receipt', ROTATED_AT_MS)
  return {
    ...keys,
    verifies: (id, payload, signature) =>
      verifiesUnder(
        keys.published().find(({ keyId }) => keyId === id),
        payload,
        signature,
      ),
  }
}

function nobleKey(): ClientKey & { readonly raw: (payload: string | Buffer) => Buffer } {
  const { secretKey, publicKey } = p256.keygen()
  const raw = (payload: string | Buffer) => Buffer.from(p256.sign(Buffer.from(payload), secretKey, { lowS: true }))
  return {
    publicKey: Buffer.from(publicKey).toString('base64url'),
    raw,
    sign: (payload) => raw(payload).toString('base64url'),
  }
}

for (const inPlace of [false, true]) {
  signerContract(`node:crypto ${inPlace ? 'in place' : 'on the thread pool'}`, async () => {
    const keys = serviceKeys()
    return {
      signer: createNodeSigner({ keys, cachedKeys: 2, inPlace }),
      rotatedAtMs: ROTATED_AT_MS,
      clientKey: nobleKey,
      verifies: keys.verifies,
      settle: (work) => work,
      close: () => Promise.resolve(),
    }
  })
}

const ORDER = p256.Point.CURVE().n
const PAYLOAD = '{"account_id":"alice","amount":"1"}'

function integer(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  const signed = (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
  return Buffer.concat([Buffer.of(2, signed.length), signed])
}

function derOf(raw: Buffer): Buffer {
  const [r, s] = [raw.subarray(0, 32), raw.subarray(32)].map((half) => integer(BigInt(`0x${half.toString('hex')}`)))
  const body = Buffer.concat([r ?? Buffer.alloc(0), s ?? Buffer.alloc(0)])
  return Buffer.concat([Buffer.of(0x30, body.length), body])
}

/** The other signature that verifies: (r, n - s). */
function mirrored(raw: Buffer): Buffer {
  const s = ORDER - BigInt(`0x${raw.subarray(32).toString('hex')}`)
  return Buffer.concat([raw.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
}

describe.for([false, true])('D6: encodings of a signature (in place: %s)', (inPlace) => {
  const key = nobleKey()
  const raw = key.raw(PAYLOAD)
  const signer = createNodeSigner({ keys: serviceKeys(), inPlace })
  const verify = async (signature: string, changes: Partial<SignatureCheck> = {}): Promise<boolean | undefined> =>
    (await signer.verifyMany([{ publicKey: key.publicKey, payload: PAYLOAD, signature, ...changes }]))[0]

  const forms: [string, Buffer][] = [
    ['r||s', raw],
    ['r||s with high S', mirrored(raw)],
    ['DER', derOf(raw)],
    ['DER with high S', derOf(mirrored(raw))],
  ]
  test.for(forms)('%s is accepted in either base64, padded or not', async ([, bytes]) => {
    const padded = bytes.toString('base64')
    expect(await verify(padded)).toBe(true)
    expect(await verify(padded.replace(/=+$/, ''))).toBe(true)
    expect(await verify(bytes.toString('base64url'))).toBe(true)
    expect(await verify(padded.replaceAll('+', '-').replaceAll('/', '_'))).toBe(true)
    expect(await verify(bytes.toString('base64url'), { payload: `${PAYLOAD} ` })).toBe(false)
  })

  test('either S of one signature is valid: the mirrored one really is another text', () => {
    expect(mirrored(raw).equals(raw)).toBe(false)
  })

  const good = raw.toString('base64url')
  const lastDigit = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const looseEnd = good.slice(0, -1) + lastDigit.charAt(lastDigit.indexOf(good.slice(-1)) + 1)
  const refused: [string, string][] = [
    ['white space', ` ${good}`],
    ['a line break', `${good}\n`],
    ['a space inside', `${good.slice(0, 40)} ${good.slice(40)}`],
    ['garbage between', `${good.slice(0, 40)}.${good.slice(40)}`],
    ['half a padding', `${good}=`],
    ['too much padding', `${good}===`],
    ['a mixture of alphabets', `-+${good.slice(2)}`],
    ['set bits behind the last byte', looseEnd],
    ['hexadecimal', raw.toString('hex')],
    ['63 bytes', raw.subarray(0, 63).toString('base64url')],
    ['65 bytes', Buffer.concat([raw, Buffer.of(0)]).toString('base64url')],
    ['a byte behind the DER', Buffer.concat([derOf(raw), Buffer.of(0)]).toString('base64url')],
    ['a DER cut short', derOf(raw).subarray(0, -1).toString('base64url')],
    ['r = s = 0', Buffer.alloc(64).toString('base64url')],
    ['r = s = 0 in DER', Buffer.from('3006020100020100', 'hex').toString('base64url')],
    ['s = n', Buffer.concat([raw.subarray(0, 32), Buffer.from(ORDER.toString(16), 'hex')]).toString('base64url')],
    ['s and r exchanged', Buffer.concat([raw.subarray(32), raw.subarray(0, 32)]).toString('base64url')],
  ]
  test.for(refused)('%s is false', async ([, signature]) => {
    expect(await verify(signature)).toBe(false)
  })

  test('the base text of the refusals verifies, and its bytes are what the loose end decodes to', async () => {
    expect(await verify(good)).toBe(true)
    expect(Buffer.from(looseEnd, 'base64url').equals(raw)).toBe(true)
  })

  test('64 bytes of DER are read as DER', async () => {
    const found = shortSignature()
    expect(found.der).toHaveLength(64)
    expect(await verify(found.der.toString('base64url'), { publicKey: found.publicKey, payload: found.payload })).toBe(
      true,
    )
  })

  test('signatures over the digest of the digest are false: the payload is hashed once', async () => {
    const twice = key.raw(createHash('sha256').update(PAYLOAD).digest())
    expect(await verify(twice.toString('base64url'))).toBe(false)
    expect(await verify(key.raw(Buffer.from(PAYLOAD)).toString('base64url'))).toBe(true)
  })

  test('readPublicKey and the signer mean the same key', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const publicKey = readPublicKey(pair.publicKey.export({ format: 'pem', type: 'spki' }).toString())?.publicKey ?? ''
    const signature = signWithKey('sha256', Buffer.from(PAYLOAD), pair.privateKey).toString('base64')
    expect(await verify(signature, { publicKey })).toBe(true)
    expect(await verify(signature)).toBe(false)
  })
})

/** A valid signature whose DER has exactly 64 bytes: r is chosen short, and the key is the one that it then verifies under. */
function shortSignature(): { readonly der: Buffer; readonly publicKey: string; readonly payload: string } {
  const payload = 'payload'
  const point = pointWithShortX()
  const r = point.toAffine().x
  const s = BigInt(`0x11${'5a'.repeat(31)}`)
  const field = p256.Point.Fn
  const digest = field.create(BigInt(`0x${createHash('sha256').update(payload).digest('hex')}`))
  const key = point.multiply(s).subtract(p256.Point.BASE.multiply(digest)).multiply(field.inv(r))
  const body = Buffer.concat([integer(r), integer(s)])
  return {
    der: Buffer.concat([Buffer.of(0x30, body.length), body]),
    publicKey: Buffer.from(key.toBytes(true)).toString('base64url'),
    payload,
  }
}

/** An x of 26 bytes, which not every number is. */
function pointWithShortX() {
  for (let tail = 0; tail < 256; tail += 1) {
    const x = `11${'00'.repeat(24)}${tail.toString(16).padStart(2, '0')}`
    try {
      return p256.Point.fromHex(`02${x.padStart(64, '0')}`)
    } catch {
      continue
    }
  }
  throw new Error('no x among 256 is on the curve')
}
