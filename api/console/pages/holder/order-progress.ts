/** Follows an order of this browser: signed, accepted, final, and its receipt verified. */
import type { KeySet, LedgerClient, Submission, Transaction } from '../../../client/index.ts'
import type { AccountKey } from '../../../client/index.ts'
import type { Order } from '../../../client/index.ts'
import { canonicalOrder, isLedgerError } from '../../../client/index.ts'
import type { Finding } from '../../proofs/finding.ts'
import { receiptFinding } from '../../proofs/receipt-finding.ts'

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

interface OrderSession {
  readonly client: LedgerClient
  readonly keySet: KeySet
  /** Ends the requests that only read. An order is sent to the end. */
  readonly signal: AbortSignal
}

type SignedProgress = Pick<OrderProgress, 'order'> & Required<Pick<OrderProgress, 'submission' | 'signedText'>>

const TOO_MANY_REQUESTS = 429
const SERVER_ERROR = 500

export const STEPS = ['signed', 'accepted', 'decided', 'verified'] as const
export type Step = (typeof STEPS)[number]

/** The steps that are behind it. */
export function stepsDone({ submission, txnId, transaction, finding }: OrderProgress): number {
  return [submission, txnId, transaction, finding].filter((step) => step !== undefined).length
}

/** True if the same signed order may be sent again: it has one effect at most, and a new order could be a second one. */
export function isUndecided({ submission, finding, error }: OrderProgress): boolean {
  if (submission === undefined || finding !== undefined || error === undefined) return false
  const isRefused = isLedgerError(error) && error.outcome === 'not_applied'
  return !isRefused || error.status === TOO_MANY_REQUESTS || error.status >= SERVER_ERROR
}

/** Signs an order and follows it. Never rejects: an error is in the last progress. */
export async function followOrder(
  session: OrderSession,
  order: Order,
  key: AccountKey,
  onProgress: (progress: OrderProgress) => void,
): Promise<OrderProgress> {
  onProgress({ order })
  try {
    const submission = await session.client.sign(order, key)
    return await sendOrder(session, { order, submission, signedText: canonicalOrder(submission) }, onProgress)
  } catch (error) {
    const failed = { order, error }
    onProgress(failed)
    return failed
  }
}

/** Sends an order that is signed, the first time or again, and follows it. Never rejects. */
export async function sendOrder(
  { client, keySet, signal }: OrderSession,
  { order, submission, signedText }: SignedProgress,
  onProgress: (progress: OrderProgress) => void,
): Promise<OrderProgress> {
  let progress: OrderProgress = { order, submission, signedText }
  const step = (more: Partial<OrderProgress>): void => {
    progress = { ...progress, ...more }
    onProgress(progress)
  }
  try {
    step({})
    const { txn_id: txnId, account_id: accountId } = await client.call('submitTransaction', { body: submission })
    step({ txnId })
    step({ transaction: await client.waitForTransaction(txnId, { signal }) })
    const [receipt, entries] = await Promise.all([
      client.receipt(txnId, { signal }),
      client.auditChain(accountId, { signal }),
    ])
    step({ finding: await receiptFinding(receipt, keySet, { entries, order: submission }) })
  } catch (error) {
    step({ error })
  }
  return progress
}
