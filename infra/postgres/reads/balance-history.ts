/**
 * Balances at a time, and movements of a balance, from the entries of the account's chain.
 *   B1. Each entry that changes a balance states the balance after it. A balance at a time is that of the last such entry,
 *       so that the number of rows read does not depend on the account's history.
 *   B2. Within an account, times and sequences rise together: an index of both is in the order of the chain.
 *   B3. A movement is the difference from the entry before. It must be the amount that its entry states, or else the page
 *       is refused: the ledger signs no sum that it cannot show.
 *   B4. The last page is compared with the entry behind it, or else with the account's balance: a last entry that the
 *       indexes do not have would be missing without a trace.
 */
import { formatQuantity, ZERO } from '../../../actors/money.ts'
import type {
  BalanceAt,
  BalancesAtPage,
  ChainPlace,
  Movement,
  MovementQuery,
  MovementsPage,
} from '../../../runtime/ports/ledger-reads.ts'
import { prepared } from '../connection/prepared.ts'
import { balanceFrom } from '../rows/account-parts.ts'
import { CHAIN_ENTRY_COLUMNS, type ChainEntryRow } from '../rows/chain-entries.ts'
import { fetchKeysOfAccounts } from '../rows/erased-accounts.ts'
import { opened } from '../rows/opened-rows.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { arrivalIn, movementOf, type Stated, statedIn, viewAt, withArrival } from '../rows/stated-balance.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import type { Sql } from '../connection/connection.ts'
import type { AccountPlace } from './account-reads.ts'
import { instantOf, type Reading } from './reading.ts'

/** Behind every entry of its time. */
const LAST_SEQUENCE = 2 ** 53

/** Entries that change the balance of `asset`, an SQL expression. `rest`: conditions, order and limit. */
function placesOf(asset: string, rest: string): string {
  const ofAccount = 'WHERE shard_id = $1 AND account_id = $2'
  return `
    (SELECT processed_at, sequence FROM transactions ${ofAccount} AND token_id = ${asset}
        AND sequence IS NOT NULL AND ${rest})
     UNION ALL
    (SELECT processed_at, sequence FROM transactions ${ofAccount} AND received_token_id = ${asset}
        AND sequence IS NOT NULL AND ${rest})
     UNION ALL
    (SELECT processed_at, sequence FROM audit_entries ${ofAccount} AND token_id = ${asset} AND ${rest})`
}

/** The limit keeps the planner from joining with all entries of the account. */
const ENTRY = `SELECT ${CHAIN_ENTRY_COLUMNS.join(', ')} FROM chain_entries
     WHERE shard_id = $1 AND account_id = $2 AND sequence = found.sequence LIMIT 1`

/** B2. Up to the place ($3, $4). */
const LAST =
  '(processed_at, sequence) <= ($3::timestamptz, $4::bigint) ORDER BY processed_at DESC, sequence DESC LIMIT 1'

/**
 * The last entry of each asset, with nulls where there is none. The asset '' is the arrival of an imported account, which
 * may change many balances; its row is there if the account is. `assets`: conditions, order and limit of balances.
 */
function lastEntries(assets: string): string {
  return `
SELECT asset.token_id AS asset, entry.*
  FROM accounts account
 CROSS JOIN LATERAL (
    SELECT '' AS token_id
     UNION ALL
    (SELECT token_id FROM balances WHERE shard_id = $1 AND account_id = $2 AND ${assets})) asset
  LEFT JOIN LATERAL (
    SELECT sequence FROM (${placesOf('asset.token_id', LAST)}) places ORDER BY sequence DESC LIMIT 1) found ON true
  LEFT JOIN LATERAL (${ENTRY}) entry ON true
 WHERE account.shard_id = $1 AND account.account_id = $2
 ORDER BY asset.token_id`
}

export const BALANCES_AT = lastEntries('token_id > $5 ORDER BY token_id LIMIT $6')
export const BALANCE_AT = lastEntries('token_id = $5')

const BEHIND = '(processed_at, sequence) > ($3::timestamptz, $4::bigint)'
const IN_ORDER = 'ORDER BY processed_at, sequence LIMIT'
/** From behind the place ($3, $4) to before $6. */
const AHEAD = `${BEHIND} AND processed_at < $6::timestamptz ${IN_ORDER} $7`
const NEXT = `${BEHIND} ${IN_ORDER} 1`

