/** The payload of a receipt by its documented format: what tests expect, with nothing of the code that they test. */
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import { canonicalText } from './reference-encoding.ts'

export function receiptText(transaction: TransactionRecord, ledgerId: string, keyId: string): string {
  const { auditHash, createdAtMs, entry, failure, payloadHash, previousHash, processedAtMs, receive } = transaction
  return canonicalText({
    ...assetOf(transaction.tokenId),
    ...after(entry?.balance, entry?.available),
    account_id: transaction.accountId,
    amount: transaction.amount,
    audit_hash: auditHash === null ? null : `sha256:${auditHash}`,
    compensates: transaction.compensates ?? undefined,
    counter_txn_id: transaction.counterTxnId ?? undefined,
    created_at: new Date(createdAtMs).toISOString(),
    failure: failure === null ? undefined : { code: failure.code, detail: failure.detail },
    format: entry?.format ?? 1,
    from_account_id: transaction.fromAccountId ?? undefined,
    group_id: transaction.groupId ?? undefined,
    key_id: keyId,
    ledger_id: ledgerId,
    metadata: transaction.metadata ?? undefined,
    origin: transaction.origin,
    previous_hash: previousHash === null ? null : `sha256:${previousHash}`,
    processed_at: new Date(processedAtMs ?? createdAtMs).toISOString(),
    receive:
      receive === null
        ? undefined
        : {
            ...assetOf(receive.tokenId),
            ...after(entry?.receivedBalance, entry?.receivedAvailable),
            amount: receive.amount,
          },
    refunds: transaction.refunds ?? undefined,
    hold_id: transaction.holdId,
    sequence: transaction.sequence,
    shard_id: transaction.shardId,
    status: transaction.status,
    submission_hash: `sha256:${payloadHash}`,
    to_account_id: transaction.toAccountId ?? undefined,
    txn_id: transaction.txnId,
    type: transaction.type,
  })
}

/** `class/instance` names an NFT. */
function assetOf(tokenId: string): object {
  const [classId, ...rest] = tokenId.split('/')
  return rest.length === 0 ? { token_id: tokenId } : { class_id: classId, instance_id: rest.join('/') }
}

/** From format 2 on. */
function after(balance: string | null = null, available: string | null = null): object {
  return available === null ? {} : { available_after: available, balance_after: balance }
}
