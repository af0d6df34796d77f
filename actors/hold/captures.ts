/**
 * A hold decides each capture, its release and its expiry; its payer's account only carries them out.
 *   Z1. The captures of a hold never exceed its amount. A hold is one actor: it handles one capture at a time.
 *   Z2. From `open_hold` to its end the hold and its payer's account agree on what remains: every change is a message
 *       that the account cannot refuse, and messages from one home to another arrive in order.
 *   Z3. Only the hold's own clock and timer end it by time. A late timer is safe: a capture compares the time itself.
 */
import { failure, type FailureCode } from '../account/transaction.ts'
import { accountAddress } from '../address.ts'
import { type Change, written } from '../define-actor.ts'
import type { AccountMessage, Stamp } from '../message.ts'
import { formatQuantity, parseQuantity } from '../money.ts'
import { type Effect, sent } from '../account/outcome.ts'
import {
  type HoldCommandOf,
  type HoldData,
  type HoldStatus,
  holdViewAs,
  type ReleaseHoldCommand,
  remainingOf,
} from './state.ts'

type Open = HoldCommandOf<'open_hold'>
type Capture = HoldCommandOf<'capture_hold'>
type Release = HoldCommandOf<'end_hold'>
type HoldChange = Change<HoldData>

interface Context {
  readonly id: string
  readonly status: HoldStatus
}

export function open(command: Open, { id }: Context): HoldChange {
  const { accountId, toAccountId, tokenId, amount, metadata, expiresAtMs, atMs } = command
  const hold: HoldData = {
    kind: 'hold',
    format: 1,
    id,
    version: 1,
    accountId,
    toAccountId,
    tokenId,
    amount,
    captured: '0',
    metadata,
    expiresAtMs,
    createdAtMs: command.createdAtMs,
    endedAtMs: null,
    lastTimeMs: atMs,
    dueAtMs: expiresAtMs,
  }
  const opened = { type: 'hold_opened', holdId: id, hold: holdViewAs(hold, 'active') } as const
  return { data: hold, effects: [sent(accountAddress(accountId), opened)] }
}

/** Z3. */
export function isExpired({ expiresAtMs, lastTimeMs }: HoldData, { atMs }: Stamp): boolean {
  return Math.max(atMs, lastTimeMs) >= expiresAtMs
}

/** Z1. undefined: the capture is accepted. `status`: before it. */
export function captureRefusal(hold: HoldData, status: HoldStatus, command: Capture): FailureCode | undefined {
  // Another account learns nothing of the hold.
  if (command.accountId !== hold.toAccountId || command.tokenId !== hold.tokenId) return 'hold_not_found'
  if (status === 'expired' || (status === 'active' && isExpired(hold, command))) return 'hold_expired'
  if (status !== 'active') return 'hold_not_active'
  // The payer of an ended hold may be erased, and known by another name.
  if (command.fromAccountId !== hold.accountId) return 'hold_not_found'
  return parseQuantity(command.amount) > remainingOf(hold) ? 'hold_exceeded' : undefined
}

/** Whether an accepted capture leaves nothing on hold. */
export function endsWith(hold: HoldData, { amount, final }: Capture): boolean {
  return final || parseQuantity(amount) === remainingOf(hold)
}

export function capture(hold: HoldData, command: Capture, { id, status }: Context): HoldChange {
  const captured = parseQuantity(hold.captured) + parseQuantity(command.amount)
  const rest = parseQuantity(hold.amount) - captured
  const changes = { captured: formatQuantity(captured), ...(status === 'active' ? undefined : ended(hold, command)) }
  const paid: AccountMessage = {
    type: 'pay_capture',
    holdId: id,
    tokenId: hold.tokenId,
    txnId: command.txnId,
    toAccountId: hold.toAccountId,
    amount: command.amount,
    metadata: hold.metadata,
    releases: formatQuantity(status === 'active' ? parseQuantity('0') : rest),
    ends: status !== 'active',
  }
  return { data: written(hold, command, changes), effects: [sent(accountAddress(hold.accountId), paid)] }
}

function ended({ lastTimeMs }: HoldData, { atMs }: Stamp) {
  return { endedAtMs: Math.max(atMs, lastTimeMs), metadata: null, dueAtMs: null }
}

/** An account that is not the beneficiary gets the reply of a hold that does not exist. */
export function refuseCapture(hold: HoldData, command: Capture, { status }: Context): HoldChange {
  return { data: hold, effects: [captureRefused(command, captureRefusal(hold, status, command) ?? 'hold_not_active')] }
}

export function refuseAbsentCapture(command: Capture): HoldChange {
  return { data: null, effects: [captureRefused(command, 'hold_not_found')] }
}

function captureRefused({ accountId, txnId }: Capture, code: FailureCode): Effect {
  const refused = { type: 'conclude_transfer', txnId, failure: failure(code), counterTxnId: null } as const
  return sent(accountAddress(accountId), refused)
}

export function release(hold: HoldData, command: Release, context: Context): HoldChange {
  const { data, effects } = released(hold, command, null)
  return { data, effects: [...effects, releaseTold(data, command, context)] }
}

export function releaseFor(hold: HoldData, command: ReleaseHoldCommand, context: Context): HoldChange {
  const { data, effects } = released(hold, command, command.reason)
  return { data, effects, answer: { kind: 'hold_released', hold: holdViewAs(data, context.status) } }
}

export function expire(hold: HoldData, command: Stamp): HoldChange {
  return freed(hold, command, 'hold_expired', null)
}

function released(hold: HoldData, command: Stamp, reason: string | null) {
  return freed(hold, command, 'hold_released', reason)
}

/** The payer's account gets back what remains. */
function freed(hold: HoldData, command: Stamp, cause: 'hold_released' | 'hold_expired', reason: string | null) {
  const amount = formatQuantity(remainingOf(hold))
  const { id: holdId, tokenId, toAccountId } = hold
  const freeing = { type: 'free_hold', holdId, tokenId, toAccountId, cause, amount, reason } as const
  const data = written(hold, command, ended(hold, command))
  return { data, effects: [sent(accountAddress(hold.accountId), freeing)] }
}

/** Idempotent: a hold that has ended stays as it is. */
export function showEnded(hold: HoldData, command: Release, context: Context): HoldChange {
  return { data: hold, effects: [releaseTold(hold, command, context)] }
}

export function showEndedFor(hold: HoldData, _command: ReleaseHoldCommand, { status }: Context): HoldChange {
  return { data: hold, answer: { kind: 'hold_released', hold: holdViewAs(hold, status) } }
}

function releaseTold(hold: HoldData, { accountId }: Release, { id, status }: Context): Effect {
  return sent(accountAddress(accountId), { type: 'hold_ended', holdId: id, hold: holdViewAs(hold, status) })
}

export function refuseRelease(hold: HoldData, command: Release, { id }: Context): HoldChange {
  return { data: hold, effects: [notFound(command, id)] }
}

export function refuseAbsentRelease(command: Release, { id }: Context): HoldChange {
  return { data: null, effects: [notFound(command, id)] }
}

function notFound({ accountId }: Release, holdId: string): Effect {
  return sent(accountAddress(accountId), { type: 'hold_ended', holdId, hold: null })
}
