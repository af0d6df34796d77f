/**
 * Accounts, and what belongs to them, as another ledger takes them in (D20).
 *   X1. All of an export is of one moment, read in bounded memory and within a bounded time.
 *   X2. What is refused is refused before the first line, and nothing was changed. Content that cannot be read to its end
 *       is broken off with an error: it never ends as if it were whole.
 *   X3. What is moved has left, and its account is closed, before the moment that is exported. The same order again, for the
 *       same audience, exports the same.
 * Throws ExportsUnavailable, except from the content, whose reader gets whatever broke it off.
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
  /** The client's scope: everything outside of it is not found. */
  readonly scope: AccountScope
  /** Each once; null: all that the scope has. */
  readonly accountIds: readonly string[] | null
  /** `move`: not of all. */
  readonly mode: 'copy' | 'move'
  /** The ledger that it is for. */
  readonly audience: string
  /** Key of the receiving ledger, to which confidential parts are encrypted. */
  readonly recipient: AccountKey
  readonly requester: string
}

export type BegunExport =
  /** Lines of UTF-8, each with its line feed. Whoever does not want them to the end cancels them. */
  | { readonly kind: 'begun'; readonly content: ReadableStream<Uint8Array> }
  | { readonly kind: 'refused'; readonly code: ExportRefusal; readonly detail: string; readonly field: string | null }
  /** Another export is under way here. */
  | { readonly kind: 'busy' }
  /** A part of a move got no verdict: some of the accounts may have gone. The same order again goes on. */
  | { readonly kind: 'unavailable'; readonly reason: UnavailableReason; readonly outcome: 'not_applied' | 'unknown' }

/** `conflict`: what is there does not permit it. */
export type ExportRefusal = 'not_found' | 'conflict'

export class ExportsUnavailable extends Error {
  override readonly name = 'ExportsUnavailable'
}
