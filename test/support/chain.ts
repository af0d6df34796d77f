import { entryPayload } from '../../actors/account/record.ts'
import type { AccountState } from '../../actors/account/state.ts'
import type { Transaction } from '../../actors/account/transaction.ts'
import { appendEntry, type AuditEntry, chainHash, ENTRY_FORMAT } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isNft } from '../../actors/nft-id.ts'

/** An entry with whatever fields a test gives it. */
export function chainEntry(
  previous: string,
  sequence: number,
  txnId: string | null,
  salt: string,
  fields: JsonObject,
): AuditEntry {
  return appendEntry(previous, { ...fields, format: ENTRY_FORMAT, salt, sequence, txn_id: txnId })
}

/** The transaction as its account's next entry, whose payload it becomes. */
export function chained(
  { sequence: before, tip }: Pick<AccountState, 'sequence' | 'tip'>,
  transaction: Transaction,
  processedAtMs: number,
  salt: string,
): { readonly transaction: Transaction; readonly entry: AuditEntry } {
  const place = { sequence: before + 1, previousHash: tip }
  const balance = isNft(transaction.tokenId) ? null : '7.25'
  const received = { receivedBalance: null, receivedAvailable: null, receivedIncoming: null }
  const details = { format: ENTRY_FORMAT, salt, balance, available: balance, incoming: null, ...received } as const
  const entered = { ...transaction, status: 'completed', processedAtMs, ...place, entry: details } as const
  const payload = entryPayload(entered)
  const auditHash = chainHash(tip, payload)
  return {
    transaction: { ...entered, auditHash },
    entry: { ...place, txnId: transaction.txnId, auditHash, payload },
  }
}
