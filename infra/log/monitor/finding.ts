/** A fault that a monitor found in a log. */
export interface Finding {
  readonly kind: FindingKind
  /** For people. May contain text of strangers. */
  readonly detail: string
  /** For programs. */
  readonly facts?: object
}

export type FindingKind =
  /** The head is not signed as the policy demands. */
  | 'untrusted'
  /** The log shows a head below one that was verified, or that others have. */
  | 'went_back'
  /** The log, or a chain, has two histories. */
  | 'forked'
  /** Entries or tiles do not have the root that was signed, or an entry is another one than its owner knows. */
  | 'tampered'
  /** The log does not show a part of its tree. */
  | 'withheld'
  /** The head is too old. */
  | 'stale'
  /** An entry that its owner knows is not in the log. */
  | 'missing'
  /** The log has an entry of the account that its owner does not know. */
  | 'not_shown'

/** Ends a run. */
export class FaultFound extends Error {
  override readonly name = 'FaultFound'
  readonly finding: Finding

  constructor(kind: FindingKind, detail: string, facts: object = {}) {
    super(detail)
    this.finding = { kind, detail, facts }
  }
}
