/** Registered tokens, from their documents. One that its issuer has not agreed to is not there yet. */
import { tokenAddress } from '../../../actors/address.ts'
import { type TokenState, type TokenView, tokenFactsOf, tokenViewOf } from '../../../actors/token/state.ts'
import type { TokensPage } from '../../../runtime/ports/ledger-reads.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import type { Sql } from '../connection/connection.ts'
import { renameIssuers } from './erased-names.ts'
import { countingFirst, type Reading, readPage, readRows } from './reading.ts'
import { prepared } from '../connection/prepared.ts'

const TOKEN = `
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.shard_id = $1 AND a.kind = 'token' AND a.actor_id = $2`

/** A symbol is taken without regard to case, and found by exactly its own. */
export async function readToken(reading: Reading, tokenId: string): Promise<TokenView | undefined> {
  if (tokenId.includes('\0')) return undefined
  const { vault, homeOf, names } = reading
  const address = tokenAddress(tokenId)
  const home = homeOf(address)
  const select = (sql: Sql): Promise<ActorRow[]> => prepared(sql, TOKEN, [home, address.id])
  const rows = await readRows(reading, select, keyNameOfActorRow, [shardKeyName(home)])
  const tokens = rows.map((row) => stateOf('token', row, vault)).filter((token) => token.tokenId === tokenId)
  const [found] = await renameIssuers(names, tokens.flatMap(registeredViewOf))
  return found
}

function registeredViewOf(token: TokenState): readonly TokenView[] {
  return tokenFactsOf(token) === undefined ? [] : [tokenViewOf(token)]
}

export const TOKENS = `
SELECT counting.counted, page.*
  FROM ${countingFirst(`SELECT FROM actors WHERE kind = 'token' AND status <> 'preparing'`, '$1')}
  LEFT JOIN LATERAL (
    SELECT ${ACTOR_ROW_COLUMNS} FROM actors a
     WHERE a.kind = 'token' AND a.status <> 'preparing' AND a.actor_id > $1 ORDER BY a.actor_id LIMIT $2
  ) page ON true
 ORDER BY page.actor_id`

export async function readTokens(reading: Reading, after: string | null, limit: number): Promise<TokensPage> {
  const page = await readPage(reading, {
    text: TOKENS,
    parameters: [after === null ? '' : tokenAddress(after).id],
    limit,
    keyOf: keyNameOfActorRow,
    open: (row: ActorRow) => tokenViewOf(stateOf('token', row, reading.vault)),
    cursorOf: ({ tokenId }) => tokenId,
  })
  const { items = [], next = null, count = null } = page ?? {}
  return { tokens: await renameIssuers(reading.names, items), next, count }
}
