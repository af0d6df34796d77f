/** The exchanges that wait for their mirror under one group ID. Plain JSON. */
import type { ExchangeSide } from '../message.ts'

export interface ExchangeState {
  readonly kind: 'exchange'
  readonly format: 1
  /** The group ID. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  /** In the order in which they came. */
  readonly offers: readonly ExchangeOffer[]
  /** Paired, and waiting for their NFTs to change hands. */
  readonly pairs?: readonly ExchangePair[]
  /** Offers that expired within REMEMBERED_MS: the mirror of one fails at once, since its other side has failed for good. */
  readonly expired?: readonly ExchangeOffer[]
  readonly lastTimeMs: number
  /** When the next offer expires, or an expired one is deleted. */
  readonly dueAtMs: number | null
}

export interface ExchangeOffer {
  readonly txnId: string
  readonly accountId: string
  readonly toAccountId: string
  readonly gives: ExchangeSide
  readonly receives: ExchangeSide
  readonly expiresAtMs: number
}

export interface ExchangePair {
  readonly sides: readonly [ExchangeOffer, ExchangeOffer]
  /** Transactions whose NFTs have not changed hands yet. */
  readonly delivering: readonly string[]
}

/** `expired`: no offer waits, and the mirrors of expired offers fail. */
export function exchangeStatusOf({ offers, pairs = [] }: ExchangeState): 'waiting' | 'expired' {
  return offers.length + pairs.length > 0 ? 'waiting' : 'expired'
}
