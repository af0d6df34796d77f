/**
 * How many transactions a query matches: exact from counters where they serve, otherwise up to a bound. Columns
 * `counted` and `count_exact`, read in the statement that reads the page, so that both see the same moment.
 *
 * Counters hold the number of ended transactions, per account and per shard. Pending ones have no counter: few are pending
 * at a time, an account has a few thousand at most, and they have a table of their own.
 */
import type postgres from 'postgres'
import type { TransactionQuery } from '../../../runtime/ports/ledger-reads.ts'
import { COUNT_LIMIT } from './reading.ts'
import { countedRows } from '../rows/shard-counts.ts'
import {
  all,
  dateConditions,
  type Fragment,
  hasAmounts,
  narrowConditions,
  remainingConditions,
  type Look,
  walkedTransactions,
} from './transactions-query-filters.ts'

/** In place of COUNT_LIMIT where an amount is asked for. */
const COUNT_LIMIT_BY_AMOUNT = 1_000
/** Rows looked at for a count. A ledger, account or group with more of them has a lower bound where the filter is rare. */
export const COUNT_ROWS = 50_000
/** Pending transactions of the whole ledger that are counted; beyond, the total is a lower bound. */
export const COUNT_PENDING = 50_000

/** A relation of one row. Of filters that columns answer. */
export function countRelation(look: Look): Fragment {
  const { sql, query } = look
  if (!query.counted) return sql`(SELECT NULL::bigint AS counted, NULL::boolean AS count_exact)`
  return hasOtherFilters(query) ? filteredCount(look) : counters(look)
}

function counters({ sql, query, shardOf, vault }: Look): Fragment {
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

function pendingOf(sql: postgres.ISql, ofAccount: Fragment | undefined): Fragment {
  if (ofAccount !== undefined) {
    return sql`SELECT count(*) AS n, true AS exact FROM pending_transactions WHERE ${ofAccount}`
  }
  return sql`
    SELECT least(count(*), ${COUNT_PENDING}) AS n, count(*) <= ${COUNT_PENDING} AS exact
    FROM (SELECT FROM pending_transactions LIMIT ${COUNT_PENDING + 1}) walked`
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

function filteredCount(look: Look): Fragment {
  const { sql, query } = look
  const walked = all(sql, [...narrowConditions(look), ...dateConditions(look)])
  const among = sql`${walkedTransactions(look)} WHERE ${walked}`
  return boundedCount(sql, among, remainingConditions(look), countLimitOf(query))
}

export function countLimitOf(query: TransactionQuery): number {
  return hasAmounts(query) ? COUNT_LIMIT_BY_AMOUNT : COUNT_LIMIT
}

/** `among`: a relation with conditions that an index serves; `rest`: what its rows are held against. */
function boundedCount(sql: postgres.ISql, among: Fragment, rest: readonly Fragment[], limit: number): Fragment {
  if (rest.length === 0) {
    return sql`(
      SELECT least(n, ${limit}::bigint) AS counted, n <= ${limit} AS count_exact
      FROM (SELECT count(*) AS n FROM (SELECT FROM ${among} LIMIT ${limit + 1}) matches) found)`
  }
  return sql`(
    SELECT least(n, ${limit}::bigint) AS counted,
           n <= ${limit} AND NOT EXISTS (SELECT FROM ${among} OFFSET ${COUNT_ROWS}) AS count_exact
    FROM (
      SELECT count(*) AS n FROM (
        SELECT FROM (SELECT * FROM ${among} LIMIT ${COUNT_ROWS}) walked
        WHERE ${all(sql, rest)} LIMIT ${limit + 1}
      ) matches
    ) found)`
}
