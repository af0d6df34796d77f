/**
 * How a snapshot reads sealed rows: of millions of accounts, one after another. The key of an account comes with its rows
 * and is of use until the next one comes: nothing of it is kept.
 */
import { openLedgerSecret } from '../keys/ledger-seals.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { createDataKeys, type DataKeys, type MadeKey } from '../vault/data-keys.ts'
import { createKeyWrapping } from '../vault/key-wrapping.ts'
import { createRowVault, type RowVault } from '../vault/row-vault.ts'

/** Each account comes once. */
const CACHED_ACCOUNTS = 64

/** `keys.adopt` replaces the key that was adopted before. Throws MasterKeyMissing. */
export function openSnapshotVault(readingKeys: KeyRing, { sealedIndexSecret, amountIndex }: LedgerRecord): RowVault {
  const fetched = createDataKeys(createKeyWrapping(readingKeys))
  let latest: MadeKey | undefined
  const keys: DataKeys = {
    ...fetched,
    known: (name) => (latest?.name === name ? latest.key : fetched.known(name)),
    adopt: (key) => {
      latest = key
    },
  }
  const { secret } = openLedgerSecret(readingKeys, 'index-secret', sealedIndexSecret)
  return createRowVault(keys, secret, { amountIndex, cachedAccounts: CACHED_ACCOUNTS })
}
