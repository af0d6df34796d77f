/**
 * The root secret of a ledger: 32 random bytes, sealed in its row. Edges have it, nodes do not. Keys that must survive a
 * rotation of the master key derive from it.
 *   R1. It never changes.
 *   R2. Each use has its own key. No derived key reveals another one or the root secret.
 */
import { createSecretKey, hkdfSync } from 'node:crypto'

export const ROOT_SECRET_BYTES = 32

/** A released name is never reused, neither here nor in wrapping-keys.ts (`messages`, `checkpoint-chains` and `checkpoint-sums` were). */
export type DerivedUse =
  | 'page-tokens'
  | 'client-secrets'
  | 'refresh-tokens'
  | 'account-tags'
  | 'liability-proofs'
  | 'export-key-salts'
  | 'log-entries'
  | 'log-heads'

/** Derives 32 bytes by HKDF-SHA-256 (RFC 5869). */
export type DeriveKey = (use: DerivedUse) => Buffer

/** Wipes `rootSecret`, and keeps it as a KeyObject, which reveals nothing in logs. */
export function createDerivation(rootSecret: Buffer): DeriveKey {
  const root = createSecretKey(rootSecret)
  rootSecret.fill(0)
  return (use) => Buffer.from(hkdfSync('sha256', root, '', `ledger/${use}/1`, ROOT_SECRET_BYTES))
}
