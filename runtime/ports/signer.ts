/**
 * Signatures, many at a time. Real: node:crypto on the thread pool. Simulated: the verdict is an event.
 * Contract: test/contract/signer.contract.ts
 *   G1. A verdict is about exactly the bytes, key and signature that were given; garbage is `false`, never an error.
 *   G2. What `signMany` returns verifies under the public key of the key it names.
 *   G3. A receipt names the key that was in use at its own time, whatever this machine's clock says.
 */
export interface Signer {
  /** Verdicts in the order of the checks. */
  readonly verifyMany: (checks: readonly SignatureCheck[]) => Promise<readonly boolean[]>
  /** Signs with a receipt key: the caller puts its `receiptKeyId` into what is signed. DER in base64, in order. */
  readonly signMany: (keyId: string, payloads: readonly string[]) => Promise<readonly string[]>
  /** The key that receipts of this time (milliseconds since 1970) are to name: the same for one time as long as it may sign. */
  readonly receiptKeyId: (processedAtMs: number) => string
}

export interface SignatureCheck {
  /** Compressed SEC1 point, base64url. */
  readonly publicKey: string
  /** ECDSA P-256 over the SHA-256 of this text's UTF-8. */
  readonly payload: string
  /** base64url or base64, padding optional, of 64-byte r||s or of DER; high S is accepted. */
  readonly signature: string
}
