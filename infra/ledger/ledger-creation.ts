import type { KeyRing } from '../keys/wrapping-keys.ts'
import { migrate, readFoundationAt, type LedgerRecord } from '../postgres/migrations/migrate.ts'
import { untilWritable } from '../postgres/store/recovery.ts'
import { createMissingServiceKeys } from '../postgres/access/service-keys-postgres.ts'
import type { AmountIndex } from '../vault/row-vault.ts'
import { openLedgerSecrets, refuseOtherMasterKeys } from './ledger-secrets.ts'

const DEFAULT_SHARDS = 256

/** Properties fixed at a ledger's creation. undefined: an existing ledger keeps its own, a new one gets the default. */
export interface LedgerProperties {
  readonly shards?: number | undefined
  readonly amountIndex?: AmountIndex | undefined
}

/**
 * Brings the database to this program's schema and creates the ledger in it if there is none, with its first signing keys:
 * where parts have roles of their own at PostgreSQL, none of them may make one.
 * `say`: gets progress lines while PostgreSQL is in recovery. Throws if an existing ledger has other properties, or another
 * master key, or if PostgreSQL is read-only.
 */
export async function createOrMigrate(
  url: string,
  masterKeys: KeyRing,
  { shards, amountIndex }: LedgerProperties,
  say: (text: string) => void = () => undefined,
): Promise<LedgerRecord> {
  await untilWritable(url, say)
  const existing = await readFoundationAt(url)
  // Checked before migration, which may create secrets under the master key.
  if (existing !== undefined) refuseOtherMasterKeys(masterKeys, existing.sealedShardSecret)
  const shardCount = shards ?? existing?.shardCount ?? DEFAULT_SHARDS
  const ledger = await migrate(url, { shardCount, amountIndex, masterKeys })
  const { serviceKeys: seals } = openLedgerSecrets(masterKeys, ledger)
  await createMissingServiceKeys({ url, seals })
  return ledger
}
