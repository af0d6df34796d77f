/**
 * Results of decrypting rows. A row that cannot be decrypted, or does not match its columns, is a finding and does not end
 * the audit. The rows of an erased account cannot be decrypted, and that is not a finding.
 */
import type { Json } from '../../actors/canonical-json.ts'
import type { Finding, Subject } from '../../runtime/audit/finding.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { type AccountRow, keyNameOfAccountRow, openAccount } from '../postgres/rows/account-document.ts'
import { ERASED_AMONG } from '../postgres/rows/erased-accounts.ts'
import { accountKeyName, type KeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { Reading } from './audit-reads.ts'

export type Opened<T> =
  | { readonly isOpen: true; readonly value: T }
  /** `problem`: names the table and the row, but no content. */
  | { readonly isOpen: false; readonly problem: string }

export function opened<T>(open: () => T): Opened<T> {
  try {
    return { isOpen: true, value: open() }
  } catch (error) {
    // The messages of other errors may quote sealed content.
    return { isOpen: false, problem: error instanceof UnreadableRow ? error.message : 'it cannot be read' }
  }
}

/** `accountId`, if `ref` is its reference; otherwise the reference, which is never an account's ID. */
export function accountMeant(vault: RowVault, ref: string, accountId: Json | undefined): string {
  return typeof accountId === 'string' && vault.accountRef(accountId) === ref ? accountId : ref
}

export interface CheckedKey {
  readonly name: KeyName
  /** Name of its owner in findings. */
  readonly of: string
  /** Whether its row exists. A process may still have a deleted key in memory. */
  readonly isThere: boolean
}

/** A missing or unreadable data key. It must have been fetched. */
export function keyFindings(vault: RowVault, subject: Subject, { name, of, isThere }: CheckedKey): readonly Finding[] {
  const place = `data key of ${of}`
  if (!isThere) return [{ subject, place, problem: 'it is not there' }]
  return vault.keys.known(name) === undefined ? [{ subject, place, problem: 'it does not open' }] : []
}

/**
 * Fetches the keys of the accounts of these rows, and returns the erased accounts. Keys come first: if an account is erased
 * meanwhile, either its key or its erased row is seen. An erased row counts only if it can be read.
 */
export async function fetchKeysOfAccounts(
  { query, fetchKeys, vault }: Reading,
  rows: readonly { readonly account_id: string | null }[],
): Promise<ReadonlySet<string>> {
  const refs = [...new Set(rows.flatMap(({ account_id: ref }) => ref ?? []))]
  await fetchKeys(refs.map(accountKeyName))
  if (refs.length === 0) return new Set()
  const erased = await query<AccountRow>(ERASED_AMONG, [arrayLiteral('text', refs)])
  await fetchKeys(erased.map(keyNameOfAccountRow))
  const believed = erased.filter((row) => opened(() => openAccount(row, vault)).isOpen)
  return new Set(believed.map((row) => row.account_id))
}
