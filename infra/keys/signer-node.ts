/**
 * The Signer of production: node:crypto, on the thread pool or in place. Invariants G1 and G2 of the port.
 * A check takes 66 µs; to hand it to the pool and take it back takes 18 µs of the main thread and 25 µs of the pool's
 * besides. Where there are processors to spare that is well spent. Where the pool has none of its own it is not, and
 * checks are made in place, a few at a time, with the event loop's turn between them.
 */
import { type KeyObject, verify } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { SignatureCheck, Signer } from '../../runtime/ports/signer.ts'
import { createImportedKeys, type ImportedKeys } from './imported-keys.ts'
import { type DecodedSignature, decodeSignature } from './signature-encoding.ts'

export interface NodeSignerOptions {
  readonly keys: ServiceKeys
  /** How many public keys are kept as OpenSSL reads them, which takes 80-140 µs; each takes 7 kB. */
  readonly cachedKeys?: number
  /** Whether signatures are checked in place; by default where there are fewer than four processors. */
  readonly inPlace?: boolean
}

/** Checks in place between two turns of the event loop: about a millisecond. */
const CHECKS_A_TURN = 16

export function createNodeSigner(options: NodeSignerOptions): Signer {
  const { keys, cachedKeys = 50_000, inPlace = availableParallelism() < 4 } = options
  const publicKeys = createImportedKeys(cachedKeys)
  return {
    verifyMany: (checks) =>
      inPlace
        ? inTurns(checks, (check) => verifyOne(check, publicKeys, verifiesHere))
        : Promise.all(checks.map((check) => verifyOne(check, publicKeys, verifiesOnPool))),
    signMany: (keyId, payloads) => keys.sign(keyId, payloads),
    receiptKeyId: (processedAtMs) => keys.current('receipt', processedAtMs),
  }
}

/** Whether the signature is the key's over the payload. */
type Verify = (payload: Buffer, key: KeyObject, signature: DecodedSignature) => boolean | Promise<boolean>

async function inTurns<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (const one of all) {
    results.push(await run(one))
    if (results.length % CHECKS_A_TURN === 0) await setImmediate()
  }
  return results
}

async function verifyOne(check: SignatureCheck, publicKeys: ImportedKeys, verifies: Verify): Promise<boolean> {
  const readings = decodeSignature(check.signature)
  if (readings.length === 0) return false
  const key = publicKeys.known(check.publicKey) ?? (await publicKeys.read(check.publicKey))
  if (key === undefined) return false
  const payload = Buffer.from(check.payload, 'utf8')
  for (const reading of readings) {
    if (await verifies(payload, key, reading)) return true
  }
  return false
}

/** Signature bytes that OpenSSL cannot read are no signature of anything (G1). */
function verifiesHere(payload: Buffer, key: KeyObject, signature: DecodedSignature): boolean {
  try {
    return verify('sha256', payload, { key, dsaEncoding: signature.encoding }, signature.bytes)
  } catch {
    return false
  }
}

function verifiesOnPool(payload: Buffer, key: KeyObject, signature: DecodedSignature): Promise<boolean> {
  return new Promise((resolve) => {
    verify('sha256', payload, { key, dsaEncoding: signature.encoding }, signature.bytes, (error, valid) =>
      resolve(error === null && valid),
    )
  })
}
