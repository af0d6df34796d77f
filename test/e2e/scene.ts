/** The shared ledger, and every client that value moves need. */
import type { LedgerClient } from '../support/client.ts'
import type { Running } from './running.ts'

export interface Scene extends Running {
  readonly admin: LedgerClient
  /** Another client of the same role and grants as `client`. */
  readonly stranger: LedgerClient
  /** May bring nothing in from outside the ledger. */
  readonly ungranted: LedgerClient
}

/** Called inside tests: before, there is none. */
export type GetScene = () => Scene
