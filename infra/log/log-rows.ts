/** The rows that the log covers, in the order of their commits, with their entries of the log. */
import type { Sql } from '../postgres/connection/connection.ts'
import { accountLogKey, EntrySalts, logEntry } from './log-entry.ts'

export interface LogRow {
  readonly accountRef: string
  readonly sequence: number
  /** Number of the PostgreSQL transaction (xid8) that committed it. */
  readonly xid: bigint
  /** 48 bytes. */
  readonly entry: Buffer
}

/** Transaction numbers from `from` up to `until`, without it. */
export interface XidRange {
  readonly from: bigint
  readonly until: bigint
}

interface StoredRow {
  readonly account_id: string
  readonly sequence: string
  readonly audit_hash: Buffer
  readonly commit_xid: string
}

/** $1 and $2: the range. */
export const LOG_ROWS = `
SELECT account_id, sequence, audit_hash, e.commit_xid::text AS commit_xid
  FROM (
    (SELECT account_id, sequence, audit_hash, commit_xid FROM audit_entries
      WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 ORDER BY commit_xid)
     UNION ALL
    (SELECT t.account_id, t.sequence, t.audit_hash, c.commit_xid
       FROM commits c CROSS JOIN LATERAL unnest(c.final || c.ended) AS n (txn_id)
      CROSS JOIN LATERAL (SELECT * FROM transactions WHERE txn_id = n.txn_id OFFSET 0) t
      WHERE c.commit_xid >= $1::xid8 AND c.commit_xid < $2::xid8 AND t.sequence IS NOT NULL
      ORDER BY c.commit_xid)) e
 ORDER BY e.commit_xid`

const FETCHED_ROWS = 1_000
const KEPT_ACCOUNTS = 10_000

/** Passes rows until there is none or `take` returns false. Returns whether it has passed all. */
export function readLogRows(
  sql: Sql,
  { from, until }: XidRange,
  logKey: Buffer,
  take: (row: LogRow) => boolean,
): Promise<boolean> {
  const salts = new AccountSalts(logKey)
  return sql.begin('read only', async (transaction) => {
    await transaction.unsafe(`DECLARE committed NO SCROLL CURSOR FOR ${LOG_ROWS}`, [String(from), String(until)])
    for (;;) {
      const rows = await transaction.unsafe<StoredRow[]>(`FETCH ${FETCHED_ROWS} FROM committed`)
      for (const { account_id: accountRef, sequence: number, audit_hash: auditHash, commit_xid: xid } of rows) {
        const sequence = Number(number)
        const entry = logEntry(salts.of(accountRef).of(sequence), auditHash)
        if (!take({ accountRef, sequence, xid: BigInt(xid), entry })) return false
      }
      if (rows.length < FETCHED_ROWS) return true
    }
  })
}

/** Most entries of a busy moment are of few accounts. */
class AccountSalts {
  private readonly logKey: Buffer
  private readonly kept = new Map<string, EntrySalts>()

  constructor(logKey: Buffer) {
    this.logKey = logKey
  }

  of(accountRef: string): EntrySalts {
    const found = this.kept.get(accountRef) ?? new EntrySalts(accountLogKey(this.logKey, accountRef))
    if (this.kept.size < KEPT_ACCOUNTS) this.kept.set(accountRef, found)
    return found
  }
}
