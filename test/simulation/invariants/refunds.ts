/**
 * D26: refunds. The checker adds them up from the transactions alone.
 *   R1. Completed and pending refunds of a transfer never exceed its amount.
 *   R2. A refund returns value of a transfer that its account received, in the same asset, to the sender.
 *   R3. Each side of the transfer has the sum of the refunds that this side completed.
 *   R4. A refund fails for a reason that held at some time between its arrival and its decision.
 */
import type { Transaction } from '../../../actors/account/transaction.ts'
import type { RefundWrite, ShardBatch, TransactionWrite } from '../../../runtime/ports/ledger-store.ts'
import { isNftAsset, signedFields, unitsOf } from '../reference/fields.ts'
import type { Demand } from './messages.ts'
import type { TrackedTransaction } from './transactions.ts'

/** Largest error of any node's clock. */
const CLOCK_ERROR_MS = 1_500

/** The receiver's side of a transfer. */
interface Received {
  readonly credit: Transaction
  /** Milliseconds since 1970. */
  readonly committedAtMs: number
  /** In units of 10^-18: completed and pending refunds. */
  standing: bigint
}

export class RefundChecker {
  private readonly demand: Demand
  private readonly known: ReadonlyMap<string, TrackedTransaction>
  private readonly wallNow: () => number
  /** By account and transfer, and by account and credit. */
  private readonly received = new Map<string, Received>()
  /** Sums of completed refunds, by the side's transaction. */
  private readonly completed = new Map<string, bigint>()
  /** Credits that are undone, or are being undone. */
  private readonly compensated = new Set<string>()
  /** Credits whose compensation failed in this commit. */
  private spared: ReadonlySet<string> = new Set()

  constructor(demand: Demand, known: ReadonlyMap<string, TrackedTransaction>, wallNow: () => number) {
    this.demand = demand
    this.known = known
    this.wallNow = wallNow
  }

  /** After the transactions of the batch are known. */
  commit({ transactions, transactionChanges, refunds }: ShardBatch): void {
    const sides = new Set<string>()
    this.spared = new Set(transactionChanges.flatMap(({ txnId, finished }) => this.sparedBy(txnId, finished)))
    for (const txnId of this.spared) this.compensated.delete(txnId)
    const isFailed = ({ transaction }: TransactionWrite): boolean => transaction.status === 'failed'
    const begun = transactions.filter((write) => !isFailed(write)).flatMap((write) => this.entered(write, sides) ?? [])
    // A refund may have failed because of one that began, or failed, in the same commit.
    for (const write of transactions.filter(isFailed)) this.entered(write, sides)
    for (const { txnId, finished } of transactionChanges) {
      if (finished !== null) this.ended(txnId, finished.transaction.status, sides)
    }
    for (const { credit, standing } of begun) {
      const isWithin = standing <= unitsOf(credit.amount)
      this.demand(isWithin, `R1: the refunds of ${credit.counterTxnId} exceed its amount ${credit.amount}`)
    }
    for (const write of refunds) this.summed(write, sides)
    this.demand(sides.size === 0, `R3: the sums of ${[...sides].join(', ')} lack a refund of this commit`)
  }

  /** The refunded transfer, if it is a refund that has not failed. */
  private entered({ transaction }: TransactionWrite, sides: Set<string>): Received | undefined {
    const { accountId, txnId, type, fromAccountId, counterTxnId, compensates, refunds, status, payload } = transaction
    if (compensates !== null && status !== 'failed') this.compensated.add(compensates)
    if (type === 'credit' && fromAccountId !== null && counterTxnId !== null && this.isPayment(transaction)) {
      const received = { credit: transaction, committedAtMs: this.wallNow(), standing: 0n }
      this.received.set(`${accountId} ${counterTxnId}`, received)
      this.received.set(`${accountId} ${txnId}`, received)
      if (refunds !== null) this.complete(refunds, transaction, sides)
      return undefined
    }
    if (transaction.origin !== 'client') return undefined
    const { refunds: named } = signedFields(payload)
    if (named === null) {
      this.demand(refunds === null, `R2: ${txnId} refunds ${refunds}, which its client did not order`)
      return undefined
    }
    const original = this.received.get(`${accountId} ${named}`)
    if (status === 'failed') this.failed(transaction, original)
    else this.begun(transaction, original)
    return status === 'failed' ? undefined : original
  }

