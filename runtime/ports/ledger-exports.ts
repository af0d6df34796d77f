/**
 * Exports accounts, with their dependents, for another ledger (D20).
 *   X1. An export is a snapshot, read in bounded memory and within a bounded time.
 *   X2. A refusal comes before the first line, and nothing is changed. Content that cannot be read completely breaks
 *       off with an error: it never looks complete.
 *   X3. Moved balances have left, and the account is closed, before the exported snapshot. The same order for the same
 *       audience exports the same content again.
 * Throws ExportsUnavailable, except from the content, whose reader gets the error.
 */
import type { AccountScope } from '../../actors/account-scope.ts'
import type { AccountKey } from '../../actors/account/state.ts'
import type { Caller } from '../../actors/account/commands.ts'
import type { UnavailableReason } from './metrics.ts'
import type { Trail } from './trail.ts'

export interface LedgerExports {
  readonly begin: (order: ExportOrder) => Promise<BegunExport>
}

export interface ExportOrder {
  readonly caller: Caller
  readonly trail: Trail
  /** The client's scope: accounts outside it are not found. */
  readonly scope: AccountScope
  /** Distinct; null: all in the scope. */
  readonly accountIds: readonly string[] | null
  /** `move` needs `accountIds`. */
  readonly mode: 'copy' | 'move'
  /** The receiving ledger. */
  readonly audience: string
  /** Key of the receiving ledger, to which confidential parts are encrypted. */
  readonly recipient: AccountKey
  readonly requester: string
}

export type BegunExport =
  /** Lines of UTF-8, each with its line feed. A reader that does not need the rest must cancel the stream. */
  | { readonly kind: 'begun'; readonly content: ReadableStream<Uint8Array> }
  | { readonly kind: 'refused'; readonly code: ExportRefusal; readonly detail: string; readonly field: string | null }
  /** This process already runs another export. */
  | { readonly kind: 'busy' }
  /** A part of a move got no verdict: some of the accounts may have moved. Repeating the order continues. */
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason; readonly outcome: 'not_applied' | 'unknown' }

/** `conflict`: the state of an account does not permit the export. */
export type ExportRefusal = 'not_found' | 'conflict'

export class ExportsUnavailable extends Error {
  override readonly name = 'ExportsUnavailable'
}
