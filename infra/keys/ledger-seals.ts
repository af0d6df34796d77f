/**
 * The secrets in the ledger's row: 32 bytes each, sealed under wrapping keys.
 *   L1. Each secret is sealed for its use, and does not open in place of another.
 */
import { createMasterSeal, type OpenedSecret } from './master-seal.ts'
import type { KeyRing } from './wrapping-keys.ts'

/**
 * root-secret: see root-secret.ts. message-secret: seals messages between edges and nodes. shard-secret: assigns accounts to
 * shards. index-secret: keys the hashes for look-ups.
 */
export type LedgerSecretName = 'root-secret' | 'message-secret' | 'shard-secret' | 'index-secret'

export function sealLedgerSecret(ring: KeyRing, name: LedgerSecretName, secret: Uint8Array): Buffer {
  return createMasterSeal(ring, name).seal([name], secret)
}

/** Throws MasterKeyMissing. */
export function openLedgerSecret(ring: KeyRing, name: LedgerSecretName, sealed: Uint8Array): OpenedSecret {
  return createMasterSeal(ring, name).open([name], sealed)
}
