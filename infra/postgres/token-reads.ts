/** Registered tokens, from their documents. One that its issuer has not agreed to is not there yet. */
import { type ActorAddress, tokenAddress } from '../../actors/address.ts'
import { type TokenState, type TokenView, tokenFactsOf, tokenViewOf } from '../../actors/token/state.ts'
import type { TokensPage } from '../../runtime/ports/ledger-reads.ts'
import { tokenStateOf } from './actor-documents.ts'
import type { QueryPool } from './query-pool.ts'

/** A symbol is taken without regard to case, and found by exactly its own. */
export async function readToken(
  pool: QueryPool,
  tokenId: string,
  homeOf: (actor: ActorAddress) => number,
): Promise<TokenView | undefined> {
  if (tokenId.includes('\0')) return undefined
  const address = tokenAddress(tokenId)
  const [row] = await pool.run(
    (sql) => sql<{ readonly document: string }[]>`
      SELECT document FROM actors WHERE shard_id = ${homeOf(address)} AND kind = 'token' AND actor_id = ${address.id}`,
  )
  const token = row === undefined ? undefined : tokenStateOf(row.document)
  return token?.tokenId === tokenId ? registeredViewOf(token) : undefined
}

function registeredViewOf(token: TokenState): TokenView | undefined {
  return tokenFactsOf(token) === undefined ? undefined : tokenViewOf(token)
}

interface TokenRow {
  readonly total: string
  /** null in the one row of an empty page. */
  readonly document: string | null
}

export async function readTokens(pool: QueryPool, after: string | null, limit: number): Promise<TokensPage> {
  const from = after === null ? '' : tokenAddress(after).id
  const rows = await pool.run(
    (sql) => sql<TokenRow[]>`
      SELECT counting.total, page.document
      FROM (SELECT count(*) AS total FROM actors WHERE kind = 'token' AND status <> 'preparing') counting
      LEFT JOIN LATERAL (
        SELECT actor_id, document FROM actors WHERE kind = 'token' AND status <> 'preparing' AND actor_id > ${from}
        ORDER BY actor_id LIMIT ${limit + 1}
      ) page ON true
      ORDER BY page.actor_id`,
  )
  const found = rows.flatMap(({ document }) => (document === null ? [] : [tokenViewOf(tokenStateOf(document))]))
  const tokens = found.slice(0, limit)
  return {
    tokens,
    next: found.length > limit ? (tokens.at(-1)?.tokenId ?? null) : null,
    total: Number(rows[0]?.total ?? 0),
  }
}
