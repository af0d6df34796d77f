/**
 * How many transactions a query matches: exact from counters where they serve, otherwise up to a bound. Columns
 * `counted` and `count_exact`, read in the statement that reads the page, so that both see the same moment.
 *
 * Counters hold the number of ended transactions, per account and per shard. Pending ones have no counter. Each has a hold
 * at its account exactly as long as it is pending: under its own ID, or as its leg while an NFT's home decides. Few are
 * pending at a time, and an account has a few thousand holds at most. So they are read from the indexes of the holds' key
 * and of such legs; over all accounts, up to COUNT_HOLDS of them.
 */
import type postgres from 'postgres'
import type { TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import { COUNT_LIMIT } from './list-count.ts'
import { countedRows } from './shard-counts.ts'
import {
  all,
  dateConditions,
  type Fragment,
  hasAmounts,
  narrowConditions,
  remainingConditions,
  type TransactionPlaces,
} from './transactions-query-filters.ts'

/** In place of COUNT_LIMIT where an amount is asked for. */
const COUNT_LIMIT_BY_AMOUNT = 1_000
/** Rows looked at for a count. A ledger, account or group with more of them has a lower bound where the filter is rare. */
export const COUNT_ROWS = 50_000
/** Holds of any kind that are looked at for what is pending in the whole ledger; beyond, the total is a lower bound. */
export const COUNT_HOLDS = 50_000

/** A relation of one row. Of filters that columns answer. */
export function countRelation(sql: postgres.ISql, query: TransactionQuery, places: TransactionPlaces): Fragment {
  if (!query.counted) return sql`(SELECT NULL::bigint AS counted, NULL::boolean AS count_exact)`
  return hasOtherFilters(query) ? filteredCount(sql, query, places) : counters(sql, query, places)
}

function counters(sql: postgres.ISql, query: TransactionQuery, { shardOf, vault }: TransactionPlaces): Fragment {
  const { accountId, status } = query
  const ofAccount =
    accountId === null
      ? undefined
      : sql`shard_id = ${shardOf(accountId)} AND account_id = ${vault.accountRef(accountId)}`
  const ended = endedOf(sql, status, ofAccount)
  if (status !== 'pending' && status !== null) {
    return sql`(SELECT coalesce((${ended}), 0)::bigint AS counted, true AS count_exact)`
  }
  return sql`(
    SELECT coalesce((${ended}), 0)::bigint + pending.n AS counted, pending.exact AS count_exact
    FROM (${pendingOf(sql, ofAccount)}) pending)`
}

/** How many ended, or ended so. */
function endedOf(sql: postgres.ISql, status: TransactionQuery['status'], ofAccount: Fragment | undefined): Fragment {
  if (status === 'pending') return sql`SELECT 0`
  const ended = status ?? 'any'
  if (ofAccount === undefined) {
    const columns = { completed: sql`completed`, failed: sql`failed`, any: sql`completed + failed` }
    return sql`SELECT sum(${columns[ended]}) FROM ${countedRows(sql)} counted`
  }
  const columns = {
    completed: sql`completed_count`,
    failed: sql`failed_count`,
    any: sql`completed_count + failed_count`,
  }
  return sql`SELECT ${columns[ended]} FROM accounts WHERE ${ofAccount}`
}

/** Under their own IDs: the range that begins with the prefix of them, as no name of another kind of hold does. */
function pendingOf(sql: postgres.ISql, ofAccount: Fragment | undefined): Fragment {
  const isPending = sql`hold_id >= 'txn_' AND hold_id < 'txn\`'`
  const isLeg = sql`pending_txn_id IS NOT NULL`
  if (ofAccount !== undefined) {
    return sql`
      SELECT (SELECT count(*) FROM holds WHERE ${ofAccount} AND ${isPending})
           + (SELECT count(*) FROM holds WHERE ${ofAccount} AND ${isLeg}) AS n, true AS exact`
  }
  return sql`
    SELECT known.n + legs.n AS n, known.exact AND legs.n <= ${COUNT_HOLDS} AS exact
    FROM (
      SELECT count(*) FILTER (WHERE ${isPending}) AS n, count(*) <= ${COUNT_HOLDS} AS exact
      FROM (SELECT hold_id FROM holds LIMIT ${COUNT_HOLDS + 1}) walked
    ) known CROSS JOIN (
      SELECT count(*) AS n FROM (SELECT FROM holds WHERE ${isLeg} LIMIT ${COUNT_HOLDS + 1}) walked
    ) legs`
}

function hasOtherFilters(query: TransactionQuery): boolean {
  return [
    query.createdFromMs,
    query.createdToMs,
    query.type,
    query.tokenId,
    query.tokenClass,
    query.groupId,
    query.amountMin,
    query.amountMax,
    query.idempotencyKey,
  ].some((filter) => filter !== null)
}

function filteredCount(sql: postgres.ISql, query: TransactionQuery, places: TransactionPlaces): Fragment {
  const walked = all(sql, [...narrowConditions(sql, query, places), ...dateConditions(sql, query)])
  return boundedCount(sql, walked, remainingConditions(sql, query, places), countLimitOf(query))
}

export function countLimitOf(query: TransactionQuery): number {
  return hasAmounts(query) ? COUNT_LIMIT_BY_AMOUNT : COUNT_LIMIT
}

/** `walked`: what an index serves; `rest`: what rows are held against. */
function boundedCount(sql: postgres.ISql, walked: Fragment, rest: readonly Fragment[], limit: number): Fragment {
  if (rest.length === 0) {
    return sql`(
      SELECT least(n, ${limit}::bigint) AS counted, n <= ${limit} AS count_exact
      FROM (SELECT count(*) AS n FROM (SELECT FROM transactions WHERE ${walked} LIMIT ${limit + 1}) matches) found)`
  }
  return sql`(
    SELECT least(n, ${limit}::bigint) AS counted,
           n <= ${limit} AND NOT EXISTS (SELECT FROM transactions WHERE ${walked} OFFSET ${COUNT_ROWS}) AS count_exact
    FROM (
      SELECT count(*) AS n FROM (
        SELECT FROM (SELECT * FROM transactions WHERE ${walked} LIMIT ${COUNT_ROWS}) walked
        WHERE ${all(sql, rest)} LIMIT ${limit + 1}
      ) matches
    ) found)`
}
