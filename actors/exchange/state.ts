/** The exchanges of one group ID. Plain JSON. */
import type { ExchangeDeliveryMessage, ExchangeMessage, ExchangeSide, Stamp } from '../message.ts'
import type { DueCommand } from '../define-actor.ts'

/** `waiting`: offers wait for a mirror or an NFT; `expired`: none waits, and the mirrors of expired offers fail. */
export type ExchangeStatus = 'waiting' | 'expired'

export interface ExchangeData {
  readonly kind: 'exchange'
  readonly format: 1
  /** The group ID. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  /** In order of arrival. */
  readonly offers: readonly ExchangeOffer[]
  /** Paired offers that wait for the transfer of their NFTs. */
  readonly pairs?: readonly ExchangePair[]
  /** Offers that expired within REMEMBERED_MS: their mirrors fail at once. */
  readonly expired?: readonly ExchangeOffer[]
  readonly lastTimeMs: number
  /** When the next offer expires or is deleted. */
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
  /** Transactions whose NFTs have not changed hands. */
  readonly delivering: readonly string[]
}

export type ExchangeCommand = ((ExchangeMessage | ExchangeDeliveryMessage) & Stamp) | DueCommand
