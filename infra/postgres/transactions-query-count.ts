/**
 * How many transactions a query matches: exact from counters where they serve, otherwise up to a bound. Columns
 * `counted` and `count_exact`, read in the statement that reads the page, so that both see the same moment.
 */
import type postgres from 'postgres'
import type { TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import {
  all,
  dateConditions,
  type Fragment,
  narrowConditions,
  remainingConditions,
  type ShardOf,
} from './transactions-query-filters.ts'

/** Matches are counted up to here; beyond, the count is a lower bound. */
const COUNT_LIMIT = 10_000
const COUNT_LIMIT_BY_AMOUNT = 1_000
/** Rows looked at for a count. A ledger, account or group with more of them has a lower bound where the filter is rare. */
const COUNT_ROWS = 50_000

/** A relation of one row. */
export function countRelation(sql: postgres.Sql, query: TransactionQuery, shards: ShardOf): Fragment {
  if (!query.counted) return sql`(SELECT NULL::bigint AS counted, NULL::boolean AS count_exact)`
  const counter = counterOf(sql, query, shards)
  if (counter !== undefined) return sql`(SELECT coalesce((${counter}), 0)::bigint AS counted, true AS count_exact)`
  return boundedCount(sql, query, shards)
}

/** Counters are by account and by final status: nothing counts what is pending. */
function counterOf(sql: postgres.Sql, query: TransactionQuery, { shardOf }: ShardOf): Fragment | undefined {
  const { accountId, status } = query
  if (status === 'pending' || hasOtherFilters(query)) return undefined
  const counters = {
    completed: sql`completed_count`,
    failed: sql`failed_count`,
    any: sql`completed_count + failed_count`,
  }
  const counter = counters[status ?? 'any']
  return accountId === null
    ? sql`SELECT sum(${counter}) FROM sessions`
    : sql`SELECT ${counter} FROM accounts WHERE shard_id = ${shardOf(accountId)} AND account_id = ${accountId}`
}

function hasOtherFilters(query: TransactionQuery): boolean {
  return [
    query.createdFromMs,
    query.createdToMs,
    query.type,
    query.tokenId,
    query.groupId,
    query.amountMin,
    query.amountMax,
    query.idempotencyKey,
  ].some((filter) => filter !== null)
}

function boundedCount(sql: postgres.Sql, query: TransactionQuery, shards: ShardOf): Fragment {
  const limit = query.amountMin === null && query.amountMax === null ? COUNT_LIMIT : COUNT_LIMIT_BY_AMOUNT
  const walked = all(sql, [...narrowConditions(sql, query, shards), ...dateConditions(sql, query)])
  const rest = remainingConditions(sql, query)
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