/** Places of entries that may change the balance of $5: its own, and the arrival of an imported account. */
function aheadOf(rest: string): string {
  return `${placesOf('$5', rest)}
     UNION ALL
    (SELECT processed_at, sequence FROM audit_entries
      WHERE shard_id = $1 AND account_id = $2 AND token_id = '' AND ${rest})`
}

export const MOVEMENTS = `
SELECT entry.* FROM (
    SELECT sequence FROM (${aheadOf(AHEAD)}) places ORDER BY sequence LIMIT $7) found
 CROSS JOIN LATERAL (${ENTRY}) entry
 ORDER BY entry.sequence`

/** The first entry behind the place ($3, $4), with nulls where there is none, and the balance of $5. */
export const BEYOND = `
SELECT held.document AS held, entry.*
  FROM accounts account
  LEFT JOIN balances held ON held.shard_id = $1 AND held.account_id = $2 AND held.token_id = $5
  LEFT JOIN LATERAL (
    SELECT sequence FROM (${aheadOf(NEXT)}) places ORDER BY sequence LIMIT 1) found ON true
  LEFT JOIN LATERAL (${ENTRY}) entry ON true
 WHERE account.shard_id = $1 AND account.account_id = $2`

/** Gives the decimals of each token. Throws UnreadableRow. */
type DecimalsOf = (reading: Reading, tokenIds: readonly string[]) => Promise<(tokenId: string) => number>

/** undefined: there is no such account. `after`: a token ID. */
export async function readBalancesAt(
  decimalsOf: DecimalsOf,
  reading: Reading,
  accountId: string,
  atMs: number,
  after: string | null,
  limit: number,
): Promise<BalancesAtPage | undefined> {
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  const parameters = [...parametersOf(place, { atMs, sequence: LAST_SEQUENCE }), after ?? '', limit + 1]
  const rows = await reading.pool.run((sql) => lastStated({ reading, place, sql }, BALANCES_AT, parameters))
  if (rows === undefined) return undefined
  const page = rows.slice(0, limit)
  const moved = page.flatMap(({ tokenId, stated }) => (stated === null ? [] : [{ tokenId, stated }]))
  const decimals = await decimalsOf(
    reading,
    moved.map(({ tokenId }) => tokenId),
  )
  const balances = moved.map(({ tokenId, stated }) => viewAt(tokenId, stated, decimals(tokenId)))
  return { balances, next: rows.length > limit ? (page.at(-1)?.tokenId ?? null) : null }
}

/** null: nothing of the asset had moved. undefined: there is no such account. */
export async function readBalanceAt(
  decimalsOf: DecimalsOf,
  reading: Reading,
  accountId: string,
  tokenId: string,
  atMs: number,
): Promise<BalanceAt | null | undefined> {
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  const at = { atMs, sequence: LAST_SEQUENCE }
  const stated = await reading.pool.run((sql) => statedAt({ reading, place, sql }, tokenId, at))
  if (stated === undefined || stated === null) return stated
  const decimals = await decimalsOf(reading, [tokenId])
  return viewAt(tokenId, stated, decimals(tokenId))
}

/** null: the account was erased. undefined: there is no such account. Throws UnreadableRow (B3). */
export async function readMovements(
  reading: Reading,
  { accountId, tokenId, fromMs, toMs, after, limit }: MovementQuery,
): Promise<MovementsPage | null | undefined> {
  const place = reading.placeOf(accountId)
  if (place === undefined) return undefined
  return reading.pool.run(async (sql) => {
    const look = { reading, place, sql }
    const from = after ?? { atMs: fromMs ?? 0, sequence: -1 }
    const ahead = [...parametersOf(place, from), tokenId, instantOf(toMs), limit + 1]
    // Entries that are committed after this look come behind all that it found.
    const rows = await prepared<ChainEntryRow>(sql, MOVEMENTS, ahead)
    const opening = await statedAt(look, tokenId, from)
    if (opening === undefined) return undefined
    if (opening === null && (await isErased(look))) return null
    const page = rows.slice(0, limit)
    const movements: Movement[] = []
    let last = opening
    for (const row of page) {
      const next = nextStated(row, tokenId, last, reading.vault)
      if (next === null) continue
      movements.push(...movementOf(row, next, last))
      last = next
    }
    const lastRow = page.at(-1)
    const end = lastRow === undefined ? from : placeOf(lastRow)
    const isLast = rows.length <= limit
    if (isLast) await checkEnd(look, tokenId, end, last)
    return { opening: endOf(opening), movements, closing: endOf(last), next: isLast ? null : end }
  })
}

