/**
 * How many transactions match a list's filters where some of them are answered only by what is sealed. Of amounts those in
 * buckets that lie between the bounds' own are counted by their column; rows are opened only of the two at the edges.
 */
import type postgres from 'postgres'
import type { TransactionPage, TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { arrayLiteral } from './array-literal.ts'
import { fetchKeysOfAccounts } from './erased-accounts.ts'
import { TRANSACTION_ROW_COLUMNS, type TransactionRow } from './transaction-document.ts'
import { openedTransaction } from './transaction-rows.ts'
import { boundedCount, COUNT_ROWS, countLimitOf } from './transactions-query-count.ts'
import {
  all,
  columnConditions,
  dateConditions,
  type Fragment,
  hasAmounts,
  hasLoneKey,
  inBuckets,
  narrowConditions,
  type OpenedFilter,
  type TransactionPlaces,
} from './transactions-query-filters.ts'

const OPENED_AT_ONCE = 500

/** What a page has found out already. */
export interface Seen {
  readonly matches: number
  /** The rows that it has not looked at. */
  readonly behind: Fragment
  /** How many rows may still be opened. */
  readonly left: number
}

/** Where not all can be opened that would have to be, what it gives is a lower bound. */
export async function countOpened(
  sql: postgres.ISql,
  query: TransactionQuery,
  places: TransactionPlaces,
  fits: OpenedFilter,
  { matches, behind, left }: Seen,
): Promise<NonNullable<TransactionPage['count']>> {
  const limit = countLimitOf(query)
  const { sure, unsure } = amountConditions(sql, query, places.vault)
  const walked = all(sql, [...narrowConditions(sql, query, places), ...dateConditions(sql, query)])
  const columns = [...columnConditions(sql, query, places), behind]
  const [counted] = await sql<{ readonly counted: string; readonly count_exact: boolean }[]>`
    SELECT * FROM ${boundedCount(sql, walked, [...columns, sure], limit)} counting`
  let total = matches + Number(counted?.counted ?? 0)
  const candidates = await findCandidates(sql, walked, [...columns, ...unsure], left + 1)
  const exact = counted?.count_exact === true && candidates.length <= left
  for (let from = 0; from < Math.min(candidates.length, left) && total <= limit; from += OPENED_AT_ONCE) {
    const asked = candidates.slice(from, Math.min(from + OPENED_AT_ONCE, left))
    total += await countFitting(sql, asked, places.vault, fits)
  }
  return total > limit ? { total: limit, exact: false } : { total, exact }
}

/** Rows that match by their columns, and those that may once they are opened. */
function amountConditions(
  sql: postgres.ISql,
  query: TransactionQuery,
  vault: RowVault,
): { readonly sure: Fragment; readonly unsure: readonly Fragment[] } {
  const { amountMin, amountMax } = query
  const buckets = vault.amountBuckets(amountMin, amountMax)
  if (hasLoneKey(query)) return { sure: sql`false`, unsure: hasAmounts(query) ? [inBuckets(sql, buckets)] : [] }
  const edges = new Set([amountMin, amountMax].flatMap((bound) => (bound === null ? [] : vault.amountBucket(bound))))
  return {
    sure: inBuckets(
      sql,
      buckets.filter((bucket) => !edges.has(bucket)),
    ),
    unsure: [
      inBuckets(
        sql,
        buckets.filter((bucket) => edges.has(bucket)),
      ),
    ],
  }
}

async function findCandidates(
  sql: postgres.ISql,
  walked: Fragment,
  conditions: readonly Fragment[],
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ readonly txn_id: string }[]>`
    SELECT txn_id FROM (SELECT * FROM transactions WHERE ${walked} LIMIT ${COUNT_ROWS}) walked
    WHERE ${all(sql, conditions)} LIMIT ${limit}`
  return rows.map((row) => row.txn_id)
}

async function countFitting(
  sql: postgres.ISql,
  txnIds: readonly string[],
  vault: RowVault,
  fits: OpenedFilter,
): Promise<number> {
  const rows = await sql<TransactionRow[]>`
    SELECT ${sql(TRANSACTION_ROW_COLUMNS)} FROM transactions
    WHERE txn_id = ANY(${arrayLiteral('text', txnIds)}::text[])`
  const erased = await fetchKeysOfAccounts(
    sql,
    rows.map((row) => row.account_id),
    vault,
  )
  const there = rows.filter((row) => !erased.has(row.account_id))
  return there.filter((row) => fits(openedTransaction(row, vault).transaction)).length
}
