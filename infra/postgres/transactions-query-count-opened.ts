/**
 * How many transactions match a list's filters where some of them are answered only by what is sealed. Of amounts those in
 * buckets that lie between the bounds' own are counted by their column; rows are opened only of the two at the edges.
 */
import type postgres from 'postgres'
import type { TransactionPage, TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { arrayLiteral } from './array-literal.ts'
import { fetchKeysOfAccounts } from './erased-accounts.ts'
import { AMOUNT_COLUMNS, type AmountRow, TRANSACTION_ROW_COLUMNS, type TransactionRow } from './transaction-document.ts'
import { COUNT_ROWS, countLimitOf } from './transactions-query-count.ts'
import {
  all,
  amountFilter,
  columnConditions,
  dateConditions,
  type Fragment,
  hasAmounts,
  hasLoneKey,
  inBuckets,
  narrowConditions,
  openedFilter,
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

/** Where not all can be opened that would have to be, or looked at, what it gives is a lower bound. */
export async function countOpened(
  sql: postgres.ISql,
  query: TransactionQuery,
  places: TransactionPlaces,
  { matches, behind, left }: Seen,
): Promise<NonNullable<TransactionPage['count']>> {
  const limit = countLimitOf(query)
  const { sure, unsure } = bucketsOf(query, places.vault)
  const walk = (buckets: readonly number[]): Walk => walkOf(sql, query, places, { buckets, behind })
  let total = matches + (sure.length === 0 ? 0 : await countWalked(sql, walk(sure), limit + 1))
  if (total > limit) return { total: limit, exact: false }
  const candidates = await findCandidates(sql, walk(unsure), left + 1)
  for (let from = 0; from < Math.min(candidates.length, left) && total <= limit; from += OPENED_AT_ONCE) {
    total += await countFitting(sql, query, places, candidates.slice(from, Math.min(from + OPENED_AT_ONCE, left)))
  }
  if (total > limit) return { total: limit, exact: false }
  return { total, exact: candidates.length <= left && !(await isCut(sql, walk([...sure, ...unsure]))) }
}

interface Buckets {
  /** Whose amounts all match. */
  readonly sure: readonly number[]
  /** Whose amounts may. */
  readonly unsure: readonly number[]
}

function bucketsOf(query: TransactionQuery, vault: RowVault): Buckets {
  const { amountMin, amountMax } = query
  const buckets = vault.amountBuckets(amountMin, amountMax)
  if (hasLoneKey(query)) return { sure: [], unsure: buckets }
  const edges = new Set([amountMin, amountMax].flatMap((bound) => (bound === null ? [] : vault.amountBucket(bound))))
  return {
    sure: buckets.filter((bucket) => !edges.has(bucket)),
    unsure: buckets.filter((bucket) => edges.has(bucket)),
  }
}

/** Where the rows of a count are looked for. */
interface Walk {
  /** A relation, of so many rows at most. */
  readonly rows: (most: number) => Fragment
  /** What they are held against; none: each of them counts. */
  readonly rest: readonly Fragment[]
}

/** Through what an account or a group has; else through what each bucket has, newest first; else through the ledger. */
function walkOf(
  sql: postgres.ISql,
  query: TransactionQuery,
  places: TransactionPlaces,
  { buckets, behind }: { readonly buckets: readonly number[]; readonly behind: Fragment },
): Walk {
  const columns = columnConditions(sql, query, places)
  const narrow = narrowConditions(sql, query, places)
  const dates = dateConditions(sql, query)
  if (narrow.length > 0 || !hasAmounts(query)) {
    const walked = all(sql, [...narrow, ...dates])
    const inThem = hasAmounts(query) ? [inBuckets(sql, buckets)] : []
    return {
      rows: (most) => sql`(SELECT * FROM transactions WHERE ${walked} LIMIT ${most}) walked`,
      rest: [...columns, behind, ...inThem],
    }
  }
  const isFeed = query.order === 'asc'
  const walked = all(sql, isFeed ? dates : [...dates, behind])
  return {
    rows: (most) => sql`(
      SELECT of_bucket.* FROM unnest(${arrayLiteral('integer', buckets)}::integer[]) AS b (bucket) CROSS JOIN LATERAL (
        SELECT * FROM transactions WHERE amount_bucket = b.bucket AND ${walked} ORDER BY txn_id DESC LIMIT ${most}
      ) of_bucket LIMIT ${most}) walked`,
    rest: isFeed ? [...columns, behind] : columns,
  }
}

/** Up to `most`. */
async function countWalked(sql: postgres.ISql, { rows, rest }: Walk, most: number): Promise<number> {
  const [counted] = await sql<{ readonly n: string }[]>`
    SELECT count(*) AS n FROM (
      SELECT FROM ${rows(rest.length === 0 ? most : COUNT_ROWS)} WHERE ${all(sql, rest)} LIMIT ${most}) matches`
  return Number(counted?.n ?? 0)
}

async function findCandidates(sql: postgres.ISql, { rows, rest }: Walk, most: number): Promise<readonly string[]> {
  const found = await sql<{ readonly txn_id: string }[]>`
    SELECT txn_id FROM ${rows(rest.length === 0 ? most : COUNT_ROWS)} WHERE ${all(sql, rest)} LIMIT ${most}`
  return found.map((row) => row.txn_id)
}

/** Whether there are more rows than a count looks at. Where each counts, it looks at as many as it has to. */
async function isCut(sql: postgres.ISql, { rows, rest }: Walk): Promise<boolean> {
  if (rest.length === 0) return false
  const [found] = await sql<{ readonly cut: boolean }[]>`
    SELECT EXISTS (SELECT FROM ${rows(COUNT_ROWS + 1)} OFFSET ${COUNT_ROWS}) AS cut`
  return found?.cut === true
}

async function countFitting(
  sql: postgres.ISql,
  query: TransactionQuery,
  { vault }: TransactionPlaces,
  txnIds: readonly string[],
): Promise<number> {
  const among = sql`FROM transactions WHERE txn_id = ANY(${arrayLiteral('text', txnIds)}::text[])`
  const fits = hasLoneKey(query) ? openedFilter(query) : undefined
  if (fits !== undefined) {
    return count(await sql<TransactionRow[]>`SELECT ${sql(TRANSACTION_ROW_COLUMNS)} ${among}`, fits)
  }
  return count(await sql<AmountRow[]>`SELECT ${sql(AMOUNT_COLUMNS)} ${among}`, amountFilter(query))

  async function count<Row extends AmountRow>(
    rows: readonly Row[],
    matches: (row: Row, vault: RowVault) => boolean,
  ): Promise<number> {
    const refs = rows.map((row) => row.account_id)
    const erased = await fetchKeysOfAccounts(sql, refs, vault)
    return rows.filter((row) => !erased.has(row.account_id) && matches(row, vault)).length
  }
}
