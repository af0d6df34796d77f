/** Walks every token: whether its supply is what was minted and not burned. Each page is one moment. */
import type { Finding } from '../../actors/audit/finding.ts'
import { type SupplyMoves, supplyProblem } from '../../actors/audit/supply-check.ts'
import { keyNameOfActorRow } from '../postgres/actor-documents.ts'
import { arrayLiteral } from '../postgres/array-literal.ts'
import type { Moment } from './audit-reads.ts'
import { opened } from './opened.ts'
import { readMoves } from './supply-moves.ts'
import { openToken, TOKEN_COLUMNS, type TokenRow } from './token-rows.ts'
import { type Look, orUnreadable, type Step, type Walk } from './walk.ts'

/** The token (its symbol in lower case) that the next page begins behind. */
export interface TokensCursor {
  readonly id: string
}

const PAGE_SIZE = 50

const TOKENS_PAGE = `
SELECT ${TOKEN_COLUMNS} FROM actors
 WHERE kind = 'token' AND status <> 'preparing' AND actor_id > $1::text ORDER BY actor_id LIMIT ${PAGE_SIZE}`

const TOKENS_NAMED = `
SELECT ${TOKEN_COLUMNS} FROM actors
 WHERE kind = 'token' AND status <> 'preparing' AND actor_id = ANY($1::text[])`

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

function judged(look: Look, tokens: string, parameter: string): Promise<Judged> {
  return look.moment(async (moment) => {
    const rows = await moment.query<TokenRow>(tokens, [parameter])
    return { rows, findings: await judge(moment, rows) }
  })
}

function found(place: string, problem: string): Finding {
  return { subject: 'supply_reconciles', place, problem }
}

async function judge(moment: Moment, rows: readonly TokenRow[]): Promise<readonly Finding[]> {
  if (rows.length === 0) return []
  await moment.fetchKeys(rows.map(keyNameOfActorRow))
  const tokens = rows.map((row) => ({ row, token: opened(() => openToken(row, moment.vault)) }))
  const { moves, unread } = await readMoves(
    moment,
    tokens.flatMap(({ token }) => (token.isOpen ? [token.value.tokenId] : [])),
  )
  return [
    ...tokens.flatMap(({ row, token }) => {
      const problem = token.isOpen
        ? orUnreadable(() => supplyProblem(token.value, moves.get(token.value.tokenId) ?? NO_MOVES), UNREADABLE)
        : token.problem
      return problem === undefined ? [] : [found(`token ${row.actor_id}`, problem)]
    }),
    ...unread.map(([place, problem]) => found(place, problem)),
  ]
}

const UNREADABLE = 'it cannot be read'
const NO_MOVES: SupplyMoves = { done: '0', issued: '0', underWay: '0', issuing: '0', settling: [] }
