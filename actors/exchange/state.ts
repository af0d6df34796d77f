/** The exchanges that wait for their mirror under one group ID. Plain JSON. */
import type { ExchangeSide } from '../message.ts'

/** `waiting`: offers wait, for their mirror or for an NFT; `expired`: none does, and the mirrors of expired offers fail. */
export type ExchangeStatus = 'waiting' | 'expired'

/** Everything of the exchanges but their status, which their machine knows. */
export interface ExchangeData {
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

export interface ExchangeState extends ExchangeData {
  readonly status: ExchangeStatus
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
