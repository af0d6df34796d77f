/** Sums the mints and burns of tokens. The rows are sealed, so they are decrypted one by one. */
import type { SupplyMoves } from '../../runtime/audit/supply-check.ts'
import { storedObject } from '../../runtime/audit/stored-json.ts'
import { parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import type { Moment, Query } from './audit-reads.ts'
import { fetchKeysOfAccounts, opened } from './opened.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../postgres/rows/transaction-document.ts'
import { readUndelivered } from './value-outside-accounts.ts'

/** Completed mints and burns of the tokens $1. */
const MOVED = `
SELECT ${TRANSACTION_ROW_COLUMNS.join(', ')} FROM transactions
 WHERE type IN ('mint', 'burn') AND token_id = ANY($1::text[]) AND status = 'completed'`

const GROUPS = `SELECT actor_id, status FROM actors WHERE kind = 'group' AND actor_id = ANY($1::text[])`

/** Number of mints and burns of each token in $1, of any status; at most $2. */
const MOVES = `
SELECT n.token_id, (
         SELECT count(*)::integer FROM (
           SELECT FROM transactions t WHERE t.token_id = n.token_id AND t.type IN ('mint', 'burn') LIMIT $2::integer) m) AS moves
  FROM unnest($1::text[]) AS n (token_id)`

/** By token, at most `upTo`. */
export async function countMoves(
  query: Query,
  tokenIds: readonly string[],
  upTo: number,
): Promise<ReadonlyMap<string, number>> {
  if (tokenIds.length === 0) return new Map()
  const rows = await query<{ token_id: string; moves: number }>(MOVES, [arrayLiteral('text', tokenIds), upTo])
  return new Map(rows.map(({ token_id: tokenId, moves }) => [tokenId, moves]))
}

export interface Moved {
  /** By token. */
  readonly moves: ReadonlyMap<string, SupplyMoves>
  /** Rows that cannot be read: place and problem. */
  readonly unread: readonly (readonly [place: string, problem: string])[]
}

interface Sums extends SupplyMoves {
  done: Quantity
  issued: Quantity
  underWay: Quantity
  issuing: Quantity
  readonly settling: Map<string, Quantity>
  isPartial: boolean
}

export async function readMoves(moment: Moment, tokenIds: readonly string[]): Promise<Moved> {
  const sums = new Map(tokenIds.map((tokenId) => [tokenId, newSums()]))
  const unread: (readonly [string, string])[] = []
  await moment.inBatches<TransactionRow>(MOVED, [arrayLiteral('text', tokenIds)], async (rows) => {
    const erased = await fetchKeysOfAccounts(moment, rows)
    const changes: (Change & { readonly of: Sums })[] = []
    for (const row of rows) {
      const of = sums.get(row.token_id)
      if (erased.has(row.account_id)) {
        if (of !== undefined) of.isPartial = true
        continue
      }
      const change = opened(() => changeOf(row, moment))
      if (!change.isOpen) note(unread, `transaction ${row.txn_id}`, change.problem)
      else if (of !== undefined && change.value !== undefined) changes.push({ of, ...change.value })
    }
    const statuses = await statusesOf(
      moment,
      changes.flatMap(({ legOf }) => legOf ?? []),
    )
    for (const { of, ...change } of changes) enter(of, change, statuses)
  })
  await readUndelivered(moment, (place, envelope) => {
    if (!envelope.isOpen) return note(unread, place, envelope.problem)
    const { message, carries } = envelope.value
    if (message.type !== 'conclude_supply' && message.type !== 'credit_issue') return
    for (const { tokenId, quantity } of carries) {
      const of = sums.get(tokenId)
      if (of === undefined) continue
      of.underWay += parseQuantity(quantity)
      if (message.type === 'credit_issue') of.issuing += parseQuantity(quantity)
    }
  })
  return { moves: sums, unread }
}

/** Most unreadable rows that are named. */
const MAX_UNREAD = 100

function note(unread: (readonly [string, string])[], place: string, problem: string): void {
  if (unread.length < MAX_UNREAD) unread.push([place, problem])
}

interface Change {
  readonly by: Quantity
  readonly isIssue: boolean
  /** Group of a leg; null for other transactions. */
  readonly legOf: string | null
}

/** undefined: a group has compensated it, and the group's ID may be in use again. Throws UnreadableRow. */
function changeOf(row: TransactionRow, { vault }: Moment): Change | undefined {
  const { groupId, ...transaction } = openTransaction(row, vault).transaction
  const amount = parseQuantity(transaction.amount)
  const change = { by: row.type === 'mint' ? amount : -amount, isIssue: row.origin === 'ledger' }
  const isLeg = row.origin === 'client' && groupId !== null && hasTerms(transaction.payload)
  if (!isLeg) return { ...change, legOf: null }
  return row.compensated_by === null ? { ...change, legOf: groupId } : undefined
}

/** By group ID. */
async function statusesOf(moment: Moment, groupIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (groupIds.length === 0) return new Map()
  const found = await moment.query<{ actor_id: string; status: string }>(GROUPS, [arrayLiteral('text', groupIds)])
  return new Map(found.map(({ actor_id: groupId, status }) => [groupId, status]))
}

function hasTerms(payload: string): boolean {
  return typeof storedObject(payload)?.['terms_hash'] === 'string'
}

/** A leg counts once its group settles. */
function enter(sums: Sums, { by, isIssue, legOf }: Change, statuses: ReadonlyMap<string, string>): void {
  const status = legOf === null ? 'settled' : statuses.get(legOf)
  if (legOf !== null && status === 'settling') sums.settling.set(legOf, (sums.settling.get(legOf) ?? ZERO) + by)
  if (status !== 'settled') return
  sums.done += by
  if (isIssue) sums.issued += by
}

export function newSums(): Sums {
  return { done: ZERO, issued: ZERO, underWay: ZERO, issuing: ZERO, settling: new Map(), isPartial: false }
}
