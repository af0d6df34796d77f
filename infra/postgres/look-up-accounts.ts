/** Accounts with all that is theirs: balances and what is unfinished. */
import type { AccountKey, AccountState, Balance, Hold } from '../../actors/account/state.ts'
import { parseQuantity } from '../../actors/money.ts'
import { type AccountAddress, addressOf } from '../../runtime/ports/ledger-store.ts'
import type { Sql } from './connection.ts'
import { accountIds, shardIds } from './look-up-parameters.ts'

export const ACCOUNTS_LOOK_UP = `
SELECT a.shard_id, a.account_id, a.version, a.status, a.incoming, a.key_id, a.public_key, a.sequence,
       encode(a.tip, 'hex') AS tip, a.completed_count, a.failed_count, a.nft_count, a.nft_room,
       a.registered_by, a.created_at, a.updated_at, a.last_time,
       (SELECT json_agg(json_build_array(b.token_id, b.balance::text, b.reserved::text, b.incoming::text, b.room::text,
                                          b.updated_at))
          FROM balances b WHERE b.shard_id = a.shard_id AND b.account_id = a.account_id) AS balances,
       (SELECT json_agg(json_build_array(h.hold_id, h.document::json))
          FROM holds h WHERE h.shard_id = a.shard_id AND h.account_id = a.account_id) AS holds
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
  JOIN accounts a ON a.shard_id = i.shard_id AND a.account_id = i.account_id`

export async function findAccounts(sql: Sql, addresses: readonly AccountAddress[]): Promise<Map<string, AccountState>> {
  if (addresses.length === 0) return new Map()
  const rows = await sql.unsafe<AccountRow[]>(ACCOUNTS_LOOK_UP, [shardIds(addresses), accountIds(addresses)], {
    prepare: true,
  })
  return new Map(
    rows.map((row) => [addressOf({ shardId: row.shard_id, accountId: row.account_id }), accountOf(row)] as const),
  )
}

/** `bigint` arrives as text; sequences and counts stay far below 2^53. */
interface AccountRow {
  readonly shard_id: number
  readonly account_id: string
  readonly version: string
  readonly status: AccountState['status']
  readonly incoming: AccountState['incoming']
  readonly key_id: string | null
  readonly public_key: string | null
  readonly sequence: string
  readonly tip: string
  readonly completed_count: string
  readonly failed_count: string
  readonly nft_count: number
  readonly nft_room: number
  readonly registered_by: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_time: Date
  readonly balances: readonly BalanceRow[] | null
  readonly holds: readonly (readonly [string, Hold])[] | null
}

/** Token, balance, reserved, incoming, room, time of the last change: quantities as text, since JSON numbers are doubles. */
type BalanceRow = readonly [string, string, string, string, string, string]

function accountOf(row: AccountRow): AccountState {
  return {
    accountId: row.account_id,
    shardId: row.shard_id,
    status: row.status,
    incoming: row.incoming,
    key: keyOf(row.key_id, row.public_key),
    version: Number(row.version),
    sequence: Number(row.sequence),
    tip: row.tip,
    balances: new Map((row.balances ?? []).map((balance) => [balance[0], balanceOf(balance)])),
    holds: new Map(row.holds ?? []),
    nftCount: row.nft_count,
    nftRoom: row.nft_room,
    completedCount: Number(row.completed_count),
    failedCount: Number(row.failed_count),
    registeredBy: row.registered_by,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    lastTimeMs: row.last_time.getTime(),
  }
}

function keyOf(keyId: string | null, publicKey: string | null): AccountKey | null {
  return keyId === null || publicKey === null ? null : { keyId, publicKey }
}

function balanceOf([, balance, reserved, incoming, room, updatedAt]: BalanceRow): Balance {
  return {
    balance: parseQuantity(balance),
    reserved: parseQuantity(reserved),
    incoming: parseQuantity(incoming),
    room: parseQuantity(room),
    updatedAtMs: Date.parse(updatedAt),
  }
}

/** Nothing of an account but that it is there. */
export const EXISTING_LOOK_UP = `
SELECT a.shard_id, a.account_id
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
  JOIN accounts a ON a.shard_id = i.shard_id AND a.account_id = i.account_id`

export async function findExisting(sql: Sql, addresses: readonly AccountAddress[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set()
  const rows = await sql.unsafe<{ readonly shard_id: number; readonly account_id: string }[]>(
    EXISTING_LOOK_UP,
    [shardIds(addresses), accountIds(addresses)],
    { prepare: true },
  )
  return new Set(rows.map((row) => addressOf({ shardId: row.shard_id, accountId: row.account_id })))
}
