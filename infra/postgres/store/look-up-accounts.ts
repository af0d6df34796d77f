/** Accounts with all that is theirs: balances and what is unfinished. */
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { type AccountState, type Hold, holdId } from '../../../actors/account/state.ts'
import { type AccountAddress, addressOf } from '../../../runtime/ports/ledger-store.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import {
  ACCOUNT_COLUMNS,
  type AccountDocument,
  type AccountRow,
  noteLastingVersion,
  openAccount,
} from '../rows/account-document.ts'
import { balanceFrom, holdRefOf, partsDigest } from '../rows/account-parts.ts'
import type { Sql } from '../connection/connection.ts'
import { accountRefs, shardIds } from './look-up-parameters.ts'
import { PLACES } from '../rows/row-sealer.ts'
import { openPending, type PendingPart, pendingPartsOf } from '../rows/pending-parts.ts'
import { prepared } from '../connection/prepared.ts'

export const ACCOUNTS_LOOK_UP = `
SELECT ${ACCOUNT_COLUMNS},
       (SELECT json_agg(json_build_array(b.token_id, encode(b.document, 'base64')))
          FROM balances b WHERE b.shard_id = a.shard_id AND b.account_id = a.account_id) AS balances,
       (SELECT json_agg(json_build_array(h.hold_id, encode(h.document, 'base64')))
          FROM holds h WHERE h.shard_id = a.shard_id AND h.account_id = a.account_id) AS holds,
       ${pendingPartsOf('a')} AS pending
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
  JOIN accounts a ON a.shard_id = i.shard_id AND a.account_id = i.account_id`

export function findAccountRows(
  sql: Sql,
  addresses: readonly AccountAddress[],
  vault: RowVault,
): Promise<readonly WholeAccountRow[]> {
  if (addresses.length === 0) return Promise.resolve([])
  const parameters = [shardIds(addresses), accountRefs(addresses, vault)]
  return prepared<WholeAccountRow>(sql, ACCOUNTS_LOOK_UP, parameters)
}

export interface WholeAccountRow extends AccountRow {
  /** Token and sealed text in base64; hold's reference and sealed text. */
  readonly balances: readonly SealedPart[] | null
  readonly holds: readonly SealedPart[] | null
  readonly pending: readonly PendingPart[] | null
}

type SealedPart = readonly [id: string, sealed: string]

/**
 * By `addressOf`. Its key must have been fetched. `askedFor`: the ID that was looked for, which the row of an account that
 * was erased does not say. Throws UnreadableRow.
 */
export function openWholeAccount(
  row: WholeAccountRow,
  vault: RowVault,
  askedFor: string,
): readonly [string, AccountState] {
  const { parts, ...document } = openAccount(row, vault)
  const { shard_id: shardId, account_id: ref } = row
  if (document.status === 'erased') return erasedAccount(row, { ...document, accountId: askedFor }, vault)
  const { accountId } = document
  const name = accountKeyName(ref)
  const balances = Balances.of(
    (row.balances ?? []).map(([tokenId, sealed]) => {
      const text = vault.open(name, PLACES.balance(shardId, ref, tokenId), Buffer.from(sealed, 'base64'))
      return [tokenId, balanceFrom(text)]
    }),
  )
  const holds = Holds.of(holdsIn(row, accountId, vault))
  // A literal that begins with a spread takes microseconds for each member that follows (V8).
  const account: AccountState = Object.assign({}, document, {
    kind: 'account' as const,
    shardId,
    version: Number(row.version),
    balances,
    holds,
  })
  noteLastingVersion(account, row)
  if (partsDigest(account, vault, name) !== parts) {
    const place = PLACES.account(shardId, ref, account.version)
    throw new UnreadableRow(place, 'its balances or holds are not those that were written with it')
  }
  return [addressOf({ shardId, accountId }), account]
}

/** Of the account in the row, whose ID is `accountId`. */
function holdsIn(
  { shard_id: shardId, account_id: ref, holds, pending }: WholeAccountRow,
  accountId: string,
  vault: RowVault,
): readonly (readonly [string, Hold])[] {
  const ofTransactions = (pending ?? []).map((part) => openPending({ shardId, ref }, part, vault))
  const others = (holds ?? []).map(([holdRef, sealed]) => {
    const place = PLACES.hold(shardId, ref, holdRef)
    const hold = openJson<Hold>(vault, accountKeyName(ref), place, Buffer.from(sealed, 'base64'))
    if (holdRefOf(vault, accountId, holdId(hold)) !== holdRef) throw new UnreadableRow(place, 'it is of another hold')
    return hold
  })
  return [...others, ...ofTransactions].map((hold) => [holdId(hold), hold])
}

/** Nothing is left of what it held. */
function erasedAccount(
  { shard_id: shardId, account_id: ref, version, balances, holds, pending }: WholeAccountRow,
  document: Omit<AccountDocument, 'parts'>,
  vault: RowVault,
): readonly [string, AccountState] {
  const { accountId } = document
  if (balances !== null || holds !== null || pending !== null || vault.accountRef(accountId) !== ref) {
    throw new UnreadableRow(
      PLACES.account(shardId, ref, Number(version)),
      'it was erased, and something of it is there',
    )
  }
  const left = { shardId, version: Number(version), balances: Balances.NONE, holds: Holds.NONE }
  const account: AccountState = { kind: 'account', ...document, ...left }
  return [addressOf({ shardId, accountId }), account]
}

/** Nothing of an account but that it is there. */
export const EXISTING_LOOK_UP = `
SELECT a.shard_id, a.account_id
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, account_id)
  JOIN accounts a ON a.shard_id = i.shard_id AND a.account_id = i.account_id`

export async function findExisting(
  sql: Sql,
  addresses: readonly AccountAddress[],
  vault: RowVault,
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set()
  const rows = await prepared<{ readonly shard_id: number; readonly account_id: string }>(sql, EXISTING_LOOK_UP, [
    shardIds(addresses),
    accountRefs(addresses, vault),
  ])
  const there = new Set(rows.map((row) => addressOf({ shardId: row.shard_id, accountId: row.account_id })))
  const isThere = ({ shardId, accountId }: AccountAddress): boolean =>
    there.has(addressOf({ shardId, accountId: vault.accountRef(accountId) }))
  return new Set(addresses.filter(isThere).map(addressOf))
}
