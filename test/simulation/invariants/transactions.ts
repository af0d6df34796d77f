/**
 * Checks transactions from their entry: final once (I2), one effect for each cause (I3), a receipt for each processed
 * one (I7), compensated at most once (I8), and two sides that agree.
 */
import type { Transaction, TransactionRecord } from '../../../actors/account/transaction.ts'
import type { Message } from '../../../actors/message.ts'
import type {
  ReceiptWrite,
  ShardBatch,
  TransactionChange,
  TransactionWrite,
} from '../../../runtime/ports/ledger-store.ts'
import { receiptText } from '../../support/receipt-text.ts'
import { audienceOf } from './accounts-portage.ts'
import { causes, type Demand, type ReceivedMessages } from './messages.ts'
import { isNftAsset, unitsOf } from '../reference/fields.ts'

export interface TransactionSettings {
  readonly ledgerId: string
  /** Whether the receipt key signed this. */
  readonly receiptVerifies: (keyId: string, payload: string, signature: string) => boolean
  /** Whether a client has sent exactly this by now: an effect without an order is a violation. */
  readonly wasOrdered: (payload: string, signature: string) => boolean
}

/** A transaction as the rows have shown it so far. */
export interface TrackedTransaction {
  readonly transaction: Transaction
  readonly compensatedBy: string | null
}

export class TransactionChecker {
  readonly known = new Map<string, TrackedTransaction>()
  private readonly demand: Demand
  private readonly settings: TransactionSettings
  private readonly lastIds = new Map<number, string>()
  private readonly causes = new Set<string>()
  private readonly byGroup = new Map<string, string[]>()
  private readonly pendingIds = new Set<string>()

  constructor(demand: Demand, settings: TransactionSettings) {
    this.demand = demand
    this.settings = settings
  }

  ofGroup(groupId: string): readonly TrackedTransaction[] {
    return (this.byGroup.get(groupId) ?? []).map((txnId) => this.known.get(txnId)).filter((one) => one !== undefined)
  }

  /** The number of transactions that are not final. */
  pending(): number {
    return this.pendingIds.size
  }

  commit({ token, transactions, transactionChanges }: ShardBatch, heard: ReceivedMessages): void {
    for (const write of transactions) this.entered(write, token.shardId, heard)
    for (const change of transactionChanges) this.changed(change, heard)
    for (const { txnId, compensatedBy } of transactionChanges) this.compensated(txnId, compensatedBy)
  }

  private entered({ transaction, receipt }: TransactionWrite, shardId: number, heard: ReceivedMessages): void {
    const { txnId, accountId, status, origin, payload, signature, idempotencyKey, groupId } = transaction
    const last = this.lastIds.get(shardId) ?? ''
    // A mint gets its ID when it is ordered, and is entered when it is done.
    if (!isNftMint(transaction)) {
      this.demand(txnId > last, `N1: shard ${shardId} gave ${txnId} after ${last}`)
      this.lastIds.set(shardId, txnId)
    }
    this.demand(!this.known.has(txnId), `I3: ${txnId} is given twice`)
    this.known.set(txnId, { transaction, compensatedBy: null })
    const ids = this.byGroup.get(groupId ?? '') ?? []
    if (groupId !== null) this.byGroup.set(groupId, [...ids, txnId])
    if (status === 'pending') this.pendingIds.add(txnId)
    else this.receipt(transaction, receipt)
    if (origin === 'client') {
      this.demand(this.settings.wasOrdered(payload, signature), `I3: no client ordered ${txnId}`)
      return
    }
    const cause = `${accountId} ${idempotencyKey}`
    this.demand(!this.causes.has(cause), `I3: ${cause} took effect twice`)
    this.causes.add(cause)
    if (audienceOf(transaction) !== undefined) return
    const caused = heard.of('account', accountId).some((message) => causes(message, idempotencyKey.slice(1)))
    this.demand(caused, `I3: ${txnId} says ${idempotencyKey}, and no message caused it`)
  }

