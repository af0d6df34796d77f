/** The entries of all chains in the order of their commits, as the log has them. */
import type { Sql } from '../postgres/connection/connection.ts'
import { findEnd } from '../postgres/reads/event-places.ts'
import { accountLogKey, EntrySalts, logEntry } from './log-entry.ts'

export interface CommittedPiece {
  readonly entries: readonly Buffer[]
  /** The acceptance of the PostgreSQL server, and the transaction number below which all commits were read. */
  readonly position: string
}

interface EntryRow {
  readonly account_id: string
  readonly sequence: string
  readonly audit_hash: Buffer
  readonly commit_xid: string
}

const ENTRIES = `
SELECT account_id, sequence, audit_hash, commit_xid::text AS commit_xid
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

/** Rows per fetch, and about per piece: a snapshot that is held long slows every commit. */
const FETCHED_ROWS = 1_000
const PIECE_ROWS = 20_000
const KEPT_ACCOUNTS = 10_000

/** `position`: of an earlier piece; empty: from the first commit on. A commit is never split. */
export async function committedEntries(sql: Sql, position: string, logKey: Buffer): Promise<CommittedPiece> {
  const { settled, acceptance } = await findEnd(sql)
  const [ofServer, from = '0'] = position === '' ? [acceptance] : position.split('.')
  if (ofServer !== acceptance) throw new Error('the log was kept in another database')
  if (BigInt(from) >= BigInt(settled)) return { entries: [], position: `${acceptance}.${from}` }
  const salts = new AccountSalts(logKey)
  const entries: Buffer[] = []
  const reached = await sql.begin('read only', async (transaction) => {
    await transaction.unsafe(`DECLARE committed NO SCROLL CURSOR FOR ${ENTRIES}`, [from, settled])
    let last = from
    for (;;) {
      const rows = await transaction.unsafe<EntryRow[]>(`FETCH ${FETCHED_ROWS} FROM committed`)
      for (const { account_id: ref, sequence, audit_hash: auditHash, commit_xid: xid } of rows) {
        if (entries.length >= PIECE_ROWS && xid !== last) return String(BigInt(last) + 1n)
        entries.push(logEntry(salts.of(ref).of(Number(sequence)), auditHash))
        last = xid
      }
      if (rows.length < FETCHED_ROWS) return settled
    }
  })
  return { entries, position: `${acceptance}.${reached}` }
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
