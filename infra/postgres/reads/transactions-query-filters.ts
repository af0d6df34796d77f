/**
 * The filters of a transaction list, cut in three: those that an index of the walk serves; those that rows which were
 * walked are held against, by their columns; and those that only what is sealed can answer.
 *
 * A transaction's ID begins with its `created_at`, so bounds on the date are ranges of IDs; the exact bound stands
 * beside them.
 */
import { instantOf } from './reading.ts'
import type postgres from 'postgres'
import { isAccountId, transactionIdFloor } from '../../../actors/identifiers.ts'
import { parseQuantity } from '../../../actors/money.ts'
import type { TransactionQuery } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import type { KnownAmounts } from '../rows/known-amounts.ts'

export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** Where transactions are, and how they are read. */
export interface TransactionPlaces {
  readonly shardOf: (accountId: string) => number
  readonly vault: RowVault
  readonly amounts: KnownAmounts
}

/** A query, and a connection at the moment that its page shows. */
export interface Look extends TransactionPlaces {
  readonly sql: postgres.ISql
  readonly query: TransactionQuery
}

/** Whether an index narrows the rows: by account, group, or key of an account. */
export function isNarrow({ groupId, accountId }: TransactionQuery): boolean {
  return groupId !== null || accountId !== null
}

/** Behind every ID. */
const ID_END = 'txn`'

/** References that rows of the group have; of one account, if the query names it. */
export function groupRefsOf({ groupId, accountId }: TransactionQuery, vault: RowVault): readonly string[] {
  if (groupId === null) return []
  return accountId === null ? vault.groupRefs(groupId) : [vault.groupRef(accountId, groupId)]
}

/**
 * Relation of the rows of the query's group within its dates. It reads a range of the index of groups and IDs for each
 * reference: given an equality, the planner may walk the whole ledger instead.
 */
export function ofGroup(
  look: Look,
  { columns, behind, most }: { readonly columns: Fragment; readonly behind: string | null; readonly most: Fragment },
): Fragment {
  const { sql, query, vault } = look
  const { createdFromMs, createdToMs } = query
  const from = createdFromMs === null ? '' : transactionIdFloor(createdFromMs)
  const ends = [
    ID_END,
    ...(createdToMs === null ? [] : [transactionIdFloor(createdToMs)]),
    ...(behind === null ? [] : [behind]),
  ]
  const end = ends.toSorted()[0] ?? ID_END
  return sql`(
    SELECT r.ref, of_ref.* FROM unnest(${arrayLiteral('uuid', groupRefsOf(query, vault))}::uuid[]) AS r (ref)
     CROSS JOIN LATERAL (
       SELECT ${columns} FROM all_transactions
        WHERE group_id IS NOT NULL AND (group_id, txn_id) >= (r.ref, ${from}) AND (group_id, txn_id) < (r.ref, ${end})
          AND ${all(sql, createdConditions(look))}
        ORDER BY group_id DESC, txn_id DESC ${most}
     ) of_ref) of_group`
}

/** Relation of the transactions that a walk examines. */
export function walkedTransactions(look: Look): Fragment {
  const { sql, query } = look
  if (query.groupId === null) return sql`all_transactions`
  return ofGroup(look, { columns: sql`*`, behind: null, most: sql`OFFSET 0` })
}

/** Conditions on `walkedTransactions` that an index serves. */
export function narrowConditions({ sql, query, shardOf, vault }: Look): readonly Fragment[] {
  if (query.groupId !== null || query.accountId === null) return []
  const { accountId, idempotencyKey } = query
  const account = sql`shard_id = ${shardOf(accountId)} AND account_id = ${vault.accountRef(accountId)}`
  if (idempotencyKey === null) return [account]
  return [account, sql`idempotency_key = ${vault.keyRef(accountId, idempotencyKey)}`]
}

/** Newest first: the ID's order serves the dates as well. */
export function dateConditions(look: Look): readonly Fragment[] {
  const { sql, query } = look
  const { createdFromMs, createdToMs } = query
  return [
    ...(createdFromMs === null ? [] : [sql`txn_id >= ${transactionIdFloor(createdFromMs)}`]),
    ...(createdToMs === null ? [] : [sql`txn_id < ${transactionIdFloor(createdToMs)}`]),
    ...createdConditions(look),
  ]
}

/** The exact bounds, which no index serves. */
export function createdConditions({ sql, query }: Look): readonly Fragment[] {
  const { createdFromMs, createdToMs } = query
  return [
    ...(createdFromMs === null ? [] : [sql`created_at >= ${instantOf(createdFromMs)}`]),
    ...(createdToMs === null ? [] : [sql`created_at < ${instantOf(createdToMs)}`]),
  ]
}

/** The remaining filters as conditions on columns, except dates and amounts. */
export function columnConditions({ sql, query, vault }: Look): readonly Fragment[] {
  const { groupId, accountId, idempotencyKey } = query
  const conditions: Fragment[] = []
  if (groupId !== null && accountId !== null) {
    conditions.push(sql`account_id = ${vault.accountRef(accountId)}`)
    if (idempotencyKey !== null) conditions.push(sql`idempotency_key = ${vault.keyRef(accountId, idempotencyKey)}`)
  }
  if (query.type !== null) conditions.push(sql`type = ${query.type}`)
  if (query.tokenId !== null) conditions.push(sql`token_id = ${query.tokenId}`)
  // An NFT's asset ID is the one that has a slash in it.
  if (query.tokenClass === 'fungible') conditions.push(sql`strpos(token_id, '/') = 0`)
  if (query.tokenClass === 'nft') conditions.push(sql`strpos(token_id, '/') > 0`)
  if (query.status !== null) conditions.push(sql`status = ${query.status}`)
  return conditions
}

/** All of that, and amounts as nearly as columns tell them. */
export function remainingConditions(look: Look): readonly Fragment[] {
  const { sql, query, vault } = look
  const conditions = columnConditions(look)
  if (!hasAmounts(query)) return conditions
  const { accountId, amountMin, amountMax } = query
  const buckets = vault.amountBuckets(accountId, amountMin, amountMax)
  return buckets === undefined ? conditions : [...conditions, inBuckets(sql, buckets)]
}

export function inBuckets(sql: postgres.ISql, buckets: readonly number[]): Fragment {
  return sql`amount_bucket = ANY(${arrayLiteral('integer', buckets)}::integer[])`
}

export function hasAmounts({ amountMin, amountMax }: TransactionQuery): boolean {
  return amountMin !== null || amountMax !== null
}

/** Whether an amount, a decimal string, lies between the bounds. */
export function amountFilter({ amountMin, amountMax }: TransactionQuery): (amount: string) => boolean {
  const least = amountMin === null ? null : parseQuantity(amountMin)
  const most = amountMax === null ? null : parseQuantity(amountMax)
  return (amount) => {
    const quantity = parseQuantity(amount)
    return (least === null || quantity >= least) && (most === null || quantity <= most)
  }
}

export function all(sql: postgres.ISql, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((left, right) => sql`${left} AND ${right}`, sql`true`)
}

/** Whether no row can match: asked without asking the database. */
export function matchesNothing(query: TransactionQuery): boolean {
  const { tokenClass, accountId, amountMin, amountMax } = query
  return (
    (tokenClass !== null && tokenClass !== 'fungible' && tokenClass !== 'nft') ||
    (accountId !== null && !isAccountId(accountId)) ||
    (amountMin !== null && amountMax !== null && parseQuantity(amountMin) > parseQuantity(amountMax)) ||
    [query.tokenId, query.idempotencyKey].some((text) => text?.includes('\0') === true)
  )
}
