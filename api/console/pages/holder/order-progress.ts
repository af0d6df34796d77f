/** Follows an order of this browser: signed, accepted, final, and its receipt verified. */
import type { Submission, Transaction } from '../../../client/index.ts'
import type { AccountKey } from '../../../client/index.ts'
import type { Order } from '../../../client/index.ts'
import { canonicalOrder } from '../../../client/index.ts'
import type { Finding } from '../../proofs/finding.ts'
import { receiptFinding } from '../../proofs/receipt-finding.ts'
import type { Session } from '../../session/session.ts'

export interface OrderProgress {
  readonly order: Order
  /** Signed in this browser. */
  readonly submission?: Submission
  /** The exact text that was signed. */
  readonly signedText?: string
  readonly txnId?: string
  readonly transaction?: Transaction
  readonly finding?: Finding
  /** Ended the way at the step that comes next. */
  readonly error?: unknown
}

export const STEPS = ['signed', 'accepted', 'decided', 'verified'] as const
export type Step = (typeof STEPS)[number]

/** The steps that are behind it. */
export function stepsDone({ submission, txnId, transaction, finding }: OrderProgress): number {
  return [submission, txnId, transaction, finding].filter((step) => step !== undefined).length
}

/** Never rejects: an error is in the last progress. */
export async function followOrder(
  { client, keySet }: Session,
  order: Order,
  key: AccountKey,
  onProgress: (progress: OrderProgress) => void,
): Promise<OrderProgress> {
  let progress: OrderProgress = { order }
  const step = (more: Partial<OrderProgress>): void => {
    progress = { ...progress, ...more }
    onProgress(progress)
  }
  try {
    step({})
    const submission = await client.sign(order, key)
    step({ submission, signedText: canonicalOrder(submission) })
    const { txn_id: txnId, account_id: accountId } = await client.call('submitTransaction', { body: submission })
    step({ txnId })
    step({ transaction: await client.waitForTransaction(txnId) })
    const [receipt, entries] = await Promise.all([client.receipt(txnId), client.auditChain(accountId)])
    step({ finding: await receiptFinding(receipt, keySet, { entries, order: submission }) })
  } catch (error) {
    step({ error })
  }
  return progress
}
