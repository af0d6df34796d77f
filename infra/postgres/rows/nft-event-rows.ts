/** Rows of `nft_events` as the domain knows them: who it went from and to is told by what is sealed, not by the columns. */
import type { NftEvent } from '../../../actors/nft-instance/state.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { opened } from './opened-rows.ts'
import { nftKeyName, PLACES } from './row-sealer.ts'

export interface NftEventRow {
  readonly shard_id: number
  readonly nft_id: string
  readonly number: number
  readonly type: string
  /** References; null: a mint has no previous owner. */
  readonly from_account_id: string | null
  readonly to_account_id: string
  readonly txn_id: string
  readonly occurred_at: Date
  readonly previous_hash: Buffer
  readonly event_hash: Buffer
  readonly payload: Buffer
}

/** Of `nft_events e`. */
export const NFT_EVENT_COLUMNS = `e.shard_id, e.nft_id, e.number, e.type, e.from_account_id, e.to_account_id, e.txn_id,
       e.occurred_at, e.previous_hash, e.event_hash, e.payload`

/** The members of an entry that its row repeats. */
interface Entry {
  readonly number: number
  readonly type: NftEvent['type']
  readonly from: string | null
  readonly to: string
  readonly txn_id: string
}

/** The key of its class must have been fetched. Throws UnreadableRow. */
export function openNftEvent(row: NftEventRow, vault: RowVault): NftEvent {
  const { shard_id: shardId, nft_id: nftId, number } = row
  const place = PLACES.nftEvent(shardId, nftId, number)
  const payload = vault.open(nftKeyName(nftId, shardId), place, row.payload)
  const entry = opened(place, () => JSON.parse(payload) as Entry)
  const { type, from, to, txn_id: txnId } = entry
  if (!opened(place, () => agrees(row, entry, vault))) {
    throw new UnreadableRow(place, 'its columns are not what was sealed')
  }
  return {
    number,
    type,
    from,
    to,
    txnId,
    atMs: row.occurred_at.getTime(),
    previousHash: row.previous_hash.toString('hex'),
    eventHash: row.event_hash.toString('hex'),
    payload,
  }
}

function agrees(row: NftEventRow, { number, type, from, to, txn_id: txnId }: Entry, vault: RowVault): boolean {
  return (
    number === row.number &&
    type === row.type &&
    (from === null ? null : vault.accountRef(from)) === row.from_account_id &&
    vault.accountRef(to) === row.to_account_id &&
    txnId === row.txn_id
  )
}
