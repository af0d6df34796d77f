/** The rows that the log covers, in the order of their commits, with their entries of the log. */
import type { Sql } from '../postgres/connection/connection.ts'
import { accountLogKey, administrativeLogKey, EntrySalts, logEntry, statementLogKey } from './log-entry.ts'

/** `statement`: of a checkpoint file. */
export type LogChain =
  | { readonly kind: 'account'; readonly shardId: number; readonly accountRef: string }
  | { readonly kind: 'administrative' | 'statement' }

export interface LogRow {
  readonly chain: LogChain
  /** In the chain, or the number of the statement. */
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

/** The largest number: of no commit. */
export const EVERY_XID = 2n ** 64n - 1n

type StoredRow = StoredChain & {
  readonly sequence: string
  readonly audit_hash: Buffer
  readonly commit_xid: string
}

type StoredChain =
  | { readonly kind: 'account'; readonly shard_id: number; readonly account_id: string }
  | { readonly kind: 'administrative' | 'statement' }

/** $1 and $2: the range. */
export const LOG_ROWS = `
SELECT kind, shard_id, account_id, sequence, audit_hash, e.commit_xid::text AS commit_xid
  FROM (
    (SELECT 'account' AS kind, shard_id, account_id, sequence, audit_hash, commit_xid FROM audit_entries
      WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 ORDER BY commit_xid)
     UNION ALL
    (SELECT 'account', t.shard_id, t.account_id, t.sequence, t.audit_hash, c.commit_xid
       FROM commits c CROSS JOIN LATERAL unnest(c.final || c.ended) AS n (txn_id)
      CROSS JOIN LATERAL (SELECT * FROM transactions WHERE txn_id = n.txn_id OFFSET 0) t
      WHERE c.commit_xid >= $1::xid8 AND c.commit_xid < $2::xid8 AND t.sequence IS NOT NULL
      ORDER BY c.commit_xid)
     UNION ALL
    (SELECT 'administrative', NULL, NULL, sequence, audit_hash, commit_xid FROM administrative_entries
      WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 ORDER BY commit_xid)
     UNION ALL
    (SELECT 'statement', NULL, NULL, number, hash, commit_xid FROM log_statements
      WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 ORDER BY commit_xid)) e
 ORDER BY e.commit_xid`

const FETCHED_ROWS = 4_000
const KEPT_ACCOUNTS = 10_000

/** Passes rows until there is none or `take` returns false. Returns whether it has passed all. */
export function readLogRows(
  sql: Sql,
  { from, until }: XidRange,
  logKey: Buffer,
  take: (row: LogRow) => boolean,
): Promise<boolean> {
  const salts = new ChainSalts(logKey)
  return sql.begin('read only', async (transaction) => {
    await transaction.unsafe(`DECLARE committed NO SCROLL CURSOR FOR ${LOG_ROWS}`, [String(from), String(until)])
    for (;;) {
      const rows = await transaction.unsafe<StoredRow[]>(`FETCH ${FETCHED_ROWS} FROM committed`)
      for (const row of rows) {
        const chain = chainOf(row)
        const sequence = Number(row.sequence)
        const entry = logEntry(salts.of(chain).of(sequence), row.audit_hash)
        if (!take({ chain, sequence, xid: BigInt(row.commit_xid), entry })) return false
      }
      if (rows.length < FETCHED_ROWS) return true
    }
  })
}

function chainOf(stored: StoredChain): LogChain {
  if (stored.kind !== 'account') return { kind: stored.kind }
  return { kind: 'account', shardId: stored.shard_id, accountRef: stored.account_id }
}

/** Most entries of a busy moment are of few accounts. */
class ChainSalts {
  private readonly logKey: Buffer
  private readonly administrative: EntrySalts
  private readonly statement: EntrySalts
  private readonly kept = new Map<string, EntrySalts>()

  constructor(logKey: Buffer) {
    this.logKey = logKey
    this.administrative = new EntrySalts(administrativeLogKey(logKey))
    this.statement = new EntrySalts(statementLogKey(logKey))
  }

  of(chain: LogChain): EntrySalts {
    if (chain.kind !== 'account') return this[chain.kind]
    const { accountRef } = chain
    const found = this.kept.get(accountRef) ?? new EntrySalts(accountLogKey(this.logKey, accountRef))
    if (this.kept.size < KEPT_ACCOUNTS) this.kept.set(accountRef, found)
    return found
  }
}
