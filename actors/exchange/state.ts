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
  readonly lastTimeMs: number
  /** When the first of them expires. */
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
