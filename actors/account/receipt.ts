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
  return {
    format: RECEIPT_FORMAT,
    ledger_id: ledgerId,
    key_id: keyId,
    txn_id: transaction.txnId,
    account_id: transaction.accountId,
    shard_id: transaction.shardId,
    type: transaction.type,
    amount: transaction.amount,
    token_id: transaction.tokenId,
    status: transaction.status,
    origin: transaction.origin,
    created_at: isoTimestamp(transaction.createdAtMs),
    processed_at: isoTimestamp(transaction.processedAtMs),
    submission_hash: showHash(transaction.payloadHash),
    sequence: transaction.sequence,
    previous_hash: transaction.previousHash === null ? null : showHash(transaction.previousHash),
    audit_hash: transaction.auditHash === null ? null : showHash(transaction.auditHash),
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
