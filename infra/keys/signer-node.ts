/**
 * Signer by node:crypto. Invariants G1 and G2 of the port.
 * Verifies on the thread pool if there are enough processors. Otherwise verifies on the main thread, because the hand-over to
 * the pool costs more than half of a check (66 µs).
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
  /** Number of cached public keys. One takes 7 kB, and 80-140 µs to import. */
  readonly cachedKeys?: number
  /** Verifies on the main thread. Default: with fewer than four processors. */
  readonly inPlace?: boolean
}

/** Checks on the main thread in one turn of the event loop: about a millisecond. */
const CHECKS_PER_TURN = 16

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

type Verify = (payload: Buffer, key: KeyObject, signature: DecodedSignature) => boolean | Promise<boolean>

async function inTurns<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (const one of all) {
    results.push(await run(one))
    if (results.length % CHECKS_PER_TURN === 0) await setImmediate()
  }
  return results
}

async function verifyOne(check: SignatureCheck, publicKeys: ImportedKeys, verifies: Verify): Promise<boolean> {
  const readings = decodeSignature(check.signature)
  if (readings.length === 0) return false
  const key = publicKeys.cached(check.publicKey) ?? (await publicKeys.read(check.publicKey))
  if (key === undefined) return false
  const payload = Buffer.from(check.payload, 'utf8')
  for (const reading of readings) {
    if (await verifies(payload, key, reading)) return true
  }
  return false
}

/** False also for bytes that OpenSSL cannot parse (G1). */
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