  private changed({ txnId, finished }: TransactionChange, heard: ReceivedMessages): void {
    if (finished === null) return
    const { transaction: end, receipt } = finished
    const before = this.known.get(txnId)
    if (before === undefined) {
      this.demand(false, `I2: ${txnId} is finished and was never entered`)
      return
    }
    const { transaction } = before
    this.demand(transaction.status === 'pending', `I2: ${txnId} is ${end.status}, and was ${transaction.status}`)
    this.demand(end.status !== 'pending', `I2: ${txnId} is finished as pending`)
    const conclusions = heard
      .of('account', transaction.accountId)
      .filter((message) => ends(message) && 'txnId' in message && message.txnId === txnId)
    this.demand(conclusions.length === 1, `I3: ${txnId} is finished and ${conclusions.length} messages concluded it`)
    this.pendingIds.delete(txnId)
    this.known.set(txnId, { ...before, transaction: { ...transaction, ...end } })
    this.receipt(end, receipt)
    if (!transaction.payload.includes('"terms_hash"')) this.otherSide(end)
  }

  /** A transaction completed on one account is complete on the other, or will be. */
  private otherSide({ txnId, status, type, counterTxnId, receive, amount, tokenId }: TransactionRecord): void {
    if (type === 'mint' || type === 'burn') return
    if (status === 'failed') {
      this.demand(counterTxnId === null, `I4: ${txnId} failed, and ${counterTxnId} is its other side`)
      return
    }
    const other = this.known.get(counterTxnId ?? '')?.transaction
    const [thereTokenId, thereAmount] = receive === null ? [tokenId, amount] : [receive.tokenId, receive.amount]
    const agrees =
      other !== undefined &&
      other.status !== 'failed' &&
      other.tokenId === thereTokenId &&
      unitsOf(other.amount) === unitsOf(thereAmount)
    this.demand(agrees, `I4: ${txnId} completed, and ${counterTxnId} is not its other side`)
  }

  private compensated(txnId: string, by: string | null): void {
    if (by === null) return
    const before = this.known.get(txnId)
    const undoing = this.known.get(by)?.transaction
    const fits = undoing?.compensates === txnId && undoing.status === 'completed'
    this.demand(fits, `I8: ${txnId} names ${by} as its compensation, which names another`)
    this.demand(before?.transaction.status === 'completed', `I8: ${txnId} is undone and never completed`)
    this.demand(before?.compensatedBy === null, `I8: ${txnId} is undone by ${before?.compensatedBy} and by ${by}`)
    if (before !== undefined) this.known.set(txnId, { ...before, compensatedBy: by })
  }

  private receipt(transaction: TransactionRecord, receipt: ReceiptWrite | null): void {
    const verifies =
      receipt !== null &&
      this.settings.receiptVerifies(
        receipt.keyId,
        receiptText(transaction, this.settings.ledgerId, receipt.keyId),
        receipt.signature,
      )
    this.demand(verifies, `I7: the receipt of ${transaction.txnId} does not verify`)
  }

  atEnd(): void {
    for (const { transaction } of this.known.values()) {
      const { txnId, status, sequence, compensates } = transaction
      this.demand((status === 'completed') === (sequence !== null), `I2: ${txnId} is ${status} at entry ${sequence}`)
      const isMarked = compensates === null || this.known.get(compensates)?.compensatedBy === txnId
      this.demand(isMarked || status !== 'completed', `I8: ${compensates} does not know of ${txnId}`)
    }
  }
}

function isNftMint({ type, tokenId }: TransactionRecord): boolean {
  return type === 'mint' && isNftAsset(tokenId)
}

/** Whether the message may end a pending transaction of its account. */
function ends({ type }: Message): boolean {
  return type.startsWith('conclude_') || type === 'nft_held' || type === 'nft_released'
}
