/**
 * Entries of chains, as the view `chain_entries` has them: a completed transaction is its own entry, every other entry is
 * a row of `audit_entries`.
 */
import { entryPayload } from '../../../actors/account/record.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { PLACES } from './row-sealer.ts'
import { openTransaction, TRANSACTION_ROW_COLUMNS, type TransactionRow } from './transaction-document.ts'

interface Place {
  readonly shard_id: number
  /** The reference. */
  readonly account_id: string
  /** `bigint` arrives as text; sequences stay far below 2^53. */
  readonly sequence: string
  readonly previous_hash: Buffer
  readonly audit_hash: Buffer
}

/** An entry that is no transaction. `token_id`, `processed_at`: of `EntryAsset`. */
interface Fact {
  readonly txn_id: null
  readonly token_id: string | null
  readonly processed_at: Date | null
  readonly payload: Buffer
}

export type ChainEntryRow =
  | (Place & Fact)
  | (Place & TransactionRow & { readonly txn_id: string; readonly sequence: string })

/** Names of the columns, without user input in them. */
export const CHAIN_ENTRY_COLUMNS = [...TRANSACTION_ROW_COLUMNS, 'payload'] as const

/** The asset whose balance an entry changes, and when. */
export interface EntryAsset {
  /** Empty: every asset in the payload's `balances`. */
  readonly tokenId: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

/** Of an entry that is no transaction; null if it changes no balance. */
export function assetOfFact(payload: string): EntryAsset | null {
  const { kind, token_id: named, processed_at: at } = JSON.parse(payload) as Readonly<Record<string, unknown>>
  const tokenId = kind === 'arrival' ? '' : named
  return typeof tokenId === 'string' ? { tokenId, atMs: Date.parse(String(at)) } : null
}

/** As it was hashed. Its account's key must have been fetched. Throws UnreadableRow. */
export function payloadOf(row: ChainEntryRow, vault: RowVault): string {
  if (row.txn_id !== null) return entryPayload(openTransaction(row, vault).transaction)
  const { shard_id: shardId, account_id: ref } = row
  const place = PLACES.entry(shardId, ref, Number(row.sequence))
  const payload = vault.open(accountKeyName(ref), place, row.payload)
  const asset = assetOfFact(payload)
  const isSame =
    (asset?.tokenId ?? null) === row.token_id && (asset?.atMs ?? null) === (row.processed_at?.getTime() ?? null)
  if (!isSame) throw new UnreadableRow(place, 'it is of another asset or time')
  return payload
}
