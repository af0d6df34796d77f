/**
 * Signatures by a service key whose private half is outside.
 *   G1. Every signature is verified before it is used: a device with another key, or a faulty one, signs nothing.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { SignerUnavailable } from '../../../runtime/ports/signer.ts'
import { decodeSignature, type DecodedSignature } from '../signature-encoding.ts'
import { type OutsideKeys, OutsideKeysUnavailable } from './outside-keys.ts'

export interface OutsidePrivateKey {
  readonly reference: string
  readonly publicKey: KeyObject
}

const PREFIX = 'outside:'

/** Sealed in the place of the private key. A PKCS #8 never begins like this. */
export function secretOfReference(reference: string): Buffer {
  return Buffer.from(`${PREFIX}${reference}`, 'utf8')
}

/** undefined: the secret is a PKCS #8. */
export function referenceIn(secret: Buffer): string | undefined {
  const isReference = secret.subarray(0, PREFIX.length).toString('latin1') === PREFIX
  return isReference ? secret.subarray(PREFIX.length).toString('utf8') : undefined
}

/** `x`, `y`: coordinates, base64url. */
export function publicKeyObject({ x, y }: { readonly x: string; readonly y: string }): KeyObject {
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
}

/** DER in base64, in order. Throws SignerUnavailable. `keys`: undefined if this process has no key program. */
export async function signOutside(
  keys: OutsideKeys | undefined,
  { reference, publicKey }: OutsidePrivateKey,
  payloads: readonly string[],
): Promise<readonly string[]> {
  if (keys === undefined) throw new SignerUnavailable('the key is outside, and LEDGER_KEY_COMMAND is not set')
  const texts = payloads.map((payload) => Buffer.from(payload, 'utf8'))
  const digests = texts.map((text) => createHash('sha256').update(text).digest())
  let signatures: readonly Buffer[]
  try {
    signatures = await keys.sign(reference, digests)
  } catch (cause) {
    if (!(cause instanceof OutsideKeysUnavailable)) throw cause
    throw new SignerUnavailable(cause.message, { cause })
  }
  return await Promise.all(texts.map((text, index) => checkedDer(text, signatures[index], publicKey)))
}

async function checkedDer(text: Buffer, signature: Buffer | undefined, publicKey: KeyObject): Promise<string> {
  for (const reading of decodeSignature(signature?.toString('base64') ?? '')) {
    if (await verifies(text, reading, publicKey)) return derOf(reading).toString('base64')
  }
  throw new SignerUnavailable('the key program gave a signature that is not of this key')
}

function verifies(text: Buffer, { bytes, encoding }: DecodedSignature, key: KeyObject): Promise<boolean> {
  return new Promise((resolve) => {
    verify('sha256', text, { key, dsaEncoding: encoding }, bytes, (error, valid) => resolve(error === null && valid))
  })
}

function derOf({ bytes, encoding }: DecodedSignature): Buffer {
  return encoding === 'der' ? bytes : Buffer.from(p256.Signature.fromBytes(bytes, 'compact').toBytes('der'))
}
