/**
 * The secrets in the ledger's own row: 32 bytes each, sealed under wrapping keys.
 *   L1. Each is sealed for its own use: none opens in the place of another.
 */
import { createMasterSeal, type OpenedSecret } from './master-seal.ts'
import { type KeyRing, WrappingKeyMissing } from './wrapping-keys.ts'

/**
 * root-secret: root-secret.ts. message-secret: seals messages between edges and nodes. shard-secret: assigns accounts to
 * shards. index-secret: keys the hashes that look-ups use.
 */
export type LedgerSecretName = 'root-secret' | 'message-secret' | 'shard-secret' | IndexSecretName
type IndexSecretName = 'index-secret' | 'index-secret-of-encrypted'

/**
 * The secret of references is sealed for what the ledger is: whoever writes in the ledger's row that it is not encrypted has
 * no secret that opens for that, and no process takes plain rows for its own.
 */
export function indexSecretName(stage: 'off' | 'converting' | 'on'): IndexSecretName {
  return stage === 'on' ? 'index-secret-of-encrypted' : 'index-secret'
}

export function sealLedgerSecret(ring: KeyRing, name: LedgerSecretName, secret: Uint8Array): Buffer {
  return createMasterSeal(ring, name).seal([name], secret)
}

/** Throws MasterKeyMissing. */
export function openLedgerSecret(ring: KeyRing, name: LedgerSecretName, sealed: Uint8Array): OpenedSecret {
  return createMasterSeal(ring, name).open([name], sealed)
}

/**
 * The root secret of a ledger from before version 0.5, which derived every key from the master key. The bytes of that key
 * are its root secret, so that every derived key stays the same. The secret of shards, sealed under it, identifies that
 * master key. Throws MasterKeyMissing.
 */
export function firstRootSecret(ring: KeyRing, sealedShardSecret: Uint8Array): Buffer {
  const { under } = openLedgerSecret(ring, 'shard-secret', sealedShardSecret)
  const master = [ring.current, ...ring.previous][under]?.master
  if (master === undefined) throw new WrappingKeyMissing('the root secret of this ledger is its first master key')
  return master.export()
}
