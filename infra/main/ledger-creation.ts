import type { MasterKey } from '../keys/master-key.ts'
import { migrate, readLedgerAt, type LedgerRecord } from '../postgres/migrate.ts'
import { createMissingServiceKeys } from '../postgres/service-keys-postgres.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { sealShardSecret, shardHashOf } from './ledger-secrets.ts'

const DEFAULT_SHARDS = 256

/**
 * Brings the database to this program's schema and creates the ledger in it if there is none, with its first signing keys:
 * where parts have roles of their own at PostgreSQL, none of them may make one.
 * `shards`: undefined takes what the ledger has. Throws when an existing ledger has another number, or another master key.
 */
export async function createOrMigrate(
  url: string,
  masterKey: MasterKey,
  shards: number | undefined,
): Promise<LedgerRecord> {
  const shardCount = shards ?? (await readLedgerAt(url))?.shardCount ?? DEFAULT_SHARDS
  const ledger = await migrate(url, { shardCount, sealShardSecret: (secret) => sealShardSecret(masterKey, secret) })
  shardHashOf(masterKey, ledger)
  await createMissingServiceKeys({ url, masterKey, clock: createSystemClock() })
  return ledger
}
