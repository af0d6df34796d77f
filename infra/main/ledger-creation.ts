import type { MasterKeys } from '../keys/master-key.ts'
import { migrate, readFoundationAt, type LedgerRecord } from '../postgres/migrate.ts'
import { createMissingServiceKeys } from '../postgres/service-keys-postgres.ts'
import { newLedgerSecrets, openLedgerSecrets, refuseOtherMasterKeys } from './ledger-secrets.ts'

const DEFAULT_SHARDS = 256

/**
 * Brings the database to this program's schema and creates the ledger in it if there is none, with its first signing keys:
 * where parts have roles of their own at PostgreSQL, none of them may make one.
 * `shards`: undefined takes what the ledger has. Throws when an existing ledger has another number, or another master key.
 */
export async function createOrMigrate(
  url: string,
  masterKeys: MasterKeys,
  shards: number | undefined,
  encryption: 'on' | 'off',
): Promise<LedgerRecord> {
  const existing = await readFoundationAt(url)
  // Before anything is changed: a step of the migration may seal something under the master key.
  if (existing !== undefined) refuseOtherMasterKeys(masterKeys, existing.sealedShardSecret)
  const shardCount = shards ?? existing?.shardCount ?? DEFAULT_SHARDS
  const ledger = await migrate(url, { shardCount, ...newLedgerSecrets(masterKeys, encryption) })
  const { serviceKeys } = openLedgerSecrets(masterKeys, ledger)
  await createMissingServiceKeys({ url, sealing: serviceKeys })
  return ledger
}
