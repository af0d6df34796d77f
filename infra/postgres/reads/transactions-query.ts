/**
 * Lists of transactions. Each page is one look at one moment: one statement, or several of one snapshot.
 *   L1. A page examines at most EXAMINED_ROWS rows: where a filter has no index, the statement first finds the row that
 *       many steps further in the list's order, the horizon, and goes no further than that. The page may then hold fewer
 *       than asked, even none, and the next one begins behind the horizon.
 *   L2. Newest first is the order of the IDs. A row is neither skipped nor repeated because others arrive.
 *   L3. The feed is ordered by (entered_xid, txn_id) and ends before the oldest transaction number still in use: whatever
 *       commits later comes behind every position that was given out.
 *   L4. Bounds on amounts, which columns answer only nearly, are held against what the rows say once they are opened: a few
 *       hundred at a time, and no more than EXAMINED_ROWS a request, those for the count among them. Amounts are remembered
 *       for minutes, and of rows that do not match nothing else is read.
 *   L5. Transactions of erased accounts are left out of pages, and counted: they exist, and cannot be shown. With a filter on
 *       the amount the count is a lower bound.
 */
import type postgres from 'postgres'
import type { TransactionCursor, TransactionPage, TransactionQuery } from '../../../runtime/ports/ledger-reads.ts'
import { accountKeyName, type KeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { fetchKeysOfAccounts } from '../rows/erased-accounts.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import { PLACE_COLUMNS, type PlaceRow, rowsAt } from '../rows/transaction-rows.ts'
import { readAmounts } from './sealed-amounts.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../rows/transaction-document.ts'
import { transactionViewOf } from '../rows/transaction-rows.ts'
import { countOpened, OPENED_AT_ONCE, type Seen } from './transactions-query-count-opened.ts'
import {
  amountFilter,
  hasAmounts,
  type Look,
  matchesNothing,
  type TransactionPlaces,
} from './transactions-query-filters.ts'
import {
  EXAMINED_ROWS,
  type FeedPosition,
  feedStart,
  type Found,
  foundIn,
  type Horizon,
  type PageRow,
  selecting,
} from './transactions-query-walk.ts'

export async function readTransactionPage(
  sql: postgres.Sql,
  query: TransactionQuery,
  places: TransactionPlaces,
): Promise<TransactionPage> {
  if (matchesNothing(query)) return emptyPage(query)
  if (hasAmounts(query)) {
    return sql.begin('isolation level repeatable read read only', (transaction) =>
      readOpenedPage({ sql: transaction, query, ...places }),
    )
  }
  const { vault } = places
  const select = await selecting<TransactionRow>({ sql, query, ...places }, TRANSACTION_ROW_COLUMNS)
  const [rows] = await Promise.all([
    select({ after: query.after, size: query.limit, within: undefined }),
    fetchKeys(sql, keyNamesAhead(query, vault), vault),
  ])
  const found = foundIn(rows)
  const shown = found.slice(0, query.limit)
  const erased = await fetchKeysOfAccounts(
    sql,
    shown.map((row) => row.account_id),
    vault,
  )
  if (isOfErased(query, erased, vault)) return emptyPage(query)
  const there = shown.filter((row) => !erased.has(row.account_id))
  return {
    transactions: there.map((row) => transactionViewOf(row, openTransaction(row, vault))),
    next: nextOf(query, shown.at(-1), found.length > shown.length, rows[0]),
    ended: found.length === shown.length && !isCutOff(rows[0]),
    count: countOf(rows[0]),
  }
}

/** L4. */
async function readOpenedPage(look: Look): Promise<TransactionPage> {
  const { query, vault } = look
  const isBetween = amountFilter(query)
  const select = await selecting<PlaceRow>({ ...look, query: { ...query, counted: false } }, PLACE_COLUMNS)
  const shown: TransactionPage['transactions'][number][] = []
  let [last, horizon]: [Found<PlaceRow> | undefined, PageRow<PlaceRow> | undefined] = [undefined, undefined]
  let [opened, more, further, hasErased] = [0, false, true, false]
  while (further && !more) {
    const after = last === undefined ? query.after : { position: last.entered_xid, txnId: last.txn_id }
    const rows = await select({ after, size: OPENED_AT_ONCE, within: horizon })
    horizon ??= rows[0]
    const found = foundIn(rows)
    further = found.length > OPENED_AT_ONCE
    const part = found.slice(0, OPENED_AT_ONCE)
    const { erased, amountOf } = await readAmounts(look, part)
    if (isOfErased(query, erased, vault)) return emptyPage(query)
    const matching: PlaceRow[] = []
    for (const row of part) {
      more = shown.length + matching.length === query.limit
      if (more) break
      last = row
      if (erased.has(row.account_id)) {
        hasErased = true
        continue
      }
      opened += 1
      if (isBetween(amountOf(row))) matching.push(row)
    }
    for (const row of await wholeRows(look, matching)) shown.push(transactionViewOf(row, openTransaction(row, vault)))
  }
  return {
    transactions: shown,
    next: nextOf(query, last, more, horizon),
    ended: !more && !isCutOff(horizon),
    count: query.counted ? await countOpened(look, seenBy(query, { shown, opened, last, hasErased })) : null,
  }
}

/** Most rows of a part do not match, and many were opened for another page: only what matches is read as a whole. */
async function wholeRows({ sql, vault }: Look, matching: readonly PlaceRow[]): Promise<readonly TransactionRow[]> {
  const rowOf = await rowsAt<TransactionRow>(sql, matching, TRANSACTION_ROW_COLUMNS)
  await fetchKeys(
    sql,
    matching.map((row) => accountKeyName(row.account_id)),
    vault,
  )
  return matching.map(rowOf)
}

/** Rows that the count can skip: the page has read all of them from the first row to a place. */
function seenBy(query: TransactionQuery, { shown, opened, last, hasErased }: Opened): Seen {
  const left = EXAMINED_ROWS - opened
  if (query.after !== null || last === undefined) return { matches: 0, last: null, left, erased: false }
  const place = { txnId: last.txn_id, enteredXid: last.entered_xid }
  return { matches: shown.length, last: place, left, erased: hasErased }
}

/** The result of reading the rows of a page. */
interface Opened {
  readonly shown: readonly unknown[]
  readonly opened: number
  readonly last: Found<PlaceRow> | undefined
  readonly hasErased: boolean
}

/** The key that is known to be needed before there are rows. */
function keyNamesAhead({ accountId }: TransactionQuery, vault: RowVault): readonly KeyName[] {
  return accountId === null ? [] : [vault.accountKeyName(accountId)]
}

/** Whether all that was asked for is gone. */
function isOfErased({ accountId }: TransactionQuery, erased: ReadonlySet<string>, vault: RowVault): boolean {
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

type Counted = Pick<PageRow<PlaceRow>, 'counted' | 'count_exact'>

function countOf(row: Counted | undefined): TransactionPage['count'] {
  const counted = row?.counted ?? null
  return counted === null ? null : { total: Number(counted), exact: row?.count_exact === true }
}

/** `last`: the last row that the page looked at; `more`: it ended there for want of room. */
function nextOf(
  query: TransactionQuery,
  last: Found<PlaceRow> | undefined,
  more: boolean,
  horizon: Horizon | undefined,
): TransactionCursor | null {
  const feeding = query.order === 'asc'
  if (more && last !== undefined) return { position: feeding ? last.entered_xid : null, txnId: last.txn_id }
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

/** A replica may show an older end than the page before did: a feed never goes back. */
function isBehind(position: FeedPosition, other: FeedPosition): boolean {
  const [xid, otherXid] = [BigInt(position.position), BigInt(other.position)]
  return xid > otherXid || (xid === otherXid && position.txnId >= other.txnId)
}