function nextStated(row: ChainEntryRow, tokenId: string, last: Stated | null, vault: RowVault): Stated | null {
  if (row.token_id === '') return withArrival(tokenId, last, arrivalIn(row, vault))
  return statedIn(row, tokenId, vault)
}

type BeyondRow = (ChainEntryRow | { readonly sequence: null }) & { readonly held: Buffer | null }

/** B4. Throws UnreadableRow. */
async function checkEnd(look: Look, tokenId: string, end: ChainPlace, last: Stated | null): Promise<void> {
  const { place, reading, sql } = look
  const { ref, shardId } = place
  const [row] = await prepared<BeyondRow>(sql, BEYOND, [...parametersOf(place, end), tokenId])
  if (row === undefined) return
  if (row.sequence !== null) {
    const next = nextStated(row, tokenId, last, reading.vault)
    if (next !== null) movementOf(row, next, last)
    return
  }
  const name = PLACES.balance(shardId, ref, tokenId)
  const { held: sealed } = row
  const held = sealed && opened(name, () => balanceFrom(reading.vault.open(accountKeyName(ref), name, sealed)))
  if ((held?.balance ?? ZERO) !== (last?.balance ?? ZERO)) {
    throw new UnreadableRow(name, 'it is not what the last entry states')
  }
}

function endOf(stated: Stated | null): MovementsPage['opening'] {
  return { balance: formatQuantity(stated?.balance ?? ZERO), sequence: stated?.sequence ?? null }
}

/** Entries that change balances have a time. */
function placeOf({ processed_at: at, sequence }: ChainEntryRow): ChainPlace {
  return { atMs: at?.getTime() ?? 0, sequence: Number(sequence) }
}

interface Look {
  readonly reading: Reading
  readonly place: AccountPlace
  readonly sql: Sql
}

/** Also fetches the account's key. Entries of an erased account cannot be opened: nothing is read of them. */
async function isErased({ reading: { vault }, place: { ref }, sql }: Look): Promise<boolean> {
  return (await fetchKeysOfAccounts(sql, [ref], vault)).has(ref)
}

type LastRow = (ChainEntryRow | { readonly sequence: null }) & { readonly asset: string }

interface LastStated {
  readonly tokenId: string
  readonly stated: Stated | null
}

/** Balances after the last entries up to a place; undefined: there is no such account. */
async function lastStated(
  look: Look,
  statement: string,
  parameters: readonly (string | number)[],
): Promise<readonly LastStated[] | undefined> {
  const { vault } = look.reading
  const [arrived, ...rows] = await prepared<LastRow>(look.sql, statement, parameters)
  if (arrived === undefined) return undefined
  if (await isErased(look)) return []
  const arrival = arrived.sequence === null ? null : arrivalIn(arrived, vault)
  return rows.map((row) => {
    const { asset: tokenId } = row
    const stated = row.sequence === null ? null : statedIn(row, tokenId, vault)
    const isLater = arrival !== null && arrival.sequence > (stated?.sequence ?? -1)
    return { tokenId, stated: isLater ? (withArrival(tokenId, stated, arrival) ?? stated) : stated }
  })
}

/** null: nothing of the asset had moved. undefined: there is no such account. */
async function statedAt(look: Look, tokenId: string, upTo: ChainPlace): Promise<Stated | null | undefined> {
  const stated = await lastStated(look, BALANCE_AT, [...parametersOf(look.place, upTo), tokenId])
  return stated && (stated[0]?.stated ?? null)
}

function parametersOf({ shardId, ref }: AccountPlace, { atMs, sequence }: ChainPlace): (string | number)[] {
  return [shardId, ref, instantOf(atMs), sequence]
}
