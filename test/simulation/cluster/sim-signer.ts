/**
 * Signatures of the simulation: digests in the form of P-256 signatures. Verdicts cost no time and depend only on key
 * and bytes. Anyone with a public key could forge them; no simulated client does. Completions are events: they arrive
 * late, and in an order of their own.
 */
import { hash } from 'node:crypto'
import type { AccountKey } from '../../../actors/account/state.ts'
import type { SignatureCheck, Signer } from '../../../runtime/ports/signer.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import type { SeededRandom } from '../kernel/sim-random.ts'

export interface SimSignerOptions {
  /** The receipt key in use. */
  readonly receiptKeyId: string
  /** The next receipt key. */
  readonly next?: { readonly receiptKeyId: string; readonly fromMs: number }
  /** Duration of verifying or signing. */
  readonly delayMs?: { readonly min: number; readonly max: number }
}

const USUAL_DELAY_MS = { min: 0.1, max: 5 }

const SIM_KEY = /^A[A-Za-z0-9_-]{43}$/

const publicKeys = new Map<string, string>()

/** Shaped like a compressed point: 33 bytes in base64url, the first 2 or 3. */
export function simPublicKey(privateSeed: string): string {
  const known = publicKeys.get(privateSeed)
  if (known !== undefined) return known
  const digest = Buffer.from(hash('sha256', `public ${privateSeed}`), 'hex')
  const key = Buffer.concat([Buffer.from([2 + ((digest[0] ?? 0) & 1)]), digest]).toString('base64url')
  publicKeys.set(privateSeed, key)
  return key
}

export function simAccountKey(publicKey: string): AccountKey {
  return { keyId: `id of ${publicKey}`, publicKey }
}

/** Parses a key of `simPublicKey`. */
export function readSimPublicKey(input: unknown): AccountKey | undefined {
  return typeof input === 'string' && SIM_KEY.test(input) ? simAccountKey(input) : undefined
}

/** Shaped like r||s: 64 bytes in base64url. */
export function simSign(privateSeed: string, payload: string): string {
  return signatureBytes(simPublicKey(privateSeed), payload).toString('base64url')
}

/** The public key of the signatures of `signMany`; verify them with `simVerify`. */
export function simReceiptPublicKey(keyId: string): string {
  return simPublicKey(receiptSeed(keyId))
}

/** Whether that key made the signature, in base64 or base64url, over that payload. */
export function simVerify({ publicKey, payload, signature }: SignatureCheck): boolean {
  const bytes = signatureBytes(publicKey, payload)
  return signature === bytes.toString('base64url') || signature === bytes.toString('base64')
}

export function createSimSigner(process: SimProcess, worldRandom: SeededRandom, options: SimSignerOptions): Signer {
  const random = worldRandom.fork(`signer ${process.id}`)
  const { next } = options
  const { min, max } = options.delayMs ?? USUAL_DELAY_MS
  const complete = <T>(label: string, outcome: readonly T[] | Error): Promise<readonly T[]> =>
    process.promise((resolve, reject) => {
      process.later(random.between(min, max), label, () => {
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      })
    })
  return {
    receiptKeyId: (processedAtMs) =>
      next !== undefined && processedAtMs >= next.fromMs ? next.receiptKeyId : options.receiptKeyId,
    verifyMany: (checks) => complete(`has verified ${checks.length}`, checks.map(simVerify)),
    signMany: (keyId, payloads) => {
      if (keyId !== options.receiptKeyId && keyId !== next?.receiptKeyId)
        return complete('signs nothing', new Error('no such key'))
      const publicKey = simReceiptPublicKey(keyId)
      const signatures = payloads.map((payload) => signatureBytes(publicKey, payload).toString('base64'))
      return complete(`has signed ${payloads.length}`, signatures)
    },
  }
}

function receiptSeed(keyId: string): string {
  return `receipt key ${keyId}`
}

function signatureBytes(publicKey: string, payload: string): Buffer {
  return Buffer.from(hash('sha512', `${publicKey}\n${payload}`), 'hex')
}
