/**
 * What rows say once they are opened. One that does not open, or says something else than its columns, is a finding that
 * names it; it ends no walk.
 */
import type { Json } from '../../actors/canonical-json.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'

export type Opened<T> =
  | { readonly isOpen: true; readonly value: T }
  /** `problem`: names the table and the row, and says nothing of what is in it. */
  | { readonly isOpen: false; readonly problem: string }

export function opened<T>(open: () => T): Opened<T> {
  try {
    return { isOpen: true, value: open() }
  } catch (error) {
    // Whatever else is thrown may quote what was sealed.
    return { isOpen: false, problem: error instanceof UnreadableRow ? error.message : 'it cannot be read' }
  }
}

/** The account that the reference `ref` stands for, if it is `accountId`; otherwise the reference, which is no account's ID. */
export function accountMeant(vault: RowVault, ref: string, accountId: Json | undefined): string {
  return typeof accountId === 'string' && vault.accountRef(accountId) === ref ? accountId : ref
}
