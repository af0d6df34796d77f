/**
 * Opens sealed rows for a snapshot. The key of an account comes with its rows, and is dropped with the next account.
 */
import { openLedgerSecret } from '../keys/ledger-seals.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import type { LedgerRecord } from '../postgres/migrations/migrate.ts'
import { createDataKeys, type DataKeys, type MadeKey } from '../vault/data-keys.ts'
import { createKeyWrapping } from '../vault/key-wrapping.ts'
import { createRowVault, type RowVault } from '../vault/row-vault.ts'

/** Small, because each account is read once. */
const CACHED_ACCOUNTS = 64

/** `keys.adopt` replaces the previously adopted key. Throws MasterKeyMissing. */
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
