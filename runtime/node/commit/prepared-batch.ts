/**
 * Prepares drafts for a commit: signs their receipts and makes their rows.
 *   B4. The batch leaves out a shard whose receipts or rows cannot be made, so that its fault affects no other shard.
 *   B6. If the key for receipts does not sign now, the whole batch is refused, as a store refuses it (B5): nothing of it is
 *       written.
 */
import { receiptPayload } from '../../../actors/account/receipt.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import { invariant } from '../../../actors/result.ts'
import type { ReceiptWrite, ShardBatch } from '../../ports/ledger-store.ts'
import { type Signer, SignerUnavailable } from '../../ports/signer.ts'
import { appendTo } from '../../common/append-to.ts'
import { type Fault, faultOf, type Stage } from '../recovery/containment.ts'
import type { ShardDraft } from '../shard/draft.ts'
import { processedIn, rowsOf } from './rows.ts'

export interface PreparedBatch {
  readonly drafts: readonly ShardDraft[]
  /** The rows of `drafts`, in the same order. */
  readonly shards: readonly ShardBatch[]
  readonly failed: readonly { readonly draft: ShardDraft; readonly fault: Fault }[]
}

/** Throws SignerUnavailable (B6), and nothing else: `failed` has the faults. */
export async function prepareBatch(
  drafts: readonly ShardDraft[],
  signer: Signer,
  ledgerId: string,
): Promise<PreparedBatch> {
  let stage: Stage = 'signing'
  try {
    const receipts = await signReceipts(signer, drafts.flatMap(processedIn), ledgerId)
    stage = 'rows'
    let next = 0
    const nextReceipt = (): ReceiptWrite => {
      const receipt = receipts[next]
      invariant(receipt !== undefined, 'I7: a processed transaction has no receipt')
      next += 1
      return receipt
    }
    return { drafts, shards: drafts.map((draft) => rowsOf(draft, nextReceipt)), failed: [] }
  } catch (error) {
    if (error instanceof SignerUnavailable) throw error
    const [draft] = drafts
    if (draft === undefined) return { drafts: [], shards: [], failed: [] }
    if (drafts.length === 1) return { drafts: [], shards: [], failed: [{ draft, fault: faultOf(stage, error) }] }
  }
  const parts: PreparedBatch[] = []
  for (const draft of drafts) parts.push(await prepareBatch([draft], signer, ledgerId))
  return {
    drafts: parts.flatMap((part) => part.drafts),
    shards: parts.flatMap((part) => part.shards),
    failed: parts.flatMap((part) => part.failed),
  }
}

/**
 * Signs each with the receipt key of its own time (G3 of the signer). Throws if a key or a signature is missing (I7).
 */
export async function signReceipts(
  signer: Signer,
  processed: readonly TransactionRecord[],
  ledgerId: string,
): Promise<readonly ReceiptWrite[]> {
  // One key, except around a key rotation.
  const byKey = new Map<string, { readonly index: number; readonly payload: string }[]>()
  for (const [index, transaction] of processed.entries()) {
    const keyId = signer.receiptKeyId(transaction.processedAtMs ?? transaction.createdAtMs)
    invariant(keyId !== '', 'I7: the signer named no receipt key')
    const signed = { index, payload: receiptPayload(transaction, ledgerId, keyId) }
    appendTo(byKey, keyId, signed)
  }
  const receipts: ReceiptWrite[] = []
  for (const [keyId, list] of byKey) {
    const payloads = list.map(({ payload }) => payload)
    const signatures = await signer.signMany(keyId, payloads)
    for (const [place, { index }] of list.entries()) {
      const signature = signatures[place]
      invariant(signature !== undefined && signature !== '', 'I7: the signer left a receipt without a signature')
      receipts[index] = { keyId, signature }
    }
  }
  return receipts
}
