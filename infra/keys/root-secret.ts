/**
 * The root secret of a ledger: 32 random bytes, created with it and sealed in its row. Edges hold it, nodes do not. Keys that
 * must survive a replaced master key derive from it: for page tokens in use, the hashes of clients' secrets and refresh
 * tokens, and pages of liabilities.
 *   R1. It never changes.
 *   R2. Each use has a key of its own; none of them gives another, or the root secret, away.
 */
import { createSecretKey, hkdfSync } from 'node:crypto'

export const ROOT_SECRET_BYTES = 32

/** Names of derived keys. A released name is never reused, nor for the master key (`messages` was one). */
export type DerivedUse =
  | 'page-tokens'
  | 'client-secrets'
  | 'refresh-tokens'
  | 'account-tags'
  | 'liability-proofs'
  | 'checkpoint-chains'
  | 'checkpoint-sums'
  | 'export-key-salts'

/** The secret key for one use: 32 bytes, HKDF-SHA-256 (RFC 5869). */
export type DeriveKey = (use: DerivedUse) => Buffer

/** `rootSecret`: wiped, and held as a key object from here on, which shows nothing when it is logged. */
export function createDerivation(rootSecret: Buffer): DeriveKey {
  const root = createSecretKey(rootSecret)
  rootSecret.fill(0)
  return (use) => Buffer.from(hkdfSync('sha256', root, '', `ledger/${use}/1`, ROOT_SECRET_BYTES))
}
