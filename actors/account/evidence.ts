/** Looked-up facts for a step of an account, which performs no I/O. */
import type { EarlierUse } from './outcome.ts'
import type { SubmissionEvidence } from './submission.ts'
import type { CompensableTransaction } from './transaction.ts'

export interface Evidence extends SubmissionEvidence {
  /** The earlier use of the command's idempotency key. */
  readonly earlier: EarlierUse | undefined
  /** Whether this key signed the command's payload with this signature; undefined while it is not verified. */
  readonly verdict: (keyId: string, signature: string) => boolean | undefined
  /** The transaction that a compensation names. */
  readonly transaction: CompensableTransaction | undefined
  /**
   * Whether the command's key was used on the ledger that the account came from; undefined where it was not looked up, which
   * is no answer once the account has come.
   */
  readonly usedElsewhere: boolean | undefined
  /** How the node has the actor: in its memory before the command came, and with so many commands waiting for it. */
  readonly residence: { readonly resident: boolean; readonly mailbox: number }
}
