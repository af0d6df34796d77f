/** The master key of a configuration, and the secret under it that assigns accounts to shards. */
import { join } from 'node:path'
import type { Configuration } from '../config/configuration.ts'
import { deriveKey, loadMasterKey, loadOrCreateMasterKey, type MasterKey } from '../keys/master-key.ts'
import { openSealed, seal, SealBroken, type SealingContext } from '../keys/sealing.ts'
import { createShardHash } from '../keys/shard-hash.ts'
import type { LedgerRecord } from '../postgres/migrate.ts'

const SHARD_SECRET: SealingContext = ['shard-secret']

/** Where the sandbox keeps the key that it made. */
export function generatedKeyFile(configuration: Configuration): string {
  return join(configuration.dataDir, 'master.key')
}

/** In the sandbox one is made at first start. Throws MasterKeyUnusable. */
export async function openMasterKey(configuration: Configuration): Promise<MasterKey> {
  if (configuration.masterKey !== undefined) return configuration.masterKey
  if (configuration.masterKeyFile !== undefined) return loadMasterKey(configuration.masterKeyFile)
  return loadOrCreateMasterKey(generatedKeyFile(configuration))
}

export function sealShardSecret(masterKey: MasterKey, secret: Buffer): Buffer {
  return seal(deriveKey(masterKey, 'shard-secret'), SHARD_SECRET, secret)
}

/** Which shard an account lives on. Throws when the master key is not the one that the ledger was created with. */
export function shardHashOf(masterKey: MasterKey, ledger: LedgerRecord): (accountId: string) => number {
  try {
    const secret = openSealed(deriveKey(masterKey, 'shard-secret'), SHARD_SECRET, ledger.sealedShardSecret)
    return createShardHash(secret, ledger.shardCount)
  } catch (cause) {
    if (!(cause instanceof SealBroken)) throw cause
    throw new Error('the master key is not the one that this ledger was created with', { cause })
  }
}
