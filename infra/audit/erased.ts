/** Accounts that were erased, as an audit meets them: what they sealed cannot be opened, and nothing is wrong with that. */
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { type AccountRow, keyNameOfAccountRow, openAccount } from '../postgres/rows/account-document.ts'
import { ERASED_AMONG } from '../postgres/rows/erased-accounts.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { Reading } from './audit-reads.ts'
import { opened } from './opened.ts'

/**
 * Fetches the keys of these accounts, and gives those that were erased: keys first, so that of one which is erased meanwhile
 * either the key is there or its row says so. A row that says so and cannot be read is not believed.
 */
export async function fetchKeysOfAccounts(
  { query, fetchKeys, vault }: Reading,
  refs: readonly string[],
): Promise<ReadonlySet<string>> {
  await fetchKeys(refs.map(accountKeyName))
  if (refs.length === 0) return new Set()
  const rows = await query<AccountRow>(ERASED_AMONG, [arrayLiteral('text', [...new Set(refs)])])
  await fetchKeys(rows.map(keyNameOfAccountRow))
  const believed = rows.filter((row) => opened(() => openAccount(row, vault)).isOpen)
  return new Set(believed.map((row) => row.account_id))
}
