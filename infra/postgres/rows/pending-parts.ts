/** Transactions that an account waits for, as parts of the account: each is a hold of its own. */
import type { PendingHold } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { accountKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { pendingHoldFrom } from './account-parts.ts'
import { PLACES } from './row-sealer.ts'
import { openTransaction } from './transaction-document.ts'

/** Sealed texts in base64, times in milliseconds since 1970. */
export type PendingPart = readonly [
  txnId: string,
  type: Transaction['type'],
  tokenId: string,
  groupId: string | null,
  origin: Transaction['origin'],
  createdAtMs: string,
  amountBucket: number,
  keyRef: string,
  document: string,
  hold: string | null,
]

/** A JSON array of PendingPart, or null. `account`: an alias of `accounts`. */
export function pendingPartsOf(account: string): string {
  return `(SELECT json_agg(json_build_array(
          p.txn_id, p.type, p.token_id, p.group_id, p.origin, round(extract(epoch FROM p.created_at) * 1000)::text,
          p.amount_bucket, p.idempotency_key, encode(p.document, 'base64'), encode(p.hold, 'base64')))
          FROM pending_transactions p
         WHERE p.shard_id = ${account}.shard_id AND p.account_id = ${account}.account_id AND p.is_hold)`
}

/** Of the account with this reference, whose key must have been fetched. Throws UnreadableRow. */
export function openPending(
  { shardId, ref }: { readonly shardId: number; readonly ref: string },
  part: PendingPart,
  vault: RowVault,
): PendingHold {
  const [txnId, type, tokenId, groupId, origin, createdAtMs, amountBucket, keyRef, document, hold] = part
  const { transaction } = openTransaction(
    {
      shard_id: shardId,
      txn_id: txnId,
      account_id: ref,
      type,
      token_id: tokenId,
      received_token_id: null,
      group_id: groupId,
      status: 'pending',
      failure_code: null,
      origin,
      created_at: new Date(Number(createdAtMs)),
      processed_at: null,
      sequence: null,
      previous_hash: null,
      audit_hash: null,
      receipt_key_id: null,
      amount_bucket: amountBucket,
      idempotency_key: keyRef,
      compensated_by: null,
      refunded: null,
      document: Buffer.from(document, 'base64'),
    },
    vault,
  )
  const place = PLACES.hold(shardId, ref, txnId)
  const text = hold === null ? null : vault.open(accountKeyName(ref), place, Buffer.from(hold, 'base64'))
  return pendingHoldFrom(transaction, text)
}
