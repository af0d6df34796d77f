/** An account's own row: what its sealed document says, and that the columns beside it say the same. */
import type { AccountKey, AccountState } from '../../actors/account/state.ts'
import { accountKeyName, type KeyName, shardKeyName } from '../vault/key-name.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { openJson } from '../vault/open-json.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { PLACES } from './row-sealer.ts'

/** What has rows or columns of its own, and what all accounts have in common. */
type Apart = 'balances' | 'holds' | 'shardId' | 'version' | 'kind'

/** Without what has rows of its own, and with what binds it to them. */
export type AccountDocument = Omit<AccountState, Apart> & {
  /** `partsDigest`. */
  readonly parts: string
}

export function accountText(account: AccountState, parts: string): string {
  // What is undefined is left out of the text. As a rest and a spread it would take four times as long (V8).
  const apart: Record<Apart, undefined> = {
    balances: undefined,
    holds: undefined,
    shardId: undefined,
    version: undefined,
    kind: undefined,
  }
  return JSON.stringify(Object.assign({}, account, apart, { parts }) satisfies AccountDocument)
}

/** Of one that is erased, under the key of its shard: it does not say whose it was. */
export function erasedText(account: AccountState): string {
  return accountText({ ...account, accountId: '' }, '')
}

/** `bigint` arrives as text; sequences and counts stay far below 2^53. */
export interface AccountRow {
  readonly shard_id: number
  /** The reference. */
  readonly account_id: string
  readonly version: string
  readonly status: AccountState['status']
  readonly sequence: string
  /** Hexadecimal digits. */
  readonly tip: string
  readonly completed_count: string
  readonly failed_count: string
  readonly nft_count: number
  readonly nft_room: number
  readonly document: Buffer
}

/** What a query must select of `accounts a` to read it. */
export const ACCOUNT_COLUMNS = `a.shard_id, a.account_id, a.version, a.status, a.sequence, encode(a.tip, 'hex') AS tip,
       a.completed_count, a.failed_count, a.nft_count, a.nft_room, a.document`

/** Whose key the row is under. */
export function keyNameOfAccountRow(row: Pick<AccountRow, 'shard_id' | 'account_id' | 'status'>): KeyName {
  return row.status === 'erased' ? shardKeyName(row.shard_id) : accountKeyName(row.account_id)
}

/** Its key must have been fetched. Of one that was erased `accountId` is empty. Throws UnreadableRow. */
export function openAccount(row: AccountRow, vault: RowVault): AccountDocument {
  const ref = row.account_id
  const place = PLACES.account(row.shard_id, ref, Number(row.version))
  const document = openJson<AccountDocument>(vault, keyNameOfAccountRow(row), place, row.document)
  const agrees =
    (document.status === 'erased' ? document.accountId === '' : vault.accountRef(document.accountId) === ref) &&
    document.status === row.status &&
    document.sequence === Number(row.sequence) &&
    document.tip === row.tip &&
    document.completedCount === Number(row.completed_count) &&
    document.failedCount === Number(row.failed_count) &&
    document.nftCount === row.nft_count &&
    document.nftRoom === row.nft_room
  if (!agrees) throw new UnreadableRow(place, 'its columns are not what was sealed')
  return document
}

export function keyText({ keyId, publicKey }: AccountKey): string {
  return JSON.stringify({ keyId, publicKey })
}

export function keyFrom(text: string): AccountKey {
  return JSON.parse(text) as AccountKey
}
