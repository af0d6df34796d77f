/**
 * Lists of transactions. Each page is one look at one moment: one statement, or several of one snapshot.
 *   L1. A page examines at most EXAMINED_ROWS rows: where a filter has no index, the statement first finds the row that
 *       many steps further in the list's order, the horizon, and goes no further than that. The page may then hold fewer
 *       than asked, even none, and the next one begins behind the horizon.
 *   L2. Newest first is the order of the IDs. A row is neither skipped nor repeated because others arrive.
 *   L3. The feed is ordered by (commit_xid, txn_id) and ends before the oldest transaction number still in use: whatever
 *       commits later comes behind every position that was given out.
 *   L4. Filters that columns answer only nearly, or not at all, are held against what the rows say once they are opened:
 *       a few hundred at a time, and no more than EXAMINED_ROWS a request, those for the count among them.
 *   L5. What is of an account that was erased is left out of pages, and counted: it is there, and cannot be shown. Where its
 *       amount would tell, the count is a lower bound.
 */
import type postgres from 'postgres'
import type { TransactionCursor, TransactionPage, TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import { accountKeyName, type KeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { fetchKeysOfAccounts } from './erased-accounts.ts'
import { fetchKeys } from './opened-rows.ts'
import { TRANSACTION_ROW_COLUMNS, type TransactionRow } from './transaction-document.ts'
import { openedTransaction, transactionViewOf } from './transaction-rows.ts'
import { countRelation } from './transactions-query-count.ts'
import { countOpened, type Seen } from './transactions-query-count-opened.ts'
import {
  all,
  createdConditions,
  dateConditions,
  type Fragment,
  matchesNothing,
  narrowConditions,
  type OpenedFilter,
  openedFilter,
  remainingConditions,
  type TransactionPlaces,
} from './transactions-query-filters.ts'

export const EXAMINED_ROWS = 5_000
/** L4. */
const OPENED_AT_ONCE = 500

/** One row at least, also where nothing was found: then `txn_id` is null. */
type PageRow = ({ readonly [column in keyof TransactionRow]: TransactionRow[column] } | { readonly txn_id: null }) & {
  readonly counted: string | null
  readonly count_exact: boolean | null
  readonly horizon_xid: string | null
  readonly horizon_txn_id: string | null
  readonly commit_xid: string | null
}

type Found = PageRow & TransactionRow

/** As far as a page may go; null: to the end. */
interface Horizon {
  readonly horizon_xid: string | null
  readonly horizon_txn_id: string | null
}

/** A part of a page: so many rows behind a place. */
interface Part {
  readonly after: TransactionCursor | null
  readonly size: number
  /** That of the page; undefined: this is its first part, which finds it. */
  readonly within: Horizon | undefined
}

type Select = (part: Part) => Promise<readonly PageRow[]>

export async function readTransactionPage(
  sql: postgres.Sql,
  query: TransactionQuery,
  places: TransactionPlaces,
): Promise<TransactionPage> {
  if (matchesNothing(query)) return emptyPage(query)
  const fits = openedFilter(query)
  if (fits !== undefined) {
    return sql.begin('isolation level repeatable read read only', (look) => readOpenedPage(look, query, places, fits))
  }
  const select = await selecting(sql, query, places)
  const [rows] = await Promise.all([
    select({ after: query.after, size: query.limit, within: undefined }),
    fetchKeys(sql, keyNamesAhead(query, places.vault), places.vault),
  ])
  const found = foundIn(rows)
  const shown = found.slice(0, query.limit)
  const erased = await fetchKeysOf(sql, shown, places)
  if (isOfErased(query, erased, places)) return emptyPage(query)
  const there = shown.filter((row) => !erased.has(row.account_id))
  return {
    transactions: there.map((row) => transactionViewOf(row, openedTransaction(row, places.vault))),
    next: nextOf(query, shown.at(-1), found.length > shown.length, rows[0]),
    ended: found.length === shown.length && !isCutOff(rows[0]),
    count: countOf(rows[0]),
  }
}

/** L4. */
async function readOpenedPage(
  sql: postgres.ISql,
  query: TransactionQuery,
  places: TransactionPlaces,
  fits: OpenedFilter,
): Promise<TransactionPage> {
  const select = await selecting(sql, { ...query, counted: false }, places)
  const shown: TransactionPage['transactions'][number][] = []
  let [last, horizon]: [Found | undefined, PageRow | undefined] = [undefined, undefined]
  let [opened, more, further, hasErased] = [0, false, true, false]
  while (further && !more) {
    const after = last === undefined ? query.after : { position: last.commit_xid, txnId: last.txn_id }
    const rows = await select({ after, size: OPENED_AT_ONCE, within: horizon })
    horizon ??= rows[0]
    const found = foundIn(rows)
    further = found.length > OPENED_AT_ONCE
    const erased = await fetchKeysOf(sql, found, places)
    if (isOfErased(query, erased, places)) return emptyPage(query)
    for (const row of found.slice(0, OPENED_AT_ONCE)) {
      more = shown.length === query.limit
      if (more) break
      if (erased.has(row.account_id)) {
        hasErased = true
        last = row
        continue
      }
      opened += 1
      last = row
      if (fits(row, places)) shown.push(transactionViewOf(row, openedTransaction(row, places.vault)))
    }
  }
  return {
    transactions: shown,
    next: nextOf(query, last, more, horizon),
    ended: !more && !isCutOff(horizon),
    count: query.counted
      ? await countOpened(sql, query, places, seenBy(query, { shown, opened, last, hasErased }))
      : null,
  }
}

/** What the count need not look at again: all that comes before a place, from the first row on. */
function seenBy(query: TransactionQuery, { shown, opened, last, hasErased }: Opened): Seen {
  const left = EXAMINED_ROWS - opened
  if (query.after !== null || last === undefined) return { matches: 0, last: null, left, erased: false }
  const place = { txnId: last.txn_id, commitXid: last.commit_xid }
  return { matches: shown.length, last: place, left, erased: hasErased }
}

/** What became of the rows that a page has looked at. */
interface Opened {
  readonly shown: readonly unknown[]
  readonly opened: number
  readonly last: Found | undefined
  readonly hasErased: boolean
}

/** The key that is known to be needed before there are rows. */
function keyNamesAhead({ accountId }: TransactionQuery, vault: RowVault): readonly KeyName[] {
  return accountId === null ? [] : [accountKeyName(vault.accountRef(accountId))]
}

function foundIn(rows: readonly PageRow[]): readonly Found[] {
  return rows.filter((row): row is Found => row.txn_id !== null)
}

/** Gives the accounts that were erased: what is theirs is left out, and a page may hold fewer than asked (L5). */
function fetchKeysOf(
  sql: postgres.ISql,
  rows: readonly Found[],
  { vault }: TransactionPlaces,
): Promise<ReadonlySet<string>> {
  return fetchKeysOfAccounts(
    sql,
    rows.map((row) => row.account_id),
    vault,
  )
}

/** Whether all that was asked for is gone. */
function isOfErased(
  { accountId }: TransactionQuery,
  erased: ReadonlySet<string>,
  { vault }: TransactionPlaces,
): boolean {
  return accountId !== null && erased.has(vault.accountRef(accountId))
}

/** A feed that shows nothing still gives a place to go on from. */
function emptyPage(query: TransactionQuery): TransactionPage {
  const { txnId, position } = feedStart(query.after)
  return {
    transactions: [],
    next: query.order === 'asc' ? { position, txnId } : null,
    ended: true,
    count: query.counted ? { total: 0, exact: true } : null,
  }
}

function countOf(row: PageRow | undefined): TransactionPage['count'] {
  const counted = row?.counted ?? null
  return counted === null ? null : { total: Number(counted), exact: row?.count_exact === true }
}

/** `last`: the last row that the page looked at; `more`: it ended there for want of room. */
function nextOf(
  query: TransactionQuery,
  last: Found | undefined,
  more: boolean,
  horizon: Horizon | undefined,
): TransactionCursor | null {
  const feeding = query.order === 'asc'
  if (more && last !== undefined) return { position: feeding ? last.commit_xid : null, txnId: last.txn_id }
  const horizonTxnId = horizon?.horizon_txn_id ?? null
  if (!feeding) return horizonTxnId === null ? null : { position: null, txnId: horizonTxnId }
  const start = feedStart(query.after)
  const end = { position: horizon?.horizon_xid ?? start.position, txnId: horizonTxnId ?? start.txnId }
  return isBehind(end, start) ? end : start
}

/** Whether more than a page looks at lay ahead of it. */
function isCutOff(horizon: Horizon | undefined): boolean {
  return (horizon?.horizon_txn_id ?? '') !== ''
}

interface FeedPosition {
  /** A PostgreSQL transaction number (xid8) in decimal. */
  readonly position: string
  readonly txnId: string
}

function feedStart(after: TransactionCursor | null): FeedPosition {
  const position = after?.position ?? '0'
  return { position: /^[0-9]{1,20}$/.test(position) ? position : '0', txnId: after?.txnId ?? '' }
}

/** A replica may show an older end than the page before did: a feed never goes back. */
function isBehind(position: FeedPosition, other: FeedPosition): boolean {
  const [xid, otherXid] = [BigInt(position.position), BigInt(other.position)]
  return xid > otherXid || (xid === otherXid && position.txnId >= other.txnId)
}

/** How parts of the page are read: one row more than asked for, if there is one. */
async function selecting(sql: postgres.ISql, query: TransactionQuery, places: TransactionPlaces): Promise<Select> {
  if (query.order === 'desc') return (part) => newestFirst(sql, query, part, places)
  const narrow = narrowConditions(sql, query, places)
  const isSmall = narrow.length > 0 && (await holdsFew(sql, narrow))
  return (part) => feed(sql, query, { ...part, isSmall }, places)
}

/** Whether the end of the page is to be looked for: rows are held against something that the walk's index does not serve. */
function isHeld(query: TransactionQuery, rest: readonly Fragment[]): boolean {
  return rest.length > 0 || openedFilter(query) !== undefined
}

async function newestFirst(
  sql: postgres.ISql,
  query: TransactionQuery,
  { after, size, within }: Part,
  places: TransactionPlaces,
): Promise<readonly PageRow[]> {
  const rest = remainingConditions(sql, query, places)
  const walked = all(sql, [
    ...narrowConditions(sql, query, places),
    ...dateConditions(sql, query),
    ...(after === null ? [] : [sql`txn_id < ${after.txnId}`]),
  ])
  const found = isHeld(query, rest)
    ? sql`(SELECT txn_id FROM transactions WHERE ${walked} ORDER BY txn_id DESC OFFSET ${EXAMINED_ROWS - 1} LIMIT 1)`
    : sql`NULL::text`
  const horizon = within === undefined ? found : sql`${within.horizon_txn_id}::text`
  const isWithin = isHeld(query, rest) ? sql`txn_id >= coalesce(bound.horizon_txn_id, '')` : sql`true`
  return await sql<PageRow[]>`
    WITH bound AS MATERIALIZED (SELECT NULL::text AS horizon_xid, ${horizon} AS horizon_txn_id)
    SELECT counting.counted, counting.count_exact, bound.horizon_xid, bound.horizon_txn_id, page.*
    FROM ${countRelation(sql, query, places)} counting CROSS JOIN bound
    LEFT JOIN LATERAL (
      SELECT ${sql(TRANSACTION_ROW_COLUMNS)}, NULL::text AS commit_xid FROM transactions
      WHERE ${walked} AND ${isWithin} AND ${all(sql, rest)}
      ORDER BY txn_id DESC LIMIT ${size + 1}
    ) page ON true
    ORDER BY page.txn_id DESC`
}

/** `isSmall`: what the narrow filters give is so little that a page may look at all of it. */
async function feed(
  sql: postgres.ISql,
  query: TransactionQuery,
  { after, size, within, isSmall }: Part & { readonly isSmall: boolean },
  places: TransactionPlaces,
): Promise<readonly PageRow[]> {
  const narrow = narrowConditions(sql, query, places)
  const start = feedStart(after)
  const rest = [
    ...(isSmall ? [] : narrow),
    // In the feed's order they are filters like any other.
    ...createdConditions(sql, query),
    ...remainingConditions(sql, query, places),
  ]
  const ahead = sql`(commit_xid, txn_id) > (${start.position}::xid8, ${start.txnId})`
  // The end of what is settled, unless the walk needs a nearer horizon.
  const found =
    isSmall || !isHeld(query, rest)
      ? sql`SELECT settled AS horizon_xid, '' AS horizon_txn_id FROM snapshot`
      : sql`
        SELECT coalesce(far.commit_xid, settled) AS horizon_xid, coalesce(far.txn_id, '') AS horizon_txn_id
        FROM snapshot LEFT JOIN LATERAL (
          SELECT commit_xid, txn_id FROM transactions WHERE ${ahead} AND commit_xid < settled
          ORDER BY commit_xid, txn_id OFFSET ${EXAMINED_ROWS - 1} LIMIT 1
        ) far ON true`
  const horizon =
    within === undefined
      ? found
      : sql`SELECT ${within.horizon_xid}::xid8 AS horizon_xid, ${within.horizon_txn_id}::text AS horizon_txn_id`
  // Few rows are read whole and sorted; the planner must not walk the feed for them.
  const source = isSmall ? sql`(SELECT * FROM transactions WHERE ${all(sql, narrow)} OFFSET 0)` : sql`transactions`
  return await sql<PageRow[]>`
    WITH snapshot AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS settled),
         bound AS MATERIALIZED (${horizon})
    SELECT counting.counted, counting.count_exact, bound.horizon_xid, bound.horizon_txn_id, page.*
    FROM ${countRelation(sql, query, places)} counting CROSS JOIN bound
    LEFT JOIN LATERAL (
      SELECT ${sql(TRANSACTION_ROW_COLUMNS)}, commit_xid FROM ${source} walked
      WHERE ${ahead} AND (commit_xid, txn_id) <= (bound.horizon_xid, bound.horizon_txn_id) AND ${all(sql, rest)}
      ORDER BY commit_xid, txn_id LIMIT ${size + 1}
    ) page ON true
    ORDER BY page.commit_xid, page.txn_id`
}

/** Whether so few rows have this account, group or key that a page may look at all of them. */
async function holdsFew(sql: postgres.ISql, narrow: readonly Fragment[]): Promise<boolean> {
  const [row] = await sql<{ held: number }[]>`
    SELECT count(*)::integer AS held
    FROM (SELECT FROM transactions WHERE ${all(sql, narrow)} LIMIT ${EXAMINED_ROWS + 1}) held`
  return row !== undefined && row.held <= EXAMINED_ROWS
}
