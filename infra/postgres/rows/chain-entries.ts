/**
 * Entries of chains, as the view `chain_entries` has them: a completed transaction is its own entry, every other entry is
 * a row of `audit_entries`.
 */
import { entryPayload } from '../../../actors/account/record.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
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

export type ChainEntryRow =
  | (Place & { readonly txn_id: null; readonly payload: Buffer })
  | (Place & TransactionRow & { readonly txn_id: string; readonly sequence: string })

/** Names of the columns, without user input in them. */
export const CHAIN_ENTRY_COLUMNS = [...TRANSACTION_ROW_COLUMNS, 'payload'] as const

/** As it was hashed. Its account's key must have been fetched. Throws UnreadableRow. */
export function payloadOf(row: ChainEntryRow, vault: RowVault): string {
  if (row.txn_id !== null) return entryPayload(openTransaction(row, vault).transaction)
  const { shard_id: shardId, account_id: ref } = row
  return vault.open(accountKeyName(ref), PLACES.entry(shardId, ref, Number(row.sequence)), row.payload)
}
