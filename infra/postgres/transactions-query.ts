/**
 * Lists of transactions. Each page is one statement, so one look at one moment.
 *   L1. A page examines at most EXAMINED_ROWS rows: where a filter has no index, the statement first finds the row that
 *       many steps further in the list's order, the horizon, and goes no further than that. The page may then hold fewer
 *       than asked, even none, and the next one begins behind the horizon.
 *   L2. Newest first is the order of the IDs. A row is neither skipped nor repeated because others arrive.
 *   L3. The feed is ordered by (commit_xid, txn_id) and ends before the oldest transaction number still in use: whatever
 *       commits later comes behind every position that was given out.
 */
import type postgres from 'postgres'
import type { TransactionCursor, TransactionPage, TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import { transactionViewOf, type TransactionViewRow, VIEW_COLUMNS } from './transaction-rows.ts'
import { countRelation } from './transactions-query-count.ts'
import {
  all,
  dateConditions,
  type Fragment,
  matchesNothing,
  narrowConditions,
  remainingConditions,
  type ShardOf,
} from './transactions-query-filters.ts'

export const EXAMINED_ROWS = 5_000

/** One row at least, also for an empty page: then `txn_id` is null. */
type PageRow = (
  | { readonly [column in keyof TransactionViewRow]: TransactionViewRow[column] }
  | { readonly txn_id: null }
) & {
  readonly counted: string | null
  readonly count_exact: boolean | null
  readonly horizon_xid: string | null
  readonly horizon_txn_id: string | null
  readonly commit_xid: string | null
}

type Shown = PageRow & TransactionViewRow

export async function readTransactionPage(
  sql: postgres.Sql,
  query: TransactionQuery,
  shards: ShardOf,
): Promise<TransactionPage> {
  if (matchesNothing(query)) return emptyPage(query)
  const rows =
    query.order === 'desc' ? await newestFirst(sql, query, shards) : await feed(sql, query, feedStart(query), shards)
  const found = rows.filter((row): row is Shown => row.txn_id !== null)
  const shown = found.slice(0, query.limit)
  return {
    transactions: shown.map(transactionViewOf),
    next: nextOf(query, shown, found.length > shown.length, rows[0]),
    count: countOf(rows[0]),
  }
}

/** A feed that shows nothing still gives a place to go on from. */
function emptyPage(query: TransactionQuery): TransactionPage {
  const { txnId, position } = feedStart(query)
  return {
    transactions: [],
    next: query.order === 'asc' ? { position, txnId } : null,
    count: query.counted ? { total: 0, exact: true } : null,
  }
}

function countOf(row: PageRow | undefined): TransactionPage['count'] {
  const counted = row?.counted ?? null
  return counted === null ? null : { total: Number(counted), exact: row?.count_exact === true }
}

function nextOf(
  query: TransactionQuery,
  shown: readonly Shown[],
  more: boolean,
  row: PageRow | undefined,
): TransactionCursor | null {
  const last = shown.at(-1)
  const feeding = query.order === 'asc'
  if (more && last !== undefined) return { position: feeding ? last.commit_xid : null, txnId: last.txn_id }
  const horizonTxnId = row?.horizon_txn_id ?? null
  if (!feeding) return horizonTxnId === null ? null : { position: null, txnId: horizonTxnId }
  const start = feedStart(query)
  const horizon = { position: row?.horizon_xid ?? start.position, txnId: horizonTxnId ?? start.txnId }
  return isBehind(horizon, start) ? horizon : start
}

interface FeedPosition {
  /** A PostgreSQL transaction number (xid8) in decimal. */
  readonly position: string
  readonly txnId: string
}

function feedStart(query: TransactionQuery): FeedPosition {
  const position = query.after?.position ?? '0'
  return { position: /^[0-9]{1,20}$/.test(position) ? position : '0', txnId: query.after?.txnId ?? '' }
}

/** A replica may show an older end than the page before did: a feed never goes back. */
function isBehind(position: FeedPosition, other: FeedPosition): boolean {
  const [xid, otherXid] = [BigInt(position.position), BigInt(other.position)]
  return xid > otherXid || (xid === otherXid && position.txnId >= other.txnId)
}

async function newestFirst(sql: postgres.Sql, query: TransactionQuery, shards: ShardOf): Promise<readonly PageRow[]> {
  const rest = remainingConditions(sql, query)
  const walked = all(sql, [
    ...narrowConditions(sql, query, shards),
    ...dateConditions(sql, query),
    ...(query.after === null ? [] : [sql`txn_id < ${query.after.txnId}`]),
  ])
  const horizon =
    rest.length === 0
      ? sql`NULL::text`
      : sql`(SELECT txn_id FROM transactions WHERE ${walked} ORDER BY txn_id DESC OFFSET ${EXAMINED_ROWS - 1} LIMIT 1)`
  const within = rest.length === 0 ? sql`true` : sql`txn_id >= coalesce(bound.horizon_txn_id, '')`
  return await sql<PageRow[]>`
    WITH bound AS MATERIALIZED (SELECT NULL::text AS horizon_xid, ${horizon} AS horizon_txn_id)
    SELECT counting.counted, counting.count_exact, bound.horizon_xid, bound.horizon_txn_id, page.*
    FROM ${countRelation(sql, query, shards)} counting CROSS JOIN bound
    LEFT JOIN LATERAL (
      SELECT ${sql(VIEW_COLUMNS)}, NULL::text AS commit_xid FROM transactions
      WHERE ${walked} AND ${within} AND ${all(sql, rest)}
      ORDER BY txn_id DESC LIMIT ${query.limit + 1}
    ) page ON true
    ORDER BY page.txn_id DESC`
}

async function feed(
  sql: postgres.Sql,
  query: TransactionQuery,
  start: FeedPosition,
  shards: ShardOf,
): Promise<readonly PageRow[]> {
  const narrow = narrowConditions(sql, query, shards)
  const isSmall = narrow.length > 0 && (await holdsFew(sql, narrow))
  const rest = [...(isSmall ? [] : narrow), ...createdConditions(sql, query), ...remainingConditions(sql, query)]
  const ahead = sql`(commit_xid, txn_id) > (${start.position}::xid8, ${start.txnId})`
  // The end of what is settled, unless the walk needs a nearer horizon.
  const horizon =
    rest.length === 0 || isSmall
      ? sql`SELECT settled AS horizon_xid, '' AS horizon_txn_id FROM snapshot`
      : sql`
        SELECT coalesce(far.commit_xid, settled) AS horizon_xid, coalesce(far.txn_id, '') AS horizon_txn_id
        FROM snapshot LEFT JOIN LATERAL (
          SELECT commit_xid, txn_id FROM transactions WHERE ${ahead} AND commit_xid < settled
          ORDER BY commit_xid, txn_id OFFSET ${EXAMINED_ROWS - 1} LIMIT 1
        ) far ON true`
  // Few rows are read whole and sorted; the planner must not walk the feed for them.
  const source = isSmall ? sql`(SELECT * FROM transactions WHERE ${all(sql, narrow)} OFFSET 0)` : sql`transactions`
  return await sql<PageRow[]>`
    WITH snapshot AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS settled),
         bound AS MATERIALIZED (${horizon})
    SELECT counting.counted, counting.count_exact, bound.horizon_xid, bound.horizon_txn_id, page.*
    FROM ${countRelation(sql, query, shards)} counting CROSS JOIN bound
    LEFT JOIN LATERAL (
      SELECT ${sql(VIEW_COLUMNS)}, commit_xid FROM ${source} walked
      WHERE ${ahead} AND (commit_xid, txn_id) <= (bound.horizon_xid, bound.horizon_txn_id) AND ${all(sql, rest)}
      ORDER BY commit_xid, txn_id LIMIT ${query.limit + 1}
    ) page ON true
    ORDER BY page.commit_xid, page.txn_id`
}

/** In the feed's order dates are a filter like any other: only the exact bound counts. */
function createdConditions(sql: postgres.Sql, query: TransactionQuery): readonly Fragment[] {
  return query.createdFromMs === null && query.createdToMs === null ? [] : dateConditions(sql, query)
}

/** Whether so few rows have this account, group or key that a page may look at all of them. */
async function holdsFew(sql: postgres.Sql, narrow: readonly Fragment[]): Promise<boolean> {
  const [row] = await sql<{ held: number }[]>`
    SELECT count(*)::integer AS held
    FROM (SELECT FROM transactions WHERE ${all(sql, narrow)} LIMIT ${EXAMINED_ROWS + 1}) held`
  return row !== undefined && row.held <= EXAMINED_ROWS
}
