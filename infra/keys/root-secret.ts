/**
 * The root secret of a ledger: 32 random bytes, made with it and sealed in its row under the master key. What must stay as
 * it is when the master key is replaced is derived from it: page tokens that are under way, the hashes of clients' secrets
 * and refresh tokens,
 * messages, pages of liabilities.
 *   R1. It never changes.
 *   R2. Each use has a key of its own; none of them gives another, or the root secret, away.
 */
import { createSecretKey, hkdfSync } from 'node:crypto'

export const ROOT_SECRET_BYTES = 32

/** What is derived from the root secret. A name once released is never given to anything else, at the master key neither. */
export type DerivedUse =
  | 'page-tokens'
  | 'client-secrets'
  | 'refresh-tokens'
  | 'messages'
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
