/**
 * The Signer of production: node:crypto on the thread pool, so that the main thread only hands out work.
 * Invariants G1 and G2 of the port.
 */
import { type KeyObject, verify } from 'node:crypto'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { SignatureCheck, Signer } from '../../runtime/ports/signer.ts'
import { type BoundedCache, createBoundedCache } from '../../runtime/bounded-cache.ts'
import { keyObjectOf } from './public-key.ts'
import { type DecodedSignature, decodeSignature } from './signature-encoding.ts'

export interface NodeSignerOptions {
  readonly keys: ServiceKeys
  /** How many imported public keys are kept; the one unused longest goes first. Importing one costs 50-170 µs. */
  readonly cachedKeys?: number
}

export function createNodeSigner({ keys, cachedKeys = 50_000 }: NodeSignerOptions): Signer {
  const publicKeys: KeyCache = createBoundedCache(cachedKeys)
  return {
    verifyMany: (checks) => Promise.all(checks.map((check) => verifyOne(check, publicKeys))),
    signMany: (keyId, payloads) => keys.sign(keyId, payloads),
    receiptKeyId: () => keys.current('receipt'),
  }
}

type KeyCache = BoundedCache<string, KeyObject>

function importedKey(publicKey: string, publicKeys: KeyCache): KeyObject | undefined {
  const known = publicKeys.get(publicKey)
  if (known !== undefined) return known
  try {
    const key = keyObjectOf(publicKey)
    publicKeys.set(publicKey, key)
    return key
  } catch {
    return undefined
  }
}

async function verifyOne(check: SignatureCheck, publicKeys: KeyCache): Promise<boolean> {
  const readings = decodeSignature(check.signature)
  if (readings.length === 0) return false
  const key = importedKey(check.publicKey, publicKeys)
  if (key === undefined) return false
  const payload = Buffer.from(check.payload, 'utf8')
  for (const reading of readings) {
    if (await verifies(payload, key, reading)) return true
  }
  return false
}

/** Signature bytes that OpenSSL cannot read are no signature of anything (G1). */
function verifies(payload: Buffer, key: KeyObject, signature: DecodedSignature): Promise<boolean> {
  return new Promise((resolve) => {
    verify('sha256', payload, { key, dsaEncoding: signature.encoding }, signature.bytes, (error, valid) =>
      resolve(error === null && valid),
    )
  })
}
