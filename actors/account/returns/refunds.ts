/**
 * Refunds (D26): transfers that return value of an earlier transfer to its sender. The receiver of the original decides.
 *   P4. The completed and pending refunds of a transfer never exceed its amount. The row of the receiver's credit has
 *       the sum of the completed ones. The pending ones are holds, so that a failed refund no longer counts.
 */
import { uuidOf } from '../../identifiers.ts'
import { parseQuantity, type Quantity, ZERO } from '../../money.ts'
import type { SubmitCommand } from '../commands.ts'
import { failing, reserve, sendTransfer } from '../pending.ts'
import { submitted } from '../record.ts'
import type { AccountData } from '../state.ts'
import type { CompensableTransaction, FailureCode, Transaction } from '../transaction.ts'
import type { Turn } from '../turn.ts'

/** `found`: the account's credit of the named transfer; undefined if there is none. */
export function beginRefund(turn: Turn, command: SubmitCommand, found: CompensableTransaction | undefined): void {
  const { submission, newTxnId, salt } = command
  const ordered = submitted(turn, command, submission.groupId ?? uuidOf(`${newTxnId} ${salt}`))
  if (found === undefined || !isRefundable(found)) return failing(turn, ordered, 'refund_original_not_found')
  const { fromAccountId: toAccountId, counterTxnId: refunds } = found
  const refused = refusesRefund(turn.before, ordered, found)
  const transaction = { ...ordered, toAccountId: ordered.toAccountId ?? toAccountId, refunds }
  const lacks = refused ?? reserve(turn, transaction)
  if (lacks !== undefined) return failing(turn, transaction, lacks)
  sendTransfer(turn, transaction, toAccountId, { expiresAtMs: submission.expiresAtMs, compensates: null })
}

/** The account's credit of a transfer. */
type RefundableTransaction = CompensableTransaction & { readonly fromAccountId: string; readonly counterTxnId: string }

/** A credit that returned value is no payment. */
function isRefundable(found: CompensableTransaction): found is RefundableTransaction {
  const { fromAccountId, counterTxnId, compensates } = found
  return fromAccountId !== null && counterTxnId !== null && compensates === null
}

function refusesRefund(
  account: AccountData,
  { tokenId, toAccountId, amount }: Transaction,
  found: RefundableTransaction,
): FailureCode | undefined {
  if (found.compensatedBy !== null || account.holds.compensates(found.txnId)) return 'already_compensated'
  if (found.tokenId !== tokenId) return 'refund_mismatch'
  if (toAccountId !== null && toAccountId !== found.fromAccountId) return 'refund_mismatch'
  const sum = refundedOf(account, found) + parseQuantity(amount)
  return sum > parseQuantity(found.amount) ? 'refund_exceeds_original' : undefined
}

/** Whether a refund of the transaction is completed or pending. */
export function isRefunded(account: AccountData, found: CompensableTransaction): boolean {
  return refundedOf(account, found) > 0n
}

/** P4. */
function refundedOf({ holds }: AccountData, { counterTxnId, refunded }: CompensableTransaction): Quantity {
  const pending = counterTxnId === null ? [] : holds.refundsOf(counterTxnId)
  return pending.reduce<Quantity>(
    (sum, { transaction }) => sum + parseQuantity(transaction.amount),
    refunded === null ? ZERO : parseQuantity(refunded),
  )
}
