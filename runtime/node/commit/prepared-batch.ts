/**
 * Prepares drafts for a commit: signs their receipts and makes their rows.
 *   B4. The batch leaves out a shard whose receipts or rows cannot be made, so that its fault affects no other shard.
 */
import type { ShardBatch } from '../../ports/ledger-store.ts'
import type { Signer } from '../../ports/signer.ts'
import { type Fault, faultOf, type Stage } from '../recovery/containment.ts'
import type { ShardDraft } from './draft.ts'
import { receiptsInTurn, signReceipts } from './receipts.ts'
import { processedIn, rowsOf } from './rows.ts'

export interface PreparedBatch {
  readonly drafts: readonly ShardDraft[]
  /** The rows of `drafts`, in the same order. */
  readonly shards: readonly ShardBatch[]
  readonly failed: readonly { readonly draft: ShardDraft; readonly fault: Fault }[]
}

/** Never rejects: `failed` has the faults. */
export async function prepareBatch(
  drafts: readonly ShardDraft[],
  signer: Signer,
  ledgerId: string,
): Promise<PreparedBatch> {
  let stage: Stage = 'signing'
  try {
    const receipts = await signReceipts(signer, drafts.flatMap(processedIn), ledgerId)
    stage = 'rows'
    const nextReceipt = receiptsInTurn(receipts)
    return { drafts, shards: drafts.map((draft) => rowsOf(draft, nextReceipt)), failed: [] }
  } catch (error) {
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
