/** Walks every token: whether its supply is what was minted and not burned. Each page is one moment. */
import type { Finding } from '../../actors/audit/finding.ts'
import { type SupplyMoves, supplyProblem } from '../../actors/audit/supply-check.ts'
import type { TokenState } from '../../actors/token/state.ts'
import { tokenStateOf } from '../postgres/actor-documents.ts'
import { arrayLiteral } from '../postgres/array-literal.ts'
import { isUnreadable, type Query } from './audit-reads.ts'
import { UNDELIVERED } from './in-transit.ts'
import { type Look, orUnreadable, type Step, type Walk } from './walk.ts'

/** The token (its symbol in lower case) that the next page begins behind. */
export interface TokensCursor {
  readonly id: string
}

const PAGE_SIZE = 50

const TOKENS_PAGE = `
SELECT actor_id, document FROM actors
 WHERE kind = 'token' AND status <> 'preparing' AND actor_id > $1::text ORDER BY actor_id LIMIT ${PAGE_SIZE}`

const TOKENS_NAMED = `
SELECT actor_id, document FROM actors
 WHERE kind = 'token' AND status <> 'preparing' AND actor_id = ANY($1::text[])`

/**
 * What mints and burns of the tokens $1 have completed. `settling`: of a leg whose group settles, its group. A leg that was
 * undone counts for nothing: its group may be no more, and its ID another group's.
 */
const MOVED = `
WITH moved AS (
  SELECT t.token_id, t.origin, t.compensated_by, CASE WHEN t.type = 'mint' THEN t.quantity ELSE -t.quantity END AS moved,
         CASE WHEN t.origin = 'client' AND t.group_id IS NOT NULL AND t.payload::json ->> 'terms_hash' IS NOT NULL
              THEN t.group_id::text END AS leg_of
    FROM transactions t
   WHERE t.type IN ('mint', 'burn') AND t.token_id = ANY($1::text[]) AND t.status = 'completed'),
grouped AS (
  SELECT moved.*, CASE WHEN leg_of IS NULL THEN 'settled' ELSE g.status END AS state
    FROM moved LEFT JOIN actors g ON g.kind = 'group' AND g.actor_id = moved.leg_of)
SELECT token_id, CASE WHEN state = 'settling' THEN leg_of END AS settling, sum(moved)::text AS moved,
       coalesce(sum(moved) FILTER (WHERE origin = 'ledger'), 0)::text AS issued
  FROM grouped
 WHERE state IN ('settled', 'settling') AND (leg_of IS NULL OR compensated_by IS NULL)
 GROUP BY 1, 2`

interface MovedRow {
  readonly token_id: string
  readonly settling: string | null
  readonly moved: string
  readonly issued: string
}

/** What tokens have decided and accounts have not heard of. */
const UNDER_WAY = `
SELECT c.item ->> 0 AS token_id, sum((c.item ->> 1)::numeric)::text AS moved,
       coalesce(sum((c.item ->> 1)::numeric)
         FILTER (WHERE o.message::json -> 'message' ->> 'type' = 'credit_issue'), 0)::text AS issuing
  FROM (${UNDELIVERED}) o
 CROSS JOIN LATERAL json_array_elements(o.carries::json) AS c (item)
 WHERE o.carries IS NOT NULL AND o.message::json -> 'message' ->> 'type' IN ('conclude_supply', 'credit_issue')
 GROUP BY 1`

interface UnderWayRow {
  readonly token_id: string
  readonly moved: string
  readonly issuing: string
}

interface TokenRow {
  readonly actor_id: string
  readonly document: string
}

export const tokensWalk: Walk<TokensCursor> = {
  name: 'tokens',
  subjects: ['supply_reconciles'],
  start: { id: '' },
  step,
}

async function step(look: Look, { id }: TokensCursor): Promise<Step<TokensCursor>> {
  const { rows, findings } = await judged(look, TOKENS_PAGE, id)
  const last = rows.at(-1)
  const next = last === undefined || rows.length < PAGE_SIZE ? null : { id: last.actor_id }
  return { next, checked: { supply_reconciles: rows.length }, findings, pending: [] }
}

/** `ids`: symbols in lower case, of which some may be no tokens. */
export async function checkTokens(look: Look, ids: readonly string[]): Promise<readonly Finding[]> {
  return ids.length === 0 ? [] : (await judged(look, TOKENS_NAMED, arrayLiteral('text', ids))).findings
}

interface Judged {
  readonly rows: readonly TokenRow[]
  readonly findings: readonly Finding[]
}

async function judged(look: Look, tokens: string, parameter: string): Promise<Judged> {
  try {
    return await look.moment(async (query) => {
      const rows = await query<TokenRow>(tokens, [parameter])
      return { rows, findings: await judge(query, rows) }
    })
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const rows = await look.query<TokenRow>(tokens, [parameter])
    return { rows, findings: rows.map((row) => found(row, 'what moved it cannot be read')) }
  }
}

function found({ actor_id: id }: TokenRow, problem: string): Finding {
  return { subject: 'supply_reconciles', place: `token ${id}`, problem }
}

async function judge(query: Query, rows: readonly TokenRow[]): Promise<readonly Finding[]> {
  const tokens = rows.map((row) => ({ row, token: orUnreadable(() => tokenStateOf(row.document), undefined) }))
  const moves = await readMoves(
    query,
    tokens.flatMap(({ token }) => (token === undefined ? [] : [token.tokenId])),
  )
  return tokens.flatMap(({ row, token }) => {
    const problem = token === undefined ? 'it cannot be read' : problemOf(token, moves)
    return problem === undefined ? [] : [found(row, problem)]
  })
}

function problemOf(token: TokenState, moves: ReadonlyMap<string, SupplyMoves>): string | undefined {
  return orUnreadable(() => supplyProblem(token, moves.get(token.tokenId) ?? NO_MOVES), 'it cannot be read')
}

const NO_MOVES: SupplyMoves = { done: '0', issued: '0', underWay: '0', issuing: '0', settling: [] }

/** By token. */
async function readMoves(query: Query, tokenIds: readonly string[]): Promise<ReadonlyMap<string, SupplyMoves>> {
  const moves = new Map<string, SupplyMoves>()
  const change = (tokenId: string, changes: Partial<SupplyMoves>): void => {
    moves.set(tokenId, { ...NO_MOVES, ...moves.get(tokenId), ...changes })
  }
  for (const row of await query<MovedRow>(MOVED, [arrayLiteral('text', tokenIds)])) {
    const { token_id: tokenId, settling, moved, issued } = row
    if (settling === null) change(tokenId, { done: moved, issued })
    else change(tokenId, { settling: [...(moves.get(tokenId)?.settling ?? []), [settling, moved]] })
  }
  for (const { token_id: tokenId, moved, issuing } of await query<UnderWayRow>(UNDER_WAY)) {
    change(tokenId, { underWay: moved, issuing })
  }
  return moves
}
