/**
 * Holds (D25) at the payer's account. It reserves the amount, and then does what the hold's home decides.
 *   H1. The idempotency key of a creation is kept from acceptance to the reply of the hold's home: a repeat waits.
 *   H2. The reserved value of a hold is what its home still has on hold, or what a message on the way will change. Both name
 *       the same beneficiary and asset.
 */
import { accountAddress, holdAddress } from '../../address.ts'
import { holdIdOf } from '../../identifiers.ts'
import { formatQuantity, parseQuantity, type Quantity } from '../../money.ts'
import { invariant } from '../../result.ts'
import { isoTimestamp } from '../../timestamp.ts'
import type { AccountCommandOf, CreateHoldCommand } from '../commands.ts'
import { FIRST, refusal } from '../outcome.ts'
import { carriedOut, enterMovement } from '../record.ts'
import { type AccountData, availableOf, type PaymentHold } from '../state.ts'
import { type AccountChange, Turn } from '../turn.ts'

/** A refusal reserves nothing, and frees the key. */
export function createHold(account: AccountData, command: CreateHoldCommand): AccountChange {
  const turn = new Turn(account, command)
  const { toAccountId, tokenId, amount, metadata, expiresAtMs, idempotencyKey, payloadHash } = command
  const quantity = parseQuantity(amount)
  if (availableOf(turn.balance(tokenId)) < quantity) {
    const lacks = refusal('insufficient_funds', 'The amount is larger than the available balance.', 'amount')
    return { data: account, effects: [], answer: lacks }
  }
  const { key } = account
  invariant(key !== null, 'H1: an account without a key has signed a hold')
  const holdId = holdIdOf(command.newTxnId)
  turn.change(tokenId, { reserved: quantity })
  turn.keep({
    kind: 'payment',
    holdId,
    toAccountId,
    tokenId,
    remaining: formatQuantity(quantity),
    opening: { idempotencyKey, payloadHash, acceptedUnder: key },
  })
  enterMovement(turn, tokenId, {
    kind: 'hold_created',
    amount,
    expires_at: isoTimestamp(expiresAtMs),
    hold_id: holdId,
    key_id: key.keyId,
    submission_hash: payloadHash,
    to_account_id: toAccountId,
  })
  const { accountId } = account
  const createdAtMs = turn.timeMs
  const terms = { accountId, toAccountId, tokenId, amount, metadata, expiresAtMs, createdAtMs }
  turn.send(holdAddress(holdId), { type: 'open_hold', ...terms })
  return { ...turn.done(), answer: 'deferred' }
}

/** H1. */
export function concludeOpening(turn: Turn, { holdId, hold: view }: AccountCommandOf<'hold_opened'>): void {
  const { tokenId, toAccountId } = view
  const hold = paymentHoldOf(turn, { holdId, tokenId, toAccountId })
  const { opening } = hold
  invariant(opening !== null, `H1: the hold ${holdId} was opened twice`)
  const { idempotencyKey, payloadHash, acceptedUnder } = opening
  turn.keep({ ...hold, opening: null })
  turn.note({
    kind: 'operation_recorded',
    operation: {
      accountId: turn.before.accountId,
      operation: 'hold',
      idempotencyKey,
      payloadHash,
      keyId: acceptedUnder.keyId,
      answer: { hold: view, payloadHash },
      atMs: turn.timeMs,
    },
    acceptedUnder,
  })
  const use = { operation: 'hold', idempotencyKey } as const
  turn.note({ kind: 'concluded', answer: { kind: 'hold_created', hold: view, payloadHash, ...FIRST }, use })
}

/** Its beneficiary has kept room: nothing refuses the value. */
export function payCapture(turn: Turn, command: AccountCommandOf<'pay_capture'>): void {
  const { holdId, tokenId, txnId, toAccountId, amount, metadata, releases, ends } = command
  const hold = paymentHoldOf(turn, command)
  const quantity = parseQuantity(amount)
  turn.change(tokenId, { balance: -quantity, reserved: -quantity })
  const { txnId: counterTxnId } = carriedOut(turn, {
    type: 'transfer',
    amount,
    tokenId,
    groupId: null,
    cause: `capture ${txnId}`,
    metadata,
    toAccountId,
    counterTxnId: txnId,
    holdId,
  })
  reduce(turn, hold, quantity, ends && parseQuantity(releases) === 0n)
  // The value has left this balance, and is in the beneficiary's once that account handles the message.
  turn.send(accountAddress(toAccountId), { type: 'conclude_transfer', txnId, failure: null, counterTxnId }, [
    { tokenId, quantity: amount },
  ])
  if (parseQuantity(releases) === 0n) return
  free(turn, { holdId, tokenId, toAccountId, cause: 'hold_released', amount: releases, reason: null })
}

export function freeHold(turn: Turn, command: AccountCommandOf<'free_hold'>): void {
  free(turn, command)
}

type Freeing = Pick<AccountCommandOf<'free_hold'>, 'cause' | 'amount' | 'reason'> & Terms

/** Ends the hold: what remained of it is available again. */
function free(turn: Turn, freeing: Freeing): void {
  const { holdId, cause, amount, reason } = freeing
  const hold = paymentHoldOf(turn, freeing)
  const quantity = parseQuantity(amount)
  turn.change(hold.tokenId, { reserved: -quantity })
  reduce(turn, hold, quantity, true)
  enterMovement(turn, hold.tokenId, {
    kind: cause,
    amount,
    hold_id: holdId,
    ...(reason === null ? undefined : { reason }),
    to_account_id: hold.toAccountId,
  })
}

/** H2. */
function reduce(turn: Turn, hold: PaymentHold, by: Quantity, ends: boolean): void {
  const remaining = parseQuantity(hold.remaining) - by
  invariant(remaining >= 0n && ends === (remaining === 0n), `H2: the hold ${hold.holdId} and its payer disagree`)
  if (ends) turn.letGo(hold)
  else turn.keep({ ...hold, remaining: formatQuantity(remaining) })
}

type Terms = Pick<PaymentHold, 'holdId' | 'tokenId' | 'toAccountId'>

function paymentHoldOf(turn: Turn, { holdId, tokenId, toAccountId }: Terms): PaymentHold {
  const hold = turn.hold(holdId)
  invariant(hold?.kind === 'payment', `H2: ${holdId} was decided and is no hold of the account`)
  const isSame = hold.tokenId === tokenId && hold.toAccountId === toAccountId
  invariant(isSame, `H2: the hold ${holdId} was decided for another beneficiary or asset`)
  return hold
}
