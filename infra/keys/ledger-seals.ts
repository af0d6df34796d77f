/**
 * The secrets in the ledger's own row: 32 bytes each, sealed under the master key.
 *   L1. Each is sealed for its own use: none opens in the place of another.
 */
import type { MasterKeys } from './master-key.ts'
import { createMasterSeal, type OpenedSecret } from './master-seal.ts'

/** root-secret: root-secret.ts. shard-secret: assigns accounts to shards. index-secret: what look-ups use is made with it. */
export type LedgerSecretName = 'root-secret' | 'shard-secret' | IndexSecretName
type IndexSecretName = 'index-secret' | 'index-secret-of-encrypted'

/**
 * The secret of references is sealed for what the ledger is: whoever writes in the ledger's row that it is not encrypted has
 * no secret that opens for that, and no process takes plain rows for its own.
 */
export function indexSecretName(stage: 'off' | 'converting' | 'on'): IndexSecretName {
  return stage === 'on' ? 'index-secret-of-encrypted' : 'index-secret'
}

export function sealLedgerSecret(masterKeys: MasterKeys, name: LedgerSecretName, secret: Uint8Array): Buffer {
  return createMasterSeal(masterKeys, name).seal([name], secret)
}

/** Throws MasterKeyMissing. */
export function openLedgerSecret(masterKeys: MasterKeys, name: LedgerSecretName, sealed: Uint8Array): OpenedSecret {
  return createMasterSeal(masterKeys, name).open([name], sealed)
}

export interface SealedRoot {
  readonly sealedShardSecret: Uint8Array
  /** null: the ledger was made before there was one. */
  readonly sealedRootSecret: Uint8Array | null
}

/**
 * The root secret. A ledger that was made before it had one derived everything from its master key: the bytes of that key
 * are its root secret, so that every derived key stays what it was. Which of the master keys that is shows the secret of
 * shards, which is sealed under it; the first rotation writes those bytes down before it seals that secret anew.
 * Throws MasterKeyMissing.
 */
export function openRootSecret(masterKeys: MasterKeys, sealed: SealedRoot): OpenedSecret {
  if (sealed.sealedRootSecret !== null) return openLedgerSecret(masterKeys, 'root-secret', sealed.sealedRootSecret)
  const { under } = openLedgerSecret(masterKeys, 'shard-secret', sealed.sealedShardSecret)
  const master = under === 0 ? masterKeys.current : masterKeys.previous[under - 1]
  if (master === undefined) throw new Error('what opened is none of the master keys')
  return { secret: master.export(), under }
}
