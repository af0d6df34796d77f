/**
 * Results of decrypting rows. A row that cannot be decrypted, or does not match its columns, is a finding and does not end
 * the audit.
 */
import type { Json } from '../../actors/canonical-json.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'

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
