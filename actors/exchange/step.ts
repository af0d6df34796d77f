/**
 * Pairs the exchanges of one group ID: both sides complete in one decision, or both have failed.
 *   X1. What is offered here is reserved at its account, with room for what it brings: nothing refuses a completion.
 *   X2. An offer is concluded once: paired, or given up when its time has come.
 * Pure: time and ids arrive in the command, effects leave as data.
 */
import type { Effect } from '../account/outcome.ts'
import { failure, type FailureCode } from '../account/transaction.ts'
import type { ActorStepResult, DueCommand, Heard } from '../actor-step.ts'
import { accountAddress } from '../address.ts'
import type { ExchangeMessage, ExchangeSide } from '../message.ts'
import { parseQuantity } from '../money.ts'
import type { ExchangeOffer, ExchangeState } from './state.ts'

export type ExchangeCommand = Heard<ExchangeMessage> | DueCommand

/** Offers that wait under one group ID. */
export const MAX_OFFERS = 64

export function stepExchange(
  exchange: ExchangeState | null,
  id: string,
  command: ExchangeCommand,
): ActorStepResult<ExchangeState> {
  const timeMs = Math.max(command.atMs, exchange?.lastTimeMs ?? 0)
  const offers = exchange?.offers ?? []
  const late = offers.filter(({ expiresAtMs }) => expiresAtMs <= timeMs)
  if (command.type === 'due' && late.length === 0) return { kind: 'answered', answer: null }
  const waiting = offers.filter((offer) => !late.includes(offer))
  const effects = late.map((offer) => refused(offer, 'exchange_expired'))
  const left = command.type === 'due' ? waiting : take(waiting, command, timeMs, effects)
  if (left.length === 0) return { kind: 'stepped', state: null, effects, answer: null }
  const state: ExchangeState = {
    kind: 'exchange',
    format: 1,
    id,
    version: (exchange?.version ?? 0) + 1,
    offers: left,
    lastTimeMs: timeMs,
    dueAtMs: Math.min(...left.map(({ expiresAtMs }) => expiresAtMs)),
  }
  return { kind: 'stepped', state, effects, answer: null }
}

/** Pairs the offer, keeps it, or gives it up. Returns what waits then. */
function take(
  waiting: readonly ExchangeOffer[],
  offer: ExchangeOffer,
  timeMs: number,
  effects: Effect[],
): readonly ExchangeOffer[] {
  const { txnId, accountId, toAccountId, gives, receives, expiresAtMs } = offer
  const fresh: ExchangeOffer = { txnId, accountId, toAccountId, gives, receives, expiresAtMs }
  if (expiresAtMs <= timeMs) {
    effects.push(refused(fresh, 'exchange_expired'))
    return waiting
  }
  const mirror = waiting.find((other) => isMirror(other, fresh))
  if (mirror !== undefined) {
    effects.push(completed(mirror, fresh.txnId), completed(fresh, mirror.txnId))
    return waiting.filter((other) => other !== mirror)
  }
  if (waiting.length >= MAX_OFFERS) {
    effects.push(refused(fresh, 'exchange_limit'))
    return waiting
  }
  return [...waiting, fresh]
}

function isMirror(a: ExchangeOffer, b: ExchangeOffer): boolean {
  return (
    a.accountId === b.toAccountId &&
    a.toAccountId === b.accountId &&
    isSame(a.gives, b.receives) &&
    isSame(a.receives, b.gives)
  )
}

/** Amounts compare by value. */
function isSame(a: ExchangeSide, b: ExchangeSide): boolean {
  return a.tokenId === b.tokenId && parseQuantity(a.amount).equals(parseQuantity(b.amount))
}

function completed({ accountId, txnId, gives, receives }: ExchangeOffer, counterTxnId: string): Effect {
  return {
    kind: 'message_sent',
    envelope: {
      to: accountAddress(accountId),
      message: { type: 'conclude_exchange', txnId, failure: null, counterTxnId },
      carries: [
        { tokenId: gives.tokenId, quantity: `-${gives.amount}` },
        { tokenId: receives.tokenId, quantity: receives.amount },
      ],
    },
  }
}

function refused({ accountId, txnId }: ExchangeOffer, code: FailureCode): Effect {
  return {
    kind: 'message_sent',
    envelope: {
      to: accountAddress(accountId),
      message: { type: 'conclude_exchange', txnId, failure: failure(code), counterTxnId: null },
      carries: [],
    },
  }
}
