/**
 * The balances of an account, each in the decimals of its asset.
 *   B1. Balances are served together: the digest in the account's row covers all of them. So a balance that was put back,
 *       deleted or copied from elsewhere is detected.
 */
import { expectationsOf } from '../../../actors/account/legs.ts'
import { type AccountState, availableOf, type Balance, type LegHold } from '../../../actors/account/state.ts'
import { tokenAddress } from '../../../actors/address.ts'
import { BASE_DECIMALS, BASE_UNIT, formatQuantity } from '../../../actors/money.ts'
import { type BoundedCache, createBoundedCache } from '../../../runtime/common/bounded-cache.ts'
import type { BalanceView } from '../../../runtime/ports/ledger-reads.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { keyNameOf } from './account-reads.ts'
import { readBalanceAt, readBalancesAt } from './balance-history.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import { keyNameOfAccountRow } from '../rows/account-document.ts'
import { arrayLiteral } from '../connection/array-literal.ts'
import { findAccountRows, openWholeAccount, type WholeAccountRow } from '../store/look-up-accounts.ts'
import { opened } from '../rows/opened-rows.ts'
import type { Sql } from '../connection/connection.ts'
import { type Reading, readRows } from './reading.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { prepared } from '../connection/prepared.ts'

/** Tokens whose decimals are kept: they never change once anything of the token moves. */
const KEPT_TOKENS = 10_000

/** Reads of balances, now and at a time, which share what is known of tokens. */
export function createBalanceReads() {
  const known = createBoundedCache<string, number>(KEPT_TOKENS)
  const decimals = (reading: Reading, tokenIds: readonly string[]) => decimalsOf(reading, tokenIds, known)
  return {
    /** Undefined when there is no such account. */
    balances: async (reading: Reading, accountId: string): Promise<readonly BalanceView[] | undefined> => {
      const account = await readWholeAccount(reading, accountId)
      if (account === undefined) return undefined
      const held = heldOf(account)
      const decimalsOfToken = await decimals(
        reading,
        held.map(([tokenId]) => tokenId),
      )
      return held.map(([tokenId, balance]) => viewOf(tokenId, balance, decimalsOfToken(tokenId)))
    },
    balancesAt: readBalancesAt.bind(null, decimals),
    balanceAt: readBalanceAt.bind(null, decimals),
  }
}

async function readWholeAccount(reading: Reading, accountId: string): Promise<AccountState | undefined> {
  const { vault } = reading
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  const select = (sql: Sql): Promise<readonly WholeAccountRow[]> => findAccountRows(sql, [place], vault)
  const [row] = await readRows(reading, select, keyNameOfAccountRow, [keyNameOf(place)])
  if (row === undefined) return undefined
  const at = PLACES.account(row.shard_id, row.account_id, Number(row.version))
  const [, account] = opened(at, () => openWholeAccount(row, vault, accountId))
  return account
}

export async function readExpectations(reading: Reading, accountId: string): Promise<readonly LegHold[] | undefined> {
  const account = await readWholeAccount(reading, accountId)
  return account && expectationsOf(account)
}

/** By token ID, in code-unit order. Those of 1970 only keep room: nothing of the asset was ever moved here. */
function heldOf({ balances }: AccountState): readonly (readonly [tokenId: string, Balance])[] {
  return [...balances]
    .filter(([, { updatedAtMs }]) => updatedAtMs > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
}

function viewOf(tokenId: string, balance: Balance, decimals: number): BalanceView {
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
  reading: Reading,
  tokenIds: readonly string[],
  known: BoundedCache<string, number>,
): Promise<(tokenId: string) => number> {
  const missing = tokenIds.filter((tokenId) => tokenId !== BASE_UNIT && known.get(tokenId) === undefined)
  const found = missing.length === 0 ? new Map<string, number>() : await findDecimals(reading, missing)
  for (const [tokenId, decimals] of found) known.set(tokenId, decimals)
  return (tokenId) => {
    const decimals = tokenId === BASE_UNIT ? BASE_DECIMALS : (found.get(tokenId) ?? known.get(tokenId))
    if (decimals !== undefined) return decimals
    throw new UnreadableRow(`actors token ${tokenId}`, 'a balance is of it, and it is not there')
  }
}

/** By token ID. */
async function findDecimals(reading: Reading, tokenIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ids = tokenIds.map((tokenId) => tokenAddress(tokenId).id)
  const select = (sql: Sql): Promise<ActorRow[]> => prepared(sql, TOKENS, [arrayLiteral('text', ids)])
  const tokens = (await readRows(reading, select, keyNameOfActorRow)).map((row) => stateOf('token', row, reading.vault))
  return new Map(tokens.map(({ tokenId, decimals }) => [tokenId, decimals]))
}
