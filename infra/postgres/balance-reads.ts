/** What an account holds, each asset in its own decimals. */
import { BASE_DECIMALS, BASE_UNIT, formatQuantity, parseQuantity } from '../../actors/money.ts'
import type { BalanceView } from '../../runtime/ports/ledger-reads.ts'
import type { QueryPool } from './query-pool.ts'
import { UnreadableRow } from './transaction-rows.ts'

/** Where an account is found. */
export interface AccountPlace {
  readonly shardId: number
  readonly accountId: string
}

interface BalanceRow {
  readonly token_id: string | null
  readonly balance: string
  readonly available: string
  readonly incoming: string
  readonly updated_at: Date
  /** As the token's document says; null of the base unit, which has none. */
  readonly decimals: string | null
}

/** Undefined when there is no such account. Rows of 1970 only keep room: nothing of the asset was ever moved here. */
export async function readBalances(
  pool: QueryPool,
  place: AccountPlace | undefined,
): Promise<readonly BalanceView[] | undefined> {
  if (place === undefined) return undefined
  const rows = await pool.run(
    (sql) => sql<BalanceRow[]>`
      SELECT held.token_id, held.balance, held.balance - held.reserved AS available, held.incoming, held.updated_at,
        (SELECT document::json ->> 'decimals' FROM actors
         WHERE kind = 'token' AND actor_id = lower(held.token_id) LIMIT 1) AS decimals
      FROM accounts LEFT JOIN balances held
        ON held.shard_id = accounts.shard_id AND held.account_id = accounts.account_id AND held.updated_at > 'epoch'
      WHERE accounts.shard_id = ${place.shardId} AND accounts.account_id = ${place.accountId}
      ORDER BY held.token_id`,
  )
  return rows.length === 0 ? undefined : rows.flatMap(balanceViewsOf)
}

/** An account without any has one row that names none. */
function balanceViewsOf(row: BalanceRow): readonly BalanceView[] {
  if (row.token_id === null) return []
  return [
    {
      tokenId: row.token_id,
      tokenClass: 'fungible',
      balance: minimal(row.balance),
      available: minimal(row.available),
      incoming: minimal(row.incoming),
      decimals: decimalsOf(row.token_id, row.decimals),
      updatedAtMs: row.updated_at.getTime(),
    },
  ]
}

/** A token is registered before anything of it moves. */
function decimalsOf(tokenId: string, decimals: string | null): number {
  if (tokenId === BASE_UNIT) return BASE_DECIMALS
  if (decimals === null) throw new UnreadableRow('A balance is of a token that is not registered.')
  return Number(decimals)
}

/** numeric(36, 18) shows all its decimals. */
function minimal(quantity: string): string {
  return formatQuantity(parseQuantity(quantity))
}
