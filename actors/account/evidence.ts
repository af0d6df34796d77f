/** Looked-up facts for a step of an account, which performs no I/O. */
import type { EarlierUse } from './outcome.ts'
import type { SubmissionEvidence } from './submission.ts'
import type { CompensableTransaction } from './transaction.ts'

export interface Evidence extends SubmissionEvidence {
  /** The earlier use of the command's idempotency key. */
  readonly earlier: EarlierUse | undefined
  /** Whether this key made this signature of the command's payload; undefined while unverified. */
  readonly verdict: (keyId: string, signature: string) => boolean | undefined
  /** The transaction that a compensation names, or the one that a refund returns value of. */
  readonly transaction: CompensableTransaction | undefined
  /**
   * Whether the command's key was used on the source ledger; undefined if not looked up. An imported account needs it.
   */
  readonly usedElsewhere: boolean | undefined
  /** Whether the actor was in memory before the command, and the length of its mailbox. */
  readonly residence: { readonly resident: boolean; readonly mailbox: number }
}
