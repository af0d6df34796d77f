/** What has moved the supply of tokens, added up row by row: mints and burns are sealed. */
import type { SupplyMoves } from '../../runtime/audit/supply-check.ts'
import { storedObject } from '../../runtime/audit/stored-json.ts'
import { formatQuantity, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import { arrayLiteral } from '../postgres/array-literal.ts'
import type { Moment, Query } from './audit-reads.ts'
import { readUndelivered } from './in-transit.ts'
import { fetchKeysOfAccounts } from './erased.ts'
import { opened } from './opened.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from '../postgres/transaction-document.ts'

/**
 * Mints and burns of the tokens $1 that have completed; with what became of the group, if there is one: asked for each as it
 * is read, so that no statement takes long before its first row, whatever else there is.
 */
export const MOVED = `
SELECT ${TRANSACTION_ROW_COLUMNS.map((column) => `t.${column}`).join(', ')}, g.status AS group_status
  FROM transactions t
  LEFT JOIN LATERAL (
    SELECT status FROM actors WHERE kind = 'group' AND actor_id = t.group_id::text OFFSET 0) g ON true
 WHERE t.type IN ('mint', 'burn') AND t.token_id = ANY($1::text[]) AND t.status = 'completed'`

/** How many mints and burns there are of each of the tokens $1, whatever became of them; $2: no more than that. */
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

interface MovedRow extends TransactionRow {
  readonly group_status: string | null
}

export interface Moved {
  /** By token. */
  readonly moves: ReadonlyMap<string, SupplyMoves>
  /** Rows that cannot be read: place and problem. */
  readonly unread: readonly (readonly [place: string, problem: string])[]
}

interface Sums {
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
  await moment.inBatches<MovedRow>(MOVED, [arrayLiteral('text', tokenIds)], async (rows) => {
    const erased = await fetchKeysOfAccounts(
      moment,
      rows.map((row) => row.account_id),
    )
    for (const row of rows) {
      const of = sums.get(row.token_id)
      if (erased.has(row.account_id)) {
        if (of !== undefined) of.isPartial = true
        continue
      }
      const change = opened(() => changeOf(row, moment))
      if (!change.isOpen) note(unread, `transaction ${row.txn_id}`, change.problem)
      else if (of !== undefined && change.value !== undefined) enter(of, row, change.value)
    }
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
  return { moves: new Map([...sums].map(([tokenId, of]) => [tokenId, movesOf(of)])), unread }
}

/** Beyond, naming them tells nobody more. */
const MAX_UNREAD = 100

function note(unread: (readonly [string, string])[], place: string, problem: string): void {
  if (unread.length < MAX_UNREAD) unread.push([place, problem])
}

interface Change {
  readonly by: Quantity
  /** Of a leg of a registered group, the group. */
  readonly legOf: string | null
}

/** Throws UnreadableRow. Undefined for what a group has undone, or not settled. */
function changeOf(row: MovedRow, { vault }: Moment): Change | undefined {
  const { transaction } = openTransaction(row, vault)
  const amount = parseQuantity(transaction.amount)
  const by = row.type === 'mint' ? amount : -amount
  const isLeg = row.origin === 'client' && row.group_id !== null && hasTerms(transaction.payload)
  if (!isLeg) return { by, legOf: null }
  // A leg that was undone counts for nothing: its group may be no more, and its ID another group's.
  if (row.compensated_by !== null) return undefined
  return row.group_status === 'settled' || row.group_status === 'settling' ? { by, legOf: row.group_id } : undefined
}

function hasTerms(payload: string): boolean {
  return typeof storedObject(payload)?.['terms_hash'] === 'string'
}

function enter(sums: Sums, { origin, group_status: status }: MovedRow, { by, legOf }: Change): void {
  if (legOf !== null && status === 'settling') {
    sums.settling.set(legOf, (sums.settling.get(legOf) ?? ZERO) + by)
    return
  }
  sums.done += by
  if (origin === 'ledger') sums.issued += by
}

function newSums(): Sums {
  return { done: ZERO, issued: ZERO, underWay: ZERO, issuing: ZERO, settling: new Map(), isPartial: false }
}

function movesOf({ done, issued, underWay, issuing, settling, isPartial }: Sums): SupplyMoves {
  return {
    done: formatQuantity(done),
    issued: formatQuantity(issued),
    underWay: formatQuantity(underWay),
    issuing: formatQuantity(issuing),
    settling: [...settling].map(([groupId, sum]) => [groupId, formatQuantity(sum)]),
    isPartial,
  }
}
