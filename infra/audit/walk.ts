/**
 * Walks of an audit. A step handles one page of bounded size. Its cursor is plain JSON, so that another process can continue.
 */
import type { Counts, Finding, Subject } from '../../runtime/audit/finding.ts'
import type { AuditReads } from './audit-reads.ts'
import type { ReceiptCheck } from './receipt-check.ts'

/** Access of a step to the ledger. */
export interface Look extends Pick<AuditReads, 'query' | 'fetchKeys' | 'vault' | 'moment' | 'wholeMoment'> {
  readonly receiptProblem: ReceiptCheck
  /**
   * A PostgreSQL transaction number (xid8). Rows of later commits are checked, but the tail counts them. null: all rows are
   * counted.
   */
  readonly countBelow: string | null
}

/** Results of a step. */
export interface Seen {
  readonly checked: Counts
  readonly findings: readonly Finding[]
}

export interface Step<Cursor> extends Seen {
  /** Cursor of the next step; null: the walk is complete. */
  readonly next: Cursor | null
}

export interface Walk<Cursor> {
  readonly name: string
  /** Subjects that the walk checks. */
  readonly subjects: readonly Subject[]
  readonly start: Cursor
  /** Throws AuditUnavailable. */
  readonly step: (look: Look, cursor: Cursor) => Promise<Step<Cursor>>
}

export const SAW_NOTHING: Seen = { checked: {}, findings: [] }

/**
 * Result of `check`, or `unreadable` if it throws: the ledger does not write such rows, and a tampered row must not end the
 * audit.
 */
export function orUnreadable<T>(check: () => T, unreadable: T): T {
  try {
    return check()
  } catch {
    return unreadable
  }
}

/** SQL: whether a row is counted. `commit`: column of the row's commit; `below`: parameter of `countBelow`. */
export function countedSql(commit: string, below: string): string {
  return `(${below}::xid8 IS NULL OR ${commit} < ${below}::xid8)`
}
