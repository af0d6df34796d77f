/**
 * The receipt of a processed transaction, which the service signs. It is built from the stored fields on each read, so
 * that a field changed in the database no longer matches the signature.
 */
import { showHash } from '../audit-chain.ts'
import { canonicalJson, type JsonObject } from '../canonical-json.ts'
import { nftNameOf } from '../nft-id.ts'
import { isoTimestamp } from '../timestamp.ts'
import { balancesAfter, receiveMembers } from './record.ts'
import type { TransactionRecord } from './transaction.ts'

/**
 * `keyId`: the service's receipt key. Absent optional fields are left out, so that new fields do not change old
 * receipts. The members are in canonical order. The format is that of the chain entry; a failed transaction has none,
 * and format 1.
 */
export function receiptOf(transaction: TransactionRecord, ledgerId: string, keyId: string): JsonObject {
  const { compensates, counterTxnId, failure, fromAccountId, groupId, holdId, metadata, refunds, toAccountId, entry } =
    transaction
  const name = nftNameOf(transaction.tokenId)
  return {
    account_id: transaction.accountId,
    amount: transaction.amount,
    audit_hash: transaction.auditHash === null ? null : showHash(transaction.auditHash),
    ...(entry === null ? undefined : balancesAfter(entry)),
    ...(name === undefined ? undefined : { class_id: name.classId }),
    ...(compensates === null ? undefined : { compensates }),
    ...(counterTxnId === null ? undefined : { counter_txn_id: counterTxnId }),
    created_at: isoTimestamp(transaction.createdAtMs),
    ...(failure === null ? undefined : { failure: { code: failure.code, detail: failure.detail } }),
    format: entry?.format ?? 1,
    ...(fromAccountId === null ? undefined : { from_account_id: fromAccountId }),
    ...(groupId === null ? undefined : { group_id: groupId }),
    ...(holdId === undefined ? undefined : { hold_id: holdId }),
    ...(name === undefined ? undefined : { instance_id: name.instanceId }),
    key_id: keyId,
    ledger_id: ledgerId,
    ...(metadata === null ? undefined : { metadata }),
    origin: transaction.origin,
    previous_hash: transaction.previousHash === null ? null : showHash(transaction.previousHash),
    processed_at: isoTimestamp(transaction.processedAtMs ?? transaction.createdAtMs),
    ...receiveMembers(transaction),
    ...(refunds === null ? undefined : { refunds }),
    sequence: transaction.sequence,
    shard_id: transaction.shardId,
    status: transaction.status,
    submission_hash: showHash(transaction.payloadHash),
    ...(toAccountId === null ? undefined : { to_account_id: toAccountId }),
    ...(name === undefined ? { token_id: transaction.tokenId } : undefined),
    txn_id: transaction.txnId,
    type: transaction.type,
  }
}

export function receiptPayload(transaction: TransactionRecord, ledgerId: string, keyId: string): string {
  return canonicalJson(receiptOf(transaction, ledgerId, keyId))
}
