/**
 * Checks the supply of every token against its mints and burns.
 *   K1. A page is checked in one snapshot. Whether a leg counts depends on its group (S2 of supply-check.ts), and the token
 *       changes together with the group. Sums over several snapshots would therefore be wrong.
 *   K2. The tokens of a page have at most MOMENT_MOVES mints and burns together. A token with more has its own page, and the
 *       longer time limit of `wholeMoment`.
 *   K3. A token that exceeds this limit, too, is a finding, because it is not verified. It does not end the walk.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import { supplyProblem } from '../../runtime/audit/supply-check.ts'
import { keyNameOfActorRow } from '../postgres/rows/actor-documents.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { type AuditReads, type Moment, MomentTooLong } from './audit-reads.ts'
import { opened } from './opened.ts'
import { countMoves, newSums, readMoves } from './supply-moves.ts'
import { openToken, TOKEN_COLUMNS, type TokenRow } from './value-outside-accounts.ts'
import { type Look, orUnreadable, SAW_NOTHING, type Step, type Walk } from './walk.ts'

/** The next page begins after this token: its symbol in lower case. */
export interface TokensCursor {
  readonly id: string
}

const PAGE_SIZE = 50

/** K2. A busy processor decrypts a few thousand rows a second. */
export const MOMENT_MOVES = 20_000

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
  const rows = await look.query<TokenRow>(TOKENS_PAGE, [id])
  const [page] = await paged(look, rows)
  const last = page?.ids.at(-1)
  if (page === undefined || last === undefined) return { ...SAW_NOTHING, next: null }
  const isEnd = rows.length < PAGE_SIZE && page.ids.length === rows.length
  const { judged, findings } = await judgedPage(look, page)
  return { next: isEnd ? null : { id: last }, checked: { supply_reconciles: judged }, findings }
}

/** `ids`: symbols in lower case; unknown ones are skipped. */
export async function checkTokens(look: Look, ids: readonly string[]): Promise<readonly Finding[]> {
  if (ids.length === 0) return []
  const findings: Finding[] = []
  const rows = await look.query<TokenRow>(TOKENS_NAMED, [arrayLiteral('text', ids)])
  for (const page of await paged(look, rows)) findings.push(...(await judgedPage(look, page)).findings)
  return findings
}

interface Page {
  readonly ids: readonly string[]
  readonly moves: number
}

/** K2. */
async function paged({ query, fetchKeys, vault }: Look, rows: readonly TokenRow[]): Promise<readonly Page[]> {
  await fetchKeys(rows.map(keyNameOfActorRow))
  const tokens = rows.map((row) => ({ id: row.actor_id, token: opened(() => openToken(row, vault)) }))
  const counts = await countMoves(
    query,
    tokens.flatMap(({ token }) => (token.isOpen ? [token.value.tokenId] : [])),
    MOMENT_MOVES + 1,
  )
  const pages: Page[] = []
  for (const { id, token } of tokens) {
    const moves = (token.isOpen && counts.get(token.value.tokenId)) || 0
    const before = pages.at(-1)
    if (before === undefined || before.moves + moves > MOMENT_MOVES) pages.push({ ids: [id], moves })
    else pages.splice(-1, 1, { ids: [...before.ids, id], moves: before.moves + moves })
  }
  return pages
}

interface Judged {
  readonly judged: number
  readonly findings: readonly Finding[]
}

/** K1, K3. */
async function judgedPage(look: Look, { ids, moves }: Page): Promise<Judged> {
  const work = async (moment: Moment): Promise<Judged> => {
    const rows = await moment.query<TokenRow>(TOKENS_NAMED, [arrayLiteral('text', ids)])
    return { judged: rows.length, findings: await judge(moment, rows) }
  }
  const inTime = async (take: AuditReads['moment']): Promise<Judged | undefined> => {
    try {
      return await take(work)
    } catch (error) {
      if (error instanceof MomentTooLong) return undefined
      throw error
    }
  }
  const soon = moves > MOMENT_MOVES ? undefined : await inTime(look.moment)
  const done = soon ?? (await inTime(look.wholeMoment))
  return done ?? { judged: 0, findings: ids.map((id) => found(`token ${id}`, 'it takes too long to add up')) }
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
        ? orUnreadable(() => supplyProblem(token.value, moves.get(token.value.tokenId) ?? newSums()), UNREADABLE)
        : token.problem
      return problem === undefined ? [] : [found(`token ${row.actor_id}`, problem)]
    }),
    ...unread.map(([place, problem]) => found(place, problem)),
  ]
}

const UNREADABLE = 'it cannot be read'
