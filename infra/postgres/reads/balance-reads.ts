/**
 * The balances of an account, each in the decimals of its asset.
 *   B1. Balances are served together: the digest in the account's row covers all of them. So a balance that was put back,
 *       deleted or copied from elsewhere is detected.
 */
import { type AccountState, availableOf, type Balance } from '../../../actors/account/state.ts'
import { tokenAddress } from '../../../actors/address.ts'
import { BASE_DECIMALS, BASE_UNIT, formatQuantity } from '../../../actors/money.ts'
import { type BoundedCache, createBoundedCache } from '../../../runtime/common/bounded-cache.ts'
import type { BalanceView } from '../../../runtime/ports/ledger-reads.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { type AccountPlace, keyNameOf } from './account-reads.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import { keyNameOfAccountRow } from '../rows/account-document.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import { findAccountRows, openWholeAccount } from '../store/look-up-accounts.ts'
import { fetchKeys, opened } from '../rows/opened-rows.ts'
import type { QueryPool } from '../connection/query-pool.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { prepared } from '../connection/prepared.ts'

/** Undefined when there is no such account. */
export type ReadBalances = (place: AccountPlace | undefined) => Promise<readonly BalanceView[] | undefined>

/** Tokens whose decimals are kept: they never change once anything of the token moves. */
const KEPT_TOKENS = 10_000

export function createBalanceReads(pool: QueryPool, vault: RowVault): ReadBalances {
  const known = createBoundedCache<string, number>(KEPT_TOKENS)
  return async (place) => {
    if (place === undefined) return undefined
    const account = await readWholeAccount(pool, place, vault)
    if (account === undefined) return undefined
    const held = heldOf(account)
    const decimals = await decimalsOf(
      pool,
      held.map(([tokenId]) => tokenId),
      known,
      vault,
    )
    return held.map(([tokenId, balance]) => viewOf(tokenId, balance, decimals.get(tokenId)))
  }
}

/** Undefined when there is no such account. */
export async function readWholeAccount(
  pool: QueryPool,
  place: AccountPlace,
  vault: RowVault,
): Promise<AccountState | undefined> {
  const row = await pool.run(async (sql) => {
    const [[found]] = await Promise.all([
      findAccountRows(sql, [place], vault),
      fetchKeys(sql, [keyNameOf(place)], vault),
    ])
    // Of an account that came between the two looks.
    if (found !== undefined) await fetchKeys(sql, [keyNameOfAccountRow(found)], vault)
    return found
  })
  if (row === undefined) return undefined
  const at = PLACES.account(row.shard_id, row.account_id, Number(row.version))
  const [, account] = opened(at, () => openWholeAccount(row, vault, place.accountId))
  return account
}

/** By token ID, in code-unit order. Those of 1970 only keep room: nothing of the asset was ever moved here. */
function heldOf({ balances }: AccountState): readonly (readonly [tokenId: string, Balance])[] {
  return [...balances]
    .filter(([, { updatedAtMs }]) => updatedAtMs > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
}

function viewOf(tokenId: string, balance: Balance, decimals: number | undefined): BalanceView {
  if (decimals === undefined)
    throw new UnreadableRow(`actors token ${tokenId}`, 'a balance is of it, and it is not there')
  return {
    tokenId,
    tokenClass: 'fungible',
    balance: formatQuantity(balance.balance),
    available: formatQuantity(availableOf(balance)),
    incoming: formatQuantity(balance.incoming),
    decimals,
    updatedAtMs: balance.updatedAtMs,
  }
}

const TOKENS = `
SELECT ${ACTOR_ROW_COLUMNS}
  FROM unnest($1::text[]) AS i (actor_id)
  JOIN actors a ON a.kind = 'token' AND a.actor_id = i.actor_id`

/** A token is registered before anything of it moves, so that it need not be looked up at the balances' own moment. */
async function decimalsOf(
  pool: QueryPool,
  tokenIds: readonly string[],
  known: BoundedCache<string, number>,
  vault: RowVault,
): Promise<ReadonlyMap<string, number>> {
  const missing = tokenIds.filter((tokenId) => tokenId !== BASE_UNIT && known.get(tokenId) === undefined)
  const found = missing.length === 0 ? new Map<string, number>() : await findDecimals(pool, missing, vault)
  for (const [tokenId, decimals] of found) known.set(tokenId, decimals)
  const entries = tokenIds.flatMap((tokenId) => {
    const decimals = tokenId === BASE_UNIT ? BASE_DECIMALS : (found.get(tokenId) ?? known.get(tokenId))
    return decimals === undefined ? [] : [[tokenId, decimals] as const]
  })
  return new Map(entries)
}

/** By token ID: a symbol is taken whatever its case, and only its own is asked about. */
async function findDecimals(
  pool: QueryPool,
  tokenIds: readonly string[],
  vault: RowVault,
): Promise<ReadonlyMap<string, number>> {
  const ids = tokenIds.map((tokenId) => tokenAddress(tokenId).id)
  const rows = await pool.run(async (sql) => {
    const found = await prepared<ActorRow>(sql, TOKENS, [arrayLiteral('text', ids)])
    await fetchKeys(sql, found.map(keyNameOfActorRow), vault)
    return found
  })
  return new Map(rows.map((row) => stateOf('token', row, vault)).map(({ tokenId, decimals }) => [tokenId, decimals]))
}
