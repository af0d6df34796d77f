/** Erased accounts in an audit: their rows cannot be decrypted, and that is not a finding. */
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { type AccountRow, keyNameOfAccountRow, openAccount } from '../postgres/rows/account-document.ts'
import { ERASED_AMONG } from '../postgres/rows/erased-accounts.ts'
import { accountKeyName } from '../vault/key-name.ts'
import type { Reading } from './audit-reads.ts'
import { opened } from './opened.ts'

/**
 * Fetches the keys of these accounts, and returns the erased accounts. Keys come first: if an account is erased meanwhile,
 * either its key or its erased row is seen. An erased row counts only if it can be read.
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
