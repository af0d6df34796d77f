/** Stored checkpoints, and the entries that they cover. */
import type postgres from 'postgres'
import {
  type CheckpointStatement,
  KEPT_MS,
  readCheckpoint,
  type SignedText,
  signedAtMs,
} from './checkpoint-statement.ts'

/** A stored checkpoint fails verification. */
export class CheckpointUnreadable extends Error {
  override readonly name = 'CheckpointUnreadable'
}

export interface StoredCheckpoint {
  readonly statement: CheckpointStatement
  readonly signed: SignedText
}

interface CheckpointRow {
  readonly number: string
  readonly level: string
  readonly signed_at: Date
  readonly statement: string
  readonly signature: string
}

/** Throws CheckpointUnreadable when the statement disagrees with the row's columns. */
function storedOf(row: CheckpointRow): StoredCheckpoint {
  const statement = readCheckpoint(row.statement)
  const agrees =
    statement?.number === Number(row.number) &&
    statement.level === row.level &&
    signedAtMs(statement) === row.signed_at.getTime()
  if (!agrees) throw new CheckpointUnreadable(`checkpoint ${row.number} disagrees with its columns`)
  return { statement, signed: { text: row.statement, signature: row.signature } }
}

export async function newestCheckpoint(sql: postgres.ISql): Promise<StoredCheckpoint | undefined> {
  const [row] = await sql.unsafe<CheckpointRow[]>(
    'SELECT number, level, signed_at, statement, signature FROM checkpoints ORDER BY number DESC LIMIT 1',
  )
  return row === undefined ? undefined : storedOf(row)
}

/** All stored checkpoints, in order: some thousand a year. */
export async function allCheckpoints(sql: postgres.ISql): Promise<readonly StoredCheckpoint[]> {
  const rows = await sql.unsafe<CheckpointRow[]>(
    'SELECT number, level, signed_at, statement, signature FROM checkpoints ORDER BY number',
  )
  return rows.map(storedOf)
}

export async function sumsOf(sql: postgres.Sql, number: number): Promise<Buffer | undefined> {
  const [row] = await sql<{ sums: Buffer }[]>`SELECT sums FROM checkpoints WHERE number = ${number}`
  return row?.sums
}

/** False: a checkpoint with this number exists. */
export async function insertCheckpoint(
  sql: postgres.Sql,
  { statement, signed }: StoredCheckpoint,
  sums: Buffer,
): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO checkpoints (number, level, signed_at, statement, signature, sums)
    VALUES (${statement.number}, ${statement.level}, ${statement.signed_at}, ${signed.text}, ${signed.signature}, ${sums})
    ON CONFLICT DO NOTHING`
  return count === 1
}

/** Applies the retention of each level (KEPT_MS). */
export async function removeOldCheckpoints(sql: postgres.Sql, nowMs: number): Promise<void> {
  for (const level of ['minute', 'hour'] as const) {
    const before = new Date(nowMs - KEPT_MS[level]).toISOString()
    await sql`DELETE FROM checkpoints WHERE level = ${level} AND signed_at < ${before}`
  }
}

/** The database's current position in its transaction numbers. */
export interface FeedNow {
  /** System identifier of the PostgreSQL cluster. */
  readonly server: string
  /** Every transaction with a smaller number has ended. */
  readonly settled: string
  /** Entries carry transaction numbers that this cluster has not reached: they were restored from another cluster. */
  readonly foreign: boolean
}

export async function feedNow(sql: postgres.Sql): Promise<FeedNow> {
  const [row] = await sql<FeedNow[]>`
    SELECT system_identifier::text AS server, pg_snapshot_xmin(pg_current_snapshot())::text AS settled,
           EXISTS (SELECT FROM audit_entries WHERE commit_xid >= pg_snapshot_xmax(pg_current_snapshot()))
             OR EXISTS (SELECT FROM commits WHERE commit_xid >= pg_snapshot_xmax(pg_current_snapshot())) AS foreign
      FROM pg_control_system()`
  if (row === undefined) throw new Error('pg_control_system() returned no row')
  return row
}

interface EntryRow {
  readonly shard_id: number
  readonly entry: string
  readonly commit_xid: string
}

/** One text per entry, because decoding columns dominates the cost of a row. Ordered by number, not by its text. */
export const ENTRIES = `
SELECT shard_id, account_id || ' ' || sequence || ' ' || encode(audit_hash, 'hex') AS entry, e.commit_xid::text AS commit_xid
  FROM (
    (SELECT shard_id, account_id, sequence, audit_hash, commit_xid FROM audit_entries
      WHERE commit_xid >= $1::xid8 AND commit_xid < $2::xid8 ORDER BY commit_xid)
     UNION ALL
    (SELECT t.shard_id, t.account_id, t.sequence, t.audit_hash, c.commit_xid
       FROM commits c CROSS JOIN LATERAL unnest(c.final || c.ended) AS n (txn_id)
      CROSS JOIN LATERAL (SELECT * FROM transactions WHERE txn_id = n.txn_id OFFSET 0) t
      WHERE c.commit_xid >= $1::xid8 AND c.commit_xid < $2::xid8
        AND t.sequence IS NOT NULL
      ORDER BY c.commit_xid)) e
 ORDER BY e.commit_xid`

/** Rows per fetch. Hashing a batch blocks the event loop for a few milliseconds. */
const BATCH_ROWS = 1_000
/** Rows per transaction. A snapshot that is held long slows every commit. */
const PIECE_ROWS = 20_000

/**
 * Reads a piece of the entries with transaction numbers from `from` to below `until`, and returns the position reached.
 * A commit is never split, whatever its size: an import may bring a whole ledger in one commit.
 */
export function addPiece(
  sql: postgres.Sql,
  { from, until }: { readonly from: string; readonly until: string },
  take: (shardId: number, entry: string) => void,
): Promise<{ readonly position: string; readonly entries: number }> {
  return sql.begin('read only', async (transaction) => {
    await transaction.unsafe(`DECLARE appended NO SCROLL CURSOR FOR ${ENTRIES}`, [from, until])
    let entries = 0
    let last = from
    for (;;) {
      const rows = await transaction.unsafe<EntryRow[]>(`FETCH ${BATCH_ROWS} FROM appended`)
      for (const row of rows) {
        if (entries >= PIECE_ROWS && row.commit_xid !== last) return { position: String(BigInt(last) + 1n), entries }
        take(row.shard_id, row.entry)
        last = row.commit_xid
        entries += 1
      }
      if (rows.length < BATCH_ROWS) return { position: until, entries }
    }
  })
}
