/**
 * What an audit walks, a step at a time. A step is one page of bounded size; where it ends is plain JSON, so that the
 * next step may be taken by another process.
 */
import type { Counts, Finding, Subject } from '../../runtime/audit/finding.ts'
import type { AuditReads } from './audit-reads.ts'
import type { ReceiptCheck } from './receipt-check.ts'

/** What a step looks with. */
export interface Look extends Pick<AuditReads, 'query' | 'fetchKeys' | 'vault' | 'moment' | 'wholeMoment'> {
  readonly receiptProblem: ReceiptCheck
  /**
   * A PostgreSQL transaction number (xid8): what later ones wrote is looked at all the same, and counted by whoever
   * follows what is written. null: everything is counted.
   */
  readonly countBelow: string | null
}

/** What a step has seen. */
export interface Seen {
  readonly checked: Counts
  readonly findings: readonly Finding[]
}

export interface Step<Cursor> extends Seen {
  /** Where the next step begins; null when there is none. */
  readonly next: Cursor | null
}

export interface Walk<Cursor> {
  readonly name: string
  /** Every subject that the walk gives a verdict on. */
  readonly subjects: readonly Subject[]
  readonly start: Cursor
  /** Throws AuditUnavailable. */
  readonly step: (look: Look, cursor: Cursor) => Promise<Step<Cursor>>
}

export const SAW_NOTHING: Seen = { checked: {}, findings: [] }

/**
 * What `check` says of a row; a row that it cannot even read is wrong, too: the ledger does not write such rows, and
 * nobody who has been at one may end the audit.
 */
export function orUnreadable<T>(check: () => T, unreadable: T): T {
  try {
    return check()
  } catch {
    return unreadable
  }
}

/** SQL: whether a row is counted; `commit` is the column that says which commit wrote it, `below` the parameter. */
export function countedSql(commit: string, below: string): string {
  return `(${below}::xid8 IS NULL OR ${commit} < ${below}::xid8)`
}
