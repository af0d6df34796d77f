/** Captures and releases of holds (D25) at the beneficiary's account, which signs them; the hold decides. */
import { holdAddress } from '../../address.ts'
import { parseQuantity } from '../../money.ts'
import type { AccountCommandOf, CaptureOrder, ReleaseHoldCommand, SubmitCommand } from '../commands.ts'
import { refusal } from '../outcome.ts'
import { failing, pendingHold } from '../pending.ts'
import { entered, submitted } from '../record.ts'
import type { AccountData } from '../state.ts'
import { type AccountChange, Turn } from '../turn.ts'

/** Reserves room for the amount, so that nothing can refuse the value once its payer has paid. */
export function beginCapture(turn: Turn, command: SubmitCommand, { holdId, final, fromAccountId }: CaptureOrder): void {
  const transaction = submitted(turn, command)
  const { txnId, accountId, tokenId, amount } = transaction
  const quantity = parseQuantity(amount)
  const refused = turn.before.incoming === 'refuse' ? 'incoming_refused' : turn.lacksRoom(tokenId, quantity)
  if (refused !== undefined) return failing(turn, transaction, refused)
  turn.change(tokenId, { room: quantity })
  turn.keep(pendingHold(transaction, false, { tokenId, amount }))
  entered(turn, transaction)
  turn.send(holdAddress(holdId), { type: 'capture_hold', txnId, accountId, fromAccountId, tokenId, amount, final })
}

/** The hold replies with `hold_ended`. A repeat asks it again: a hold ends once. */
export function releaseHold(account: AccountData, command: ReleaseHoldCommand): AccountChange {
  const turn = new Turn(account, command)
  turn.send(holdAddress(command.holdId), { type: 'end_hold', accountId: account.accountId })
  return { ...turn.done(), answer: 'deferred' }
}

export function concludeRelease(turn: Turn, { holdId, hold }: AccountCommandOf<'hold_ended'>): void {
  const use = { operation: 'hold_release', idempotencyKey: holdId } as const
  const answer =
    hold === null
      ? refusal('hold_not_found', 'The account is the beneficiary of no such hold.')
      : ({ kind: 'hold_released', hold } as const)
  turn.note({ kind: 'concluded', answer, use })
}
