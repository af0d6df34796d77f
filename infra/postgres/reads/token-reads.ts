/** Registered tokens, from their documents. One that its issuer has not agreed to is not there yet. */
import { type ActorAddress, tokenAddress } from '../../../actors/address.ts'
import { type TokenState, type TokenView, tokenFactsOf, tokenViewOf } from '../../../actors/token/state.ts'
import type { TokensPage } from '../../../runtime/ports/ledger-reads.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import { type Counted, countingFirst, countOf } from './list-count.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import type { QueryPool } from '../connection/query-pool.ts'
import { prepared } from '../connection/prepared.ts'

const TOKEN = `
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.shard_id = $1 AND a.kind = 'token' AND a.actor_id = $2`

/** A symbol is taken without regard to case, and found by exactly its own. */
export async function readToken(
  pool: QueryPool,
  tokenId: string,
  homeOf: (actor: ActorAddress) => number,
  vault: RowVault,
): Promise<TokenView | undefined> {
  if (tokenId.includes('\0')) return undefined
  const address = tokenAddress(tokenId)
  const home = homeOf(address)
  const row = await pool.run(async (sql) => {
    const [[found]] = await Promise.all([
      prepared<ActorRow>(sql, TOKEN, [home, address.id]),
      fetchKeys(sql, [shardKeyName(home)], vault),
    ])
    return found
  })
  const token = row === undefined ? undefined : stateOf('token', row, vault)
  return token?.tokenId === tokenId ? registeredViewOf(token) : undefined
}

function registeredViewOf(token: TokenState): TokenView | undefined {
  return tokenFactsOf(token) === undefined ? undefined : tokenViewOf(token)
}

export const TOKENS = `
SELECT counting.counted, page.*
  FROM ${countingFirst(`SELECT FROM actors WHERE kind = 'token' AND status <> 'preparing'`, '$1')}
  LEFT JOIN LATERAL (
    SELECT ${ACTOR_ROW_COLUMNS} FROM actors a
     WHERE a.kind = 'token' AND a.status <> 'preparing' AND a.actor_id > $1 ORDER BY a.actor_id LIMIT $2
  ) page ON true
 ORDER BY page.actor_id`

/** One row at least, also for an empty page: then `kind` is null. */
type TokensRow = (ActorRow | { readonly kind: null }) & Counted

export async function readTokens(
  pool: QueryPool,
  after: string | null,
  limit: number,
  vault: RowVault,
): Promise<TokensPage> {
  const from = after === null ? '' : tokenAddress(after).id
  const { rows, found } = await pool.run(async (sql) => {
    const rows = await prepared<TokensRow>(sql, TOKENS, [from, limit + 1])
    const found = rows.flatMap((row) => (row.kind === null ? [] : [row]))
    await fetchKeys(sql, found.map(keyNameOfActorRow), vault)
    return { rows, found }
  })
  const tokens = found.slice(0, limit).map((row) => tokenViewOf(stateOf('token', row, vault)))
  return {
    tokens,
    next: found.length > limit ? (tokens.at(-1)?.tokenId ?? null) : null,
    count: countOf(rows[0]),
  }
}
