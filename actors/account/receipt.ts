/**
 * The receipt of a processed transaction: what the service signs. It is made anew from the transaction's fields
 * whenever it is shown, so that a field changed in the database no longer matches the signature.
 */
import { showHash } from '../audit-chain.ts'
import { canonicalJson, type JsonObject } from '../canonical-json.ts'
import { isoTimestamp } from '../timestamp.ts'
import type { Transaction } from './outcome.ts'

export const RECEIPT_FORMAT = 1

/** `keyId`: the service's receipt key. Absent optional fields are left out, so that adding fields later changes no old receipt. */
export function receiptOf(transaction: Transaction, ledgerId: string, keyId: string): JsonObject {
  const receipt = {
    account_id: transaction.accountId,
    amount: transaction.amount,
    audit_hash: transaction.auditHash === null ? null : showHash(transaction.auditHash),
    created_at: isoTimestamp(transaction.createdAtMs),
    format: RECEIPT_FORMAT,
    key_id: keyId,
    ledger_id: ledgerId,
    origin: transaction.origin,
    previous_hash: transaction.previousHash === null ? null : showHash(transaction.previousHash),
    processed_at: isoTimestamp(transaction.processedAtMs),
    sequence: transaction.sequence,
    shard_id: transaction.shardId,
    status: transaction.status,
    submission_hash: showHash(transaction.payloadHash),
    token_id: transaction.tokenId,
    txn_id: transaction.txnId,
    type: transaction.type,
  }
  const { groupId, metadata, failure } = transaction
  if (groupId === null && metadata === null && failure === null) return receipt
  return {
    ...receipt,
    ...(transaction.groupId === null ? {} : { group_id: transaction.groupId }),
    ...(transaction.metadata === null ? {} : { metadata: transaction.metadata }),
    ...(transaction.failure === null
      ? {}
      : { failure: { code: transaction.failure.code, detail: transaction.failure.detail } }),
  }
}

export function receiptPayload(transaction: Transaction, ledgerId: string, keyId: string): string {
  return canonicalJson(receiptOf(transaction, ledgerId, keyId))
}
