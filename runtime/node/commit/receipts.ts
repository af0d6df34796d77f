/** The receipts of a batch, each signed with the key that is in use at its own time (G3 of the signer). */
import { receiptPayload } from '../../../actors/account/receipt.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import { invariant } from '../../../actors/result.ts'
import type { ReceiptWrite } from '../../ports/ledger-store.ts'
import type { Signer } from '../../ports/signer.ts'

/** In the order of the transactions. Throws if the signer has no key or does not sign (I7). */
export async function signReceipts(
  signer: Signer,
  processed: readonly TransactionRecord[],
  ledgerId: string,
): Promise<readonly ReceiptWrite[]> {
  // One key, but for a batch about a rotation.
  const byKey = new Map<string, { readonly index: number; readonly payload: string }[]>()
  for (const [index, transaction] of processed.entries()) {
    const keyId = signer.receiptKeyId(transaction.processedAtMs ?? transaction.createdAtMs)
    invariant(keyId !== '', 'I7: the signer named no receipt key')
    const signed = { index, payload: receiptPayload(transaction, ledgerId, keyId) }
    const list = byKey.get(keyId)
    if (list === undefined) byKey.set(keyId, [signed])
    else list.push(signed)
  }
  const receipts: ReceiptWrite[] = []
  for (const [keyId, list] of byKey) {
    const signatures = await signer.signMany(
      keyId,
      list.map(({ payload }) => payload),
    )
    for (const [place, { index }] of list.entries()) {
      const signature = signatures[place]
      invariant(signature !== undefined && signature !== '', 'I7: the signer left a receipt without a signature')
      receipts[index] = { keyId, signature }
    }
  }
  return receipts
}

/** Returns a function that returns the next receipt. It throws after the last one (I7). */
export function receiptsInTurn(receipts: readonly ReceiptWrite[]): () => ReceiptWrite {
  let next = 0
  return () => {
    const receipt = receipts[next]
    invariant(receipt !== undefined, 'I7: a processed transaction has no receipt')
    next += 1
    return receipt
  }
}
