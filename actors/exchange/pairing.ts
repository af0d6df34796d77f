/**
 * Pairs the exchanges of one group ID: both sides complete in one decision, or both fail.
 *   X1. An offered asset is reserved at its account or held by its NFT's home, and its account has room for the asset
 *       to receive: nothing refuses a completion.
 *   X2. An offer is concluded once: paired or expired.
 *   X3. The NFTs of a pair change hands before either side is notified.
 *   X4. The mirror of an expired offer fails at once and reserves nothing: its pair can never complete.
 */
import { type Effect, sent } from '../account/outcome.ts'
import { failure, type FailureCode } from '../account/transaction.ts'
import { accountAddress, instanceAddress } from '../address.ts'
import type { Change } from '../define-actor.ts'
import type { ExchangeSide } from '../message.ts'
import { parseQuantity } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { ExchangeCommand, ExchangeData, ExchangeOffer, ExchangePair } from './state.ts'

/** Limit on offers that wait under one group ID, for a mirror or for the transfer of an NFT. */
export const MAX_OFFERS = 64

/** Time in which the mirror of an expired offer fails at once; later it waits for another mirror until it expires. */
export const REMEMBERED_MS = 86_400_000

interface Waiting {
  readonly offers: readonly ExchangeOffer[]
  readonly pairs: readonly ExchangePair[]
  readonly expired: readonly ExchangeOffer[]
}

interface Outcome extends Waiting {
  readonly effects: readonly Effect[]
}

/** The offers and pairs after the command. */
export function outcomeOf(exchange: ExchangeData | null, command: ExchangeCommand, id: string): Outcome {
  const timeMs = timeOf(exchange, command)
  const { offers = [], pairs = [], expired = [] } = exchange ?? {}
  const late = offers.filter(({ expiresAtMs }) => expiresAtMs <= timeMs)
  const effects = late.map((offer) => refused(offer, 'exchange_expired'))
  const waiting = {
    offers: offers.filter((offer) => !late.includes(offer)),
    pairs,
    expired: remembered([...expired, ...late], timeMs),
  }
  return { ...heard(waiting, id, command, timeMs, effects), effects }
}

/** Within an actor time never goes back. */
export function timeOf(exchange: ExchangeData | null, { atMs }: ExchangeCommand): number {
  return Math.max(atMs, exchange?.lastTimeMs ?? 0)
}

/** `data` is null if nothing is left. */
export function exchanged(exchange: ExchangeData | null, command: ExchangeCommand, id: string): Change<ExchangeData> {
  const { effects, ...left } = outcomeOf(exchange, command, id)
  const times = [...left.offers.map(({ expiresAtMs }) => expiresAtMs), ...left.expired.map(deletedAtMs)]
  if (times.length === 0 && left.pairs.length === 0) return { data: null, effects }
  const data: ExchangeData = {
    kind: 'exchange',
    format: 1,
    id,
    version: (exchange?.version ?? 0) + 1,
    ...left,
    lastTimeMs: timeOf(exchange, command),
    dueAtMs: times.length === 0 ? null : Math.min(...times),
  }
  return { data, effects }
}

function remembered(expired: readonly ExchangeOffer[], timeMs: number): readonly ExchangeOffer[] {
  return expired.filter((offer) => deletedAtMs(offer) > timeMs).slice(-MAX_OFFERS)
}

function deletedAtMs({ expiresAtMs }: ExchangeOffer): number {
  return expiresAtMs + REMEMBERED_MS
}

function heard(waiting: Waiting, id: string, command: ExchangeCommand, timeMs: number, effects: Effect[]): Waiting {
  switch (command.type) {
    case 'due':
      return waiting
    case 'offer_exchange':
      return take(waiting, id, command, timeMs, effects)
    case 'nft_delivered':
      return { ...waiting, pairs: delivered(waiting.pairs, command.txnId, effects) }
  }
}

/** Pairs, keeps or refuses the offer. */
function take(waiting: Waiting, id: string, offer: ExchangeOffer, timeMs: number, effects: Effect[]): Waiting {
  const { offers, pairs, expired } = waiting
  const { txnId, accountId, toAccountId, gives, receives, expiresAtMs } = offer
  const fresh: ExchangeOffer = { txnId, accountId, toAccountId, gives, receives, expiresAtMs }
  const mirror = expiresAtMs <= timeMs ? undefined : offers.find((other) => isMirror(other, fresh))
  if (mirror !== undefined) {
    const left = offers.filter((other) => other !== mirror)
    return { offers: left, pairs: [...pairs, ...paired([mirror, fresh], id, effects)], expired }
  }
  const isLate = expiresAtMs <= timeMs
  if (isLate || expired.some((other) => isMirror(other, fresh))) {
    effects.push(refused(fresh, 'exchange_expired'))
    return isLate ? { ...waiting, expired: remembered([...expired, fresh], timeMs) } : waiting
  }
  if (offers.length + pairs.length >= MAX_OFFERS) {
    effects.push(refused(fresh, 'exchange_limit'))
    return waiting
  }
  return { offers: [...offers, fresh], pairs, expired }
}

/** Completes both sides, or first orders the transfer of their NFTs (X3). Returns the pair that then waits. */
function paired(
  sides: readonly [ExchangeOffer, ExchangeOffer],
  id: string,
  effects: Effect[],
): readonly ExchangePair[] {
  const nfts = sides.filter(({ gives }) => isNft(gives.tokenId))
  if (nfts.length === 0) {
    complete(sides, effects)
    return []
  }
  for (const { txnId, toAccountId, gives } of nfts) {
    const message = { type: 'deliver_nft', txnId, toAccountId, exchangeId: id } as const
    effects.push(sent(instanceAddress(gives.tokenId), message))
  }
  return [{ sides, delivering: nfts.map(({ txnId }) => txnId) }]
}

function delivered(pairs: readonly ExchangePair[], txnId: string, effects: Effect[]): readonly ExchangePair[] {
  const pair = pairs.find(({ delivering }) => delivering.includes(txnId))
  invariant(pair !== undefined, `X3: the NFT of ${txnId} changed hands without an order`)
  const delivering = pair.delivering.filter((other) => other !== txnId)
  if (delivering.length === 0) complete(pair.sides, effects)
  return pairs.flatMap((other) => {
    if (other !== pair) return [other]
    return delivering.length === 0 ? [] : [{ ...pair, delivering }]
  })
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
  return a.tokenId === b.tokenId && parseQuantity(a.amount) === parseQuantity(b.amount)
}

function complete([a, b]: readonly [ExchangeOffer, ExchangeOffer], effects: Effect[]): void {
  effects.push(completed(a, b.txnId), completed(b, a.txnId))
}

function completed({ accountId, txnId, gives, receives }: ExchangeOffer, counterTxnId: string): Effect {
  const message = { type: 'conclude_exchange', txnId, failure: null, counterTxnId } as const
  const carries = [
    { tokenId: gives.tokenId, quantity: `-${gives.amount}` },
    { tokenId: receives.tokenId, quantity: receives.amount },
  ]
  const fungible = carries.filter(({ tokenId }) => !isNft(tokenId))
  return sent(accountAddress(accountId), message, fungible)
}

function refused({ accountId, txnId }: ExchangeOffer, code: FailureCode): Effect {
  return sent(accountAddress(accountId), {
    type: 'conclude_exchange',
    txnId,
    failure: failure(code),
    counterTxnId: null,
  })
}
