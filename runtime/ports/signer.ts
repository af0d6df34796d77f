/**
 * Signatures, in batches. Production uses node:crypto on the thread pool.
 * Contract: test/contract/signer.contract.ts
 *   G1. A verdict concerns exactly the given bytes, key and signature; malformed input is `false`, never an error.
 *   G2. Signatures of `signMany` verify under the public key of the named key.
 *   G3. A receipt names the key in use at its own time, whatever this machine's clock shows.
 *   G4. A key outside that does not sign now is a SignerUnavailable: no fault of the payloads.
 */
export interface Signer {
  /** Verdicts in the order of the checks. */
  readonly verifyMany: (checks: readonly SignatureCheck[]) => Promise<readonly boolean[]>
  /** Signs with a receipt key, whose `receiptKeyId` the caller has put into the payload. DER in base64, in order. */
  readonly signMany: (keyId: string, payloads: readonly string[]) => Promise<readonly string[]>
  /** The key for receipts of this time (milliseconds since 1970): always the same one for a time, while it may sign. */
  readonly receiptKeyId: (processedAtMs: number) => string
}

/** The key is outside the process, and does not sign at the moment. The message has nothing of a payload. */
export class SignerUnavailable extends Error {
  override readonly name = 'SignerUnavailable'
}

export interface SignatureCheck {
  /** Compressed SEC1 point, base64url. */
  readonly publicKey: string
  /** ECDSA P-256 over the SHA-256 of this text's UTF-8. */
  readonly payload: string
  /** base64url or base64, padding optional, of 64-byte r||s or of DER; high S is accepted. */
  readonly signature: string
}
