/**
 * The filters of a transaction list, cut in two: those that an index of the walk serves, and the rest, which rows that
 * were walked are held against.
 *
 * A transaction's ID begins with its `created_at`, so bounds on the date are ranges of IDs; the exact bound stands
 * beside them.
 */
import type postgres from 'postgres'
import { isAccountId, transactionIdFloor } from '../../actors/identifiers.ts'
import type { TransactionQuery } from '../../runtime/ports/ledger-reads.ts'

export type Fragment = postgres.PendingQuery<postgres.Row[]>

export interface ShardOf {
  readonly shardOf: (accountId: string) => number
}

/** What an equality on an index gives: an account, a group, a key of an account. Empty when none applies. */
export function narrowConditions(
  sql: postgres.Sql,
  query: TransactionQuery,
  { shardOf }: ShardOf,
): readonly Fragment[] {
  if (query.groupId !== null) return [sql`group_id = ${query.groupId}`]
  if (query.accountId === null) return []
  const account = sql`shard_id = ${shardOf(query.accountId)} AND account_id = ${query.accountId}`
  return query.idempotencyKey === null ? [account] : [account, sql`idempotency_key = ${query.idempotencyKey}`]
}

/** Newest first: the ID's order serves the dates as well. */
export function dateConditions(sql: postgres.Sql, query: TransactionQuery): readonly Fragment[] {
  const conditions: Fragment[] = []
  if (query.createdFromMs !== null) {
    conditions.push(sql`txn_id >= ${transactionIdFloor(query.createdFromMs)}`)
    conditions.push(sql`created_at >= ${instantOf(query.createdFromMs)}`)
  }
  if (query.createdToMs !== null) {
    conditions.push(sql`txn_id < ${transactionIdFloor(query.createdToMs)}`)
    conditions.push(sql`created_at < ${instantOf(query.createdToMs)}`)
  }
  return conditions
}

/** What is left for rows to be held against, dates excepted. */
export function remainingConditions(sql: postgres.Sql, query: TransactionQuery): readonly Fragment[] {
  const conditions: Fragment[] = []
  if (query.groupId !== null && query.accountId !== null) conditions.push(sql`account_id = ${query.accountId}`)
  if (query.idempotencyKey !== null && (query.groupId !== null || query.accountId === null)) {
    conditions.push(sql`idempotency_key = ${query.idempotencyKey}`)
  }
  if (query.type !== null) conditions.push(sql`type = ${query.type}`)
  if (query.tokenId !== null) conditions.push(sql`token_id = ${query.tokenId}`)
  // An NFT's asset ID is the one that has a slash in it.
  if (query.tokenClass === 'fungible') conditions.push(sql`strpos(token_id, '/') = 0`)
  if (query.tokenClass === 'nft') conditions.push(sql`strpos(token_id, '/') > 0`)
  if (query.status !== null) conditions.push(sql`status = ${query.status}`)
  if (query.amountMin !== null) conditions.push(sql`quantity >= ${query.amountMin}`)
  if (query.amountMax !== null) conditions.push(sql`quantity <= ${query.amountMax}`)
  return conditions
}

export function all(sql: postgres.Sql, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((left, right) => sql`${left} AND ${right}`, sql`true`)
}

/** Whether no row can match: asked without asking the database. */
export function matchesNothing(query: TransactionQuery): boolean {
  return (
    (query.tokenClass !== null && query.tokenClass !== 'fungible' && query.tokenClass !== 'nft') ||
    (query.accountId !== null && !isAccountId(query.accountId)) ||
    [query.tokenId, query.idempotencyKey].some((text) => text?.includes('\0') === true)
  )
}

/** The years that PostgreSQL and ISO 8601 write alike. Rows have whole milliseconds, so rounding up keeps both bounds exact. */
const LAST_INSTANT_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

function instantOf(timeMs: number): string {
  return new Date(Math.min(Math.max(Math.ceil(timeMs), 0), LAST_INSTANT_MS)).toISOString()
}
