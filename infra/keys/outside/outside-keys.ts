/** Keys that never enter the ledger's processes: they are in an HSM or a cloud's KMS. */

export interface OutsideKeys {
  /** HMAC-SHA-256 of each, 32 bytes. Throws OutsideKeysUnavailable. */
  readonly mac: (key: string, data: readonly Buffer[]) => Promise<readonly Buffer[]>
  /** ECDSA on P-256 of each SHA-256 digest, 64 bytes r||s or DER. Throws OutsideKeysUnavailable. */
  readonly sign: (key: string, digests: readonly Buffer[]) => Promise<readonly Buffer[]>
  /** As `readPublicKey` accepts it. Throws OutsideKeysUnavailable. */
  readonly publicKey: (key: string) => Promise<string>
  readonly close: () => Promise<void>
}

/** The message names no key and has no text of the key program, except its error code. */
export class OutsideKeysUnavailable extends Error {
  override readonly name = 'OutsideKeysUnavailable'
}
