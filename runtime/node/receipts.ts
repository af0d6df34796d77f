/** The receipts of a batch, each signed with the key that is in use at its own time (G3 of the signer). */
import { receiptPayload } from '../../actors/account/receipt.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import type { ReceiptWrite } from '../ports/ledger-store.ts'
import type { Signer } from '../ports/signer.ts'

/** In the order of the transactions. Throws when there is no key, or it does not sign. */
export async function signReceipts(
  signer: Signer,
  processed: readonly TransactionRecord[],
  ledgerId: string,
): Promise<readonly ReceiptWrite[]> {
  // One key, but for a batch about a rotation.
  const byKey = new Map<string, number[]>()
  for (const [index, { processedAtMs, createdAtMs }] of processed.entries()) {
    const keyId = signer.receiptKeyId(processedAtMs ?? createdAtMs)
    const indexes = byKey.get(keyId)
    if (indexes === undefined) byKey.set(keyId, [index])
    else indexes.push(index)
  }
  const receipts: ReceiptWrite[] = []
  for (const [keyId, indexes] of byKey) {
    const payloads = indexes.flatMap((index) => {
      const transaction = processed[index]
      return transaction === undefined ? [] : [receiptPayload(transaction, ledgerId, keyId)]
    })
    const signatures = await signer.signMany(keyId, payloads)
    for (const [place, index] of indexes.entries()) receipts[index] = { keyId, signature: signatures[place] ?? '' }
  }
  return receipts
}
