/**
 * Measures the committed transactions by the interface's exact counters, and the batches by PostgreSQL's transaction
 * counters.
 */
import postgres from 'postgres'
import type { LedgerClient } from '../../support/client/client.ts'

export interface Counted {
  readonly completed: number
  readonly failed: number
}

export async function countTransactions(client: LedgerClient): Promise<Counted> {
  return { completed: await countOf(client, 'completed'), failed: await countOf(client, 'failed') }
}

async function countOf(client: LedgerClient, status: string): Promise<number> {
  const reply = await client.get(`/v1/transactions?status=${status}&page_size=1`)
  const count = reply.status === 200 ? (JSON.parse(reply.body) as { total_count: unknown }).total_count : undefined
  if (typeof count !== 'number' || reply.headers['x-total-count-relation'] !== undefined) {
    throw new Error(`there is no exact count of ${status} transactions: ${reply.status} ${reply.body}`)
  }
  return count
}

/** Of the clients' submissions since `since`, a number from `lastCommit`. */
export interface Statuses {
  /** Durable, whatever their outcome. */
  readonly accepted: number
  readonly completed: number
  readonly failed: number
  /** Accepted and not yet applied. */
  readonly pending: number
}

export function statusesSince(databaseUrl: string, since: string): Promise<Statuses> {
  return onDatabase(databaseUrl, async (sql) => {
    const [row] = await sql<[Statuses]>`
      SELECT count(*)::integer AS accepted,
             count(*) FILTER (WHERE status = 'completed')::integer AS completed,
             count(*) FILTER (WHERE status = 'failed')::integer AS failed,
             count(*) FILTER (WHERE status = 'pending')::integer AS pending
        FROM transaction_feed f JOIN all_transactions t ON t.txn_id = f.txn_id
       WHERE f.entered_xid >= ${since}::text::xid8 AND t.origin = 'client'`
    return { ...row }
  })
}

/** The number below which all earlier commits lie. */
export function lastCommit(databaseUrl: string): Promise<string> {
  return onDatabase(databaseUrl, async (sql) => {
    const [row] = await sql<[{ next: string }]>`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next`
    return row.next
  })
}

/** Bytes that PostgreSQL has written to its WAL since the cluster was created. */
export function walPosition(databaseUrl: string): Promise<number> {
  return onDatabase(databaseUrl, async (sql) => {
    const [row] = await sql<
      [{ bytes: string }]
    >`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS bytes`
    return Number(row.bytes)
  })
}

/** Average number of transactions per commit since then. */
export function batchSizeSince(databaseUrl: string, since: string): Promise<number> {
  return onDatabase(databaseUrl, async (sql) => {
    const [row] = await sql<[{ transactions: string; commits: string }]>`
      SELECT count(*)::text AS transactions, count(DISTINCT entered_xid::text)::text AS commits
        FROM transaction_feed WHERE entered_xid >= ${since}::text::xid8`
    return Number(row.transactions) / Math.max(1, Number(row.commits))
  })
}

/**
 * One connection that counts new rows by index. The tables are not analyzed, so that PostgreSQL would otherwise scan
 * them and distort the measurement.
 */
export function countingConnection(databaseUrl: string): postgres.Sql {
  return postgres(databaseUrl, { max: 1, onnotice: () => undefined, connection: { enable_seqscan: 'off' } })
}

/** On a connection of its own. */
export async function onDatabase<T>(databaseUrl: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = countingConnection(databaseUrl)
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}
