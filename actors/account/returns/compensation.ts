/**
 * Compensations in a linked group: an administrator undoes one transaction at a time. No value is reserved for it, so
 * it can fail; the reply then names the failure. A transaction is undone at most once.
 */
import { groupAddress } from '../../address.ts'
import type { CompensationOutcome } from '../../message.ts'
import { parseQuantity } from '../../money.ts'
import { isNft } from '../../nft-id.ts'
import type { AccountCommandOf } from '../commands.ts'
import { reserve, sendTransfer } from '../pending.ts'
import { carriedOut, ordered } from '../record.ts'
import { isRefunded } from './refunds.ts'
import { type AccountData, availableOf } from '../state.ts'
import { type CompensableTransaction, failure, type FailureCode } from '../transaction.ts'
import type { Turn } from '../turn.ts'

type Compensate = AccountCommandOf<'compensate'>

/** `found`: the current state of the named transaction; undefined if there is none. */
export function compensate(turn: Turn, command: Compensate, found: CompensableTransaction | undefined): void {
  const refused = refusesCompensation(turn.before, command, found)
  if (found === undefined || refused !== undefined) return ended(turn, command, refused ?? 'not_compensable')
  const { type, fromAccountId, toAccountId, counterTxnId } = found
  if (type === 'transfer' && toAccountId !== null && counterTxnId !== null) {
    // The receiver has the value: it must return it.
    return answer(turn, command, { kind: 'elsewhere', accountId: toAccountId, txnId: counterTxnId })
  }
  if (type === 'credit' && fromAccountId !== null && counterTxnId !== null) {
    return giveBack(turn, command, found, { accountId: fromAccountId, txnId: counterTxnId })
  }
  return undoAtBoundary(turn, command, found)
}

function refusesCompensation(
  account: AccountData,
  { groupId, compensates }: Compensate,
  found: CompensableTransaction | undefined,
): FailureCode | undefined {
  const { accountId, holds } = account
  if (found === undefined) return 'not_compensable'
  if (found.accountId !== accountId || found.groupId !== groupId) return 'not_compensable'
  if (found.termsHash !== null || found.status !== 'completed' || found.compensates !== null) return 'not_compensable'
  if (found.refunds !== null) return 'not_compensable'
  if (found.type === 'mint' || found.type === 'burn' || found.receive !== null) return 'not_compensable'
  if (found.compensatedBy !== null) return 'already_compensated'
  if (isRefunded(account, found)) return 'refunded'
  return holds.compensates(compensates) ? 'already_compensated' : undefined
}

export function refuseClosedCompensation(
  turn: Turn,
  command: Compensate,
  found: CompensableTransaction | undefined,
): void {
  const code = refusesCompensation(turn.before, command, found) ?? 'account_closed'
  ended(turn, command, code)
}

/** An erased account has no transaction to undo, even if the look-up still found one. */
export function refuseErasedCompensation(turn: Turn, command: Compensate): void {
  ended(turn, command, 'not_compensable')
}

/** A transfer in the other direction: its sender decides whether it can take the value back. */
function giveBack(
  turn: Turn,
  command: Compensate,
  { amount, tokenId, groupId, txnId: compensates }: CompensableTransaction,
  original: { readonly accountId: string; readonly txnId: string },
): void {
  const cause = `compensate ${compensates} ${command.newTxnId}`
  const toAccountId = original.accountId
  const type = isNft(tokenId) ? 'transfer' : 'debit'
  const transaction = ordered(turn, { type, amount, tokenId, groupId, cause, toAccountId, compensates })
  const lacks = reserve(turn, transaction)
  if (lacks !== undefined) return ended(turn, command, lacks)
  const reportsOn = { asked: command.asked, transfer: original.txnId }
  sendTransfer(turn, transaction, toAccountId, { expiresAtMs: null, compensates: original.txnId }, reportsOn)
}

/** Value from an external account returns there; value paid out there comes back. */
function undoAtBoundary(turn: Turn, command: Compensate, found: CompensableTransaction): void {
  const { amount, tokenId, groupId, txnId: compensates } = found
  const takesBack = found.type === 'credit'
  const quantity = parseQuantity(amount)
  const refused = takesBack
    ? availableOf(turn.balance(tokenId)) < quantity
      ? 'insufficient_funds'
      : undefined
    : turn.lacksRoom(tokenId, quantity)
  if (refused !== undefined) return ended(turn, command, refused)
  const moved = takesBack ? -quantity : quantity
  turn.change(tokenId, { balance: moved })
  turn.note({ kind: 'boundary_crossed', tokenId, quantity: moved })
  const cause = `compensate ${compensates} ${command.newTxnId}`
  const type = takesBack ? 'debit' : 'credit'
  const { txnId } = carriedOut(turn, { type, amount, tokenId, groupId, cause, compensates })
  answer(turn, command, { kind: 'done', compensations: [{ compensates, txnId }] })
}

function ended(turn: Turn, command: Compensate, code: FailureCode): void {
  answer(turn, command, { kind: 'failed', failure: failure(code) })
}

function answer(turn: Turn, { groupId, asked }: Compensate, outcome: CompensationOutcome): void {
  turn.send(groupAddress(groupId), { type: 'compensation_ended', asked, outcome })
}