  /** Credits of legs, of NFTs and of compensations are no payments. */
  private isPayment({ idempotencyKey, counterTxnId, tokenId, compensates }: Transaction): boolean {
    return idempotencyKey === `§transfer ${counterTxnId}` && compensates === null && !isNftAsset(tokenId)
  }

  private begun(transaction: Transaction, original: Received | undefined): void {
    const { txnId, tokenId, toAccountId, amount, refunds } = transaction
    if (original === undefined) return this.demand(false, `R2: ${txnId} refunds what its account did not receive`)
    const { credit } = original
    const fits = tokenId === credit.tokenId && toAccountId === credit.fromAccountId && refunds === credit.counterTxnId
    this.demand(fits, `R2: ${txnId} does not return ${credit.tokenId} of ${credit.counterTxnId} to its sender`)
    this.demand(!this.compensated.has(credit.txnId), `R2: ${txnId} refunds ${credit.txnId}, which is compensated`)
    original.standing += unitsOf(amount)
  }

  /** R4. */
  private failed(
    { txnId, accountId, failure, amount, tokenId, createdAtMs, payload }: Transaction,
    original: Received | undefined,
  ): void {
    const fails = (code: string, holds: boolean): void => {
      if (failure?.code === code) this.demand(holds, `R4: ${txnId} on ${accountId} failed with ${code}`)
    }
    const credit = original?.credit
    const { toAccountId: to } = signedFields(payload)
    const isNew = original === undefined || original.committedAtMs + CLOCK_ERROR_MS > createdAtMs
    fails('refund_original_not_found', isNew)
    fails('refund_mismatch', credit?.tokenId !== tokenId || (to !== null && to !== credit.fromAccountId))
    const side = credit?.txnId ?? ''
    fails('already_compensated', this.compensated.has(side) || this.spared.has(side))
    const most = (original?.standing ?? 0n) + unitsOf(amount)
    fails('refund_exceeds_original', credit !== undefined && most > unitsOf(credit.amount))
  }

  private sparedBy(txnId: string, finished: ShardBatch['transactionChanges'][number]['finished']): readonly string[] {
    const compensates = this.known.get(txnId)?.transaction.compensates ?? null
    return finished?.transaction.status === 'failed' && compensates !== null ? [compensates] : []
  }

  private ended(txnId: string, status: Transaction['status'], sides: Set<string>): void {
    const transaction = this.known.get(txnId)?.transaction
    if (transaction === undefined || transaction.origin !== 'client' || transaction.refunds === null) return
    const original = this.received.get(`${transaction.accountId} ${transaction.refunds}`)
    if (original === undefined) return
    if (status === 'failed') original.standing -= unitsOf(transaction.amount)
    else this.complete(original.credit.txnId, transaction, sides)
  }

  private complete(side: string, { amount }: Transaction, sides: Set<string>): void {
    this.completed.set(side, (this.completed.get(side) ?? 0n) + unitsOf(amount))
    sides.add(side)
  }

  private summed({ txnId, accountId, refunded }: RefundWrite, sides: Set<string>): void {
    const sum = this.completed.get(txnId)
    this.demand(sum === unitsOf(refunded), `R3: ${txnId} has refunds of ${refunded}, which add up to ${sum ?? 'none'}`)
    const owner = this.known.get(txnId)?.transaction.accountId
    this.demand(owner === accountId, `R3: ${accountId} writes the refunds of ${txnId}, which is of ${owner}`)
    sides.delete(txnId)
  }
}
