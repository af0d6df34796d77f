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
 * Migrates the database and creates the ledger if there is none. Also creates the first signing keys, because the PostgreSQL
 * roles of the parts have no right to.
 * Throws if the existing ledger has other properties or another master key, or if PostgreSQL is read-only.
 * `say`: gets progress lines while PostgreSQL is in recovery.
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
