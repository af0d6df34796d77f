/**
 * Counts transactions within bounds on amounts, which are sealed. If their buckets can be computed, rows in buckets between
 * those of the two bounds are counted by that column, and only rows in these two buckets are opened.
 *   C1. Columns are believed: what is shown of a row is held against them, what is only counted is not.
 */
import type postgres from 'postgres'
import type { TransactionPage, TransactionQuery } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { PLACE_COLUMNS, type PlaceRow } from '../rows/transaction-rows.ts'
import { readAmounts } from './sealed-amounts.ts'
import { COUNT_ROWS, countLimitOf } from './transactions-query-count.ts'
import {
  all,
  amountFilter,
  columnConditions,
  dateConditions,
  type Fragment,
  inBuckets,
  narrowConditions,
  type Look,
  walkedTransactions,
} from './transactions-query-filters.ts'

/** L4 of transactions-query.ts. */
export const OPENED_AT_ONCE = 500

/** The findings of a page so far. */
export interface Seen {
  readonly matches: number
  /** The last row that it has looked at; null: none. */
  readonly last: { readonly txnId: string; readonly enteredXid: string | null } | null
  /** How many rows may still be opened. */
  readonly left: number
  /** Whether some of them are of accounts that were erased. */
  readonly erased: boolean
}

/**
 * The count is a lower bound if more rows would have to be read or opened than the limits allow, or if rows belong to
 * erased accounts, whose amounts are destroyed.
 */
export async function countOpened(
  look: Look,
  { matches, last, left, ...seen }: Seen,
): Promise<NonNullable<TransactionPage['count']>> {
  const { sql, query, vault } = look
  const limit = countLimitOf(query)
  const { sure, unsure } = bucketsOf(query, vault)
  const [ofSure, ofUnsure] = [walkOf(look, { buckets: sure, last }), walkOf(look, { buckets: unsure, last })]
  let total = matches + (sure.length === 0 ? 0 : await countWalked(sql, ofSure, limit + 1))
  if (total > limit) return { total: limit, exact: false }
  let { erased } = seen
  const candidates = await findCandidates(sql, ofUnsure, left + 1)
  for (let from = 0; from < Math.min(candidates.length, left) && total <= limit; from += OPENED_AT_ONCE) {
    const found = await countFitting(look, candidates.slice(from, Math.min(from + OPENED_AT_ONCE, left)))
    total += found.fitting
    erased ||= found.erased
  }
  if (total > limit) return { total: limit, exact: false }
  if (erased || candidates.length > left) return { total, exact: false }
  // Both walk through the same rows.
  return { total, exact: !(await isCut(sql, ofUnsure)) }
}

interface Buckets {
  /** Buckets with matching amounts only. */
  readonly sure: readonly number[]
  /** Buckets with some matching amounts; undefined: every bucket may have some. */
  readonly unsure: readonly number[] | undefined
}

function bucketsOf(query: TransactionQuery, vault: RowVault): Buckets {
  const { accountId, amountMin, amountMax } = query
  const all = vault.amountBuckets(accountId, amountMin, amountMax)
  if (all === undefined) return { sure: [], unsure: undefined }
  // Two magnitudes may have one bucket.
  const buckets = [...new Set(all)]
  const edges = new Set(
    [amountMin, amountMax].flatMap((bound) =>
      bound === null ? [] : (vault.amountBuckets(accountId, bound, bound) ?? []),
    ),
  )
  return {
    sure: buckets.filter((bucket) => !edges.has(bucket)),
    unsure: buckets.filter((bucket) => edges.has(bucket)),
  }
}

/** Where the rows of a count are looked for. */
interface Walk {
  /** A relation, of so many rows at most. */
  readonly rows: (most: number) => Fragment
  /** Conditions of a match; none: each row counts. */
  readonly rest: readonly Fragment[]
}

interface Walked extends Pick<Seen, 'last'> {
  readonly buckets: Buckets['unsure']
}

function walkOf(look: Look, { buckets, last }: Walked): Walk {
  const { sql, query } = look
  const walked = all(sql, [...narrowConditions(look), ...dateConditions(look)])
  const behind = last === null ? [] : [behindOf(sql, query, last)]
  const inThem = buckets === undefined ? [] : [inBuckets(sql, buckets)]
  return {
    rows: (most) => sql`(SELECT * FROM ${walkedTransactions(look)} WHERE ${walked} LIMIT ${most}) walked`,
    rest: [...columnConditions(look), ...behind, ...inThem],
  }
}

function behindOf(sql: postgres.ISql, { order }: TransactionQuery, last: NonNullable<Seen['last']>): Fragment {
  if (order === 'desc') return sql`txn_id < ${last.txnId}`
  return sql`(entered_xid, txn_id) > (${last.enteredXid}::xid8, ${last.txnId})`
}

/** Up to `most`. */
async function countWalked(sql: postgres.ISql, { rows, rest }: Walk, most: number): Promise<number> {
  const [counted] = await sql<{ readonly n: string }[]>`
    SELECT count(*) AS n FROM (
      SELECT FROM ${rows(rest.length === 0 ? most : COUNT_ROWS)} WHERE ${all(sql, rest)} LIMIT ${most}) matches`
  return Number(counted?.n ?? 0)
}

async function findCandidates(sql: postgres.ISql, { rows, rest }: Walk, most: number): Promise<readonly PlaceRow[]> {
  return await sql<PlaceRow[]>`
    SELECT ${sql(PLACE_COLUMNS)} FROM ${rows(rest.length === 0 ? most : COUNT_ROWS)} WHERE ${all(sql, rest)} LIMIT ${most}`
}

/** Whether there are more rows than a count looks at. Where each counts, it looks at as many as it has to. */
async function isCut(sql: postgres.ISql, { rows, rest }: Walk): Promise<boolean> {
  if (rest.length === 0) return false
  const [found] = await sql<{ readonly cut: boolean }[]>`
    SELECT EXISTS (SELECT FROM ${rows(COUNT_ROWS + 1)} OFFSET ${COUNT_ROWS}) AS cut`
  return found?.cut === true
}

async function countFitting(
  look: Look,
  candidates: readonly PlaceRow[],
): Promise<{ readonly fitting: number; readonly erased: boolean }> {
  const { erased, amountOf } = await readAmounts(look, candidates)
  const there = candidates.filter((row) => !erased.has(row.account_id))
  const isBetween = amountFilter(look.query)
  return { fitting: there.filter((row) => isBetween(amountOf(row))).length, erased: erased.size > 0 }
}
