/**
 * Accounts that were erased: their data keys are gone, and what they sealed is left out or shown by its hashes alone.
 *   E1. The account's row decides whether it was erased, never a key in memory. The row is opened before it is believed:
 *       an attacker who can write a column must not be able to hide rows.
 *   E2. Rows and keys are read first: an account that was erased meanwhile has no key, and its row says so by then.
 */
import type postgres from 'postgres'
import { accountKeyName, shardKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { ACCOUNT_COLUMNS, type AccountRow, openAccount } from './account-document.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import { fetchKeys } from './opened-rows.ts'
import { prepared } from '../connection/prepared.ts'

const NONE: ReadonlySet<string> = new Set()

/** Over the index of those that were erased, which are few. */
export const ERASED_AMONG = `
SELECT ${ACCOUNT_COLUMNS} FROM accounts a WHERE a.status = 'erased' AND a.account_id = ANY($1::text[])`

/** Rows that say so, with the keys that they are opened with. */
export async function findErasedRows(
  sql: postgres.ISql,
  refs: readonly string[],
  vault: RowVault,
): Promise<readonly AccountRow[]> {
  if (refs.length === 0) return []
  const rows = await prepared<AccountRow>(sql, ERASED_AMONG, [arrayLiteral('text', [...new Set(refs)])])
  await fetchKeys(
    sql,
    rows.map((row) => shardKeyName(row.shard_id)),
    vault,
  )
  return rows
}

/** Those of the references whose accounts were erased. Throws UnreadableRow (E1). */
export async function erasedAmong(
  sql: postgres.ISql,
  refs: readonly string[],
  vault: RowVault,
): Promise<ReadonlySet<string>> {
  const rows = await findErasedRows(sql, refs, vault)
  if (rows.length === 0) return NONE
  for (const row of rows) openAccount(row, vault)
  return new Set(rows.map((row) => row.account_id))
}

/** Fetches the keys of these accounts and gives those of them that were erased (E2). Throws UnreadableRow. */
export async function fetchKeysOfAccounts(
  sql: postgres.ISql,
  refs: readonly string[],
  vault: RowVault,
): Promise<ReadonlySet<string>> {
  await fetchKeys(sql, refs.map(accountKeyName), vault)
  return erasedAmong(sql, refs, vault)
}

/** The account ID does not follow from it, nor can it be computed from an ID without the ledger's secrets. */
export function erasedName(ref: string, vault: RowVault): string {
  const digits = Buffer.from(vault.keyRef('\u00a7erased', ref), 'base64url').toString('hex')
  return `erased:${digits.slice(0, 12)}`
}
