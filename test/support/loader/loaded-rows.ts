/** The opened rows of a loaded ledger, for tests that read rows directly. */
import type postgres from 'postgres'
import type { AccountState } from '../../../actors/account/state.ts'
import { accountAddress, actorKey } from '../../../actors/address.ts'
import type { WrappingKeys } from '../../../infra/keys/wrapping-keys.ts'
import { openLedgerSecrets } from '../../../infra/ledger/ledger-secrets.ts'
import { findAccountRows, openWholeAccount } from '../../../infra/postgres/store/look-up-accounts.ts'
import { readLedger } from '../../../infra/postgres/migrations/migrate.ts'
import { accountKeyName } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'

export interface LoadedRows {
  readonly vault: RowVault
  /** Whole, each against the digest of its parts. Those that are not there are left out. */
  readonly accounts: (accountIds: readonly string[]) => Promise<readonly AccountState[]>
}

export async function loadedRows(sql: postgres.Sql, masterKey: WrappingKeys): Promise<LoadedRows> {
  const ledger = await readLedger(sql)
  if (ledger === undefined) throw new Error('the database has no ledger')
  const { vault, shardOf } = openLedgerSecrets({ current: masterKey, previous: [] }, ledger)
  const fetchKeys = (refs: readonly string[]): Promise<void> => vault.keys.fetch(sql, refs.map(accountKeyName))
  return {
    vault,
    accounts: async (accountIds) => {
      const addresses = accountIds.map((accountId) => ({
        accountId,
        shardId: shardOf(actorKey(accountAddress(accountId))),
      }))
      await fetchKeys(accountIds.map(vault.accountRef))
      const rows = await findAccountRows(sql, addresses, vault)
      const found = new Map(
        rows.map((row) => openWholeAccount(row, vault, '')[1]).map((state) => [state.accountId, state]),
      )
      return accountIds.flatMap((accountId) => found.get(accountId) ?? [])
    },
  }
}
