/**
 * An account's own row.
 *   A1. Values that every order changes are columns. One sealed digest, over the account's balances and holds, binds them: it
 *       opens only with the values of all these columns, in this version of the row.
 *   A2. Values that change seldom are a sealed text of their own, written only when they change. The row says in which version
 *       it was written, and the digest is bound to that version: an earlier text does not fit in its place.
 */
import type { AccountState } from '../../../actors/account/state.ts'
import type { AccountWrite } from '../../../runtime/ports/ledger-store.ts'
import { accountKeyName, type KeyName, shardKeyName } from '../../vault/key-name.ts'
import { openJson } from '../../vault/open-json.ts'
import { boundPlace, type Place } from '../../vault/place.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import type { Base64Text } from '../../vault/sealed-text.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { partsDigest } from './account-parts.ts'
import { PLACES, type RowSealer } from './row-sealer.ts'

/** A1. */
type Moving = Pick<
  AccountState,
  | 'status'
  | 'sequence'
  | 'tip'
  | 'completedCount'
  | 'failedCount'
  | 'nftCount'
  | 'nftRoom'
  | 'createdAtMs'
  | 'updatedAtMs'
  | 'lastTimeMs'
>

/** A2. */
type Lasting = Omit<AccountState, keyof Moving | 'kind' | 'shardId' | 'version' | 'balances' | 'holds'>

/** The account as its row has it: all but the parts that have rows of their own. */
export interface AccountDocument extends Moving, Lasting {
  /** The digest over its balances and holds, in hexadecimal digits. */
  readonly parts: string
}

/** The digest of no parts, of an erased account. */
const NO_PARTS = '00'.repeat(32)

export interface SealedAccount extends AccountWrite {
  /** A2; null where the one that is there stays. */
  readonly lasting: Base64Text | null
  readonly lastingVersion: number | null
  readonly digest: Base64Text
}

/** In which version of its row what lasts of a state was written. Of states that were read or written here. */
const lastingVersions = new WeakMap<AccountState, number>()

export function sealAccount(write: AccountWrite, { shardId, vault, made, refOf, seal }: RowSealer): SealedAccount {
  const { account, since } = write
  const { version } = account
  const isErased = account.status === 'erased'
  const ref = refOf(account.accountId)
  const name = isErased ? shardKeyName(shardId) : vault.accountKeyName(account.accountId)
  const known = since === undefined ? undefined : lastingVersions.get(since.previous)
  const stays = known !== undefined && since !== undefined && hasSameLasting(since.previous, account)
  const lastingVersion = stays ? known : version
  lastingVersions.set(account, lastingVersion)
  const parts = isErased ? NO_PARTS : partsDigest(account, vault, name, made, since)
  return {
    ...write,
    lasting: stays ? null : seal(name, PLACES.lasting(shardId, ref, version), lastingText(account)),
    lastingVersion: stays ? null : version,
    digest: vault.sealBytes(
      name,
      placeOfAccount({ shardId, ref, version, lastingVersion }, account),
      Buffer.from(parts, 'hex'),
      made,
    ),
  }
}

function hasSameLasting(before: AccountState, after: AccountState): boolean {
  return (
    before.key === after.key &&
    before.incoming === after.incoming &&
    before.paused === after.paused &&
    before.registeredBy === after.registeredBy &&
    before.arrived === after.arrived &&
    before.moved === after.moved &&
    before.issues === after.issues &&
    (before.status === 'erased') === (after.status === 'erased')
  )
}

/** Of one that was erased it does not say whose it was. */
function lastingText(account: AccountState): string {
  const { incoming, key, registeredBy, paused, arrived, moved, issues } = account
  const accountId = account.status === 'erased' ? '' : account.accountId
  // Undefined members are left out.
  const lasting: { readonly [Name in keyof Lasting]-?: Lasting[Name] } = {
    accountId,
    incoming,
    key,
    registeredBy,
    ...({ paused, arrived, moved, issues } as Required<Pick<Lasting, 'paused' | 'arrived' | 'moved' | 'issues'>>),
  }
  return JSON.stringify(lasting)
}

interface RowName {
  readonly shardId: number
  readonly ref: string
  readonly version: number
  readonly lastingVersion: number
}

function placeOfAccount({ shardId, ref, version, lastingVersion }: RowName, moving: Moving): Place {
  return boundPlace(
    PLACES.account(shardId, ref, version),
    lastingVersion,
    moving.status,
    moving.sequence,
    moving.tip,
    moving.completedCount,
    moving.failedCount,
    moving.nftCount,
    moving.nftRoom,
    moving.createdAtMs,
    moving.updatedAtMs,
    moving.lastTimeMs,
  )
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
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_time: Date
  readonly lasting_version: string
  readonly digest: Buffer
  readonly lasting: Buffer
}

/** Columns of `accounts a` that a query must select. */
export const ACCOUNT_COLUMNS = `a.shard_id, a.account_id, a.version, a.status, a.sequence, encode(a.tip, 'hex') AS tip,
       a.completed_count, a.failed_count, a.nft_count, a.nft_room, a.created_at, a.updated_at, a.last_time,
       a.lasting_version, a.digest, a.lasting`

/** The name of the data key that seals the row. */
export function keyNameOfAccountRow(row: Pick<AccountRow, 'shard_id' | 'account_id' | 'status'>): KeyName {
  return row.status === 'erased' ? shardKeyName(row.shard_id) : accountKeyName(row.account_id)
}

/** Its key must have been fetched. Of one that was erased `accountId` is empty. Throws UnreadableRow. */
export function openAccount(row: AccountRow, vault: RowVault): AccountDocument {
  const { shard_id: shardId, account_id: ref, status } = row
  const [version, lastingVersion] = [Number(row.version), Number(row.lasting_version)]
  const name = keyNameOfAccountRow(row)
  const moving: Moving = {
    status,
    sequence: Number(row.sequence),
    tip: row.tip,
    completedCount: Number(row.completed_count),
    failedCount: Number(row.failed_count),
    nftCount: row.nft_count,
    nftRoom: row.nft_room,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: row.updated_at.getTime(),
    lastTimeMs: row.last_time.getTime(),
  }
  const parts = vault.openBytes(name, placeOfAccount({ shardId, ref, version, lastingVersion }, moving), row.digest)
  const place = PLACES.lasting(shardId, ref, lastingVersion)
  const lasting = openJson<Lasting>(vault, name, place, row.lasting)
  const isOwn = status === 'erased' ? lasting.accountId === '' : vault.accountRef(lasting.accountId) === ref
  if (!isOwn) throw new UnreadableRow(place, 'it is of another account')
  return { ...lasting, ...moving, parts: parts.toString('hex') }
}

/** A2: of an account that was read whole from this row. */
export function noteLastingVersion(account: AccountState, row: AccountRow): void {
  lastingVersions.set(account, Number(row.lasting_version))
}
