/** State of a hold (D25): value of a payer that its beneficiary may capture. Plain JSON, quantities as decimal strings. */
import type { CommandBase } from '../account/commands.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { DueCommand } from '../define-actor.ts'
import type { HoldMessage, Stamp } from '../message.ts'
import { formatQuantity, parseQuantity, type Quantity } from '../money.ts'

/** `captured`: nothing remains. All but `active` are final. */
export const HOLD_STATUSES = ['active', 'captured', 'released', 'expired'] as const
export type HoldStatus = (typeof HOLD_STATUSES)[number]

export interface HoldData {
  readonly kind: 'hold'
  readonly format: 1
  /** `hld_` and a ULID. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  /** The payer. */
  readonly accountId: string
  /** The beneficiary. */
  readonly toAccountId: string
  readonly tokenId: string
  readonly amount: string
  /** The sum of its captures. */
  readonly captured: string
  /** Of an active hold only: an ended hold keeps no text of its payer, whose account may be erased. */
  readonly metadata: JsonObject | null
  readonly expiresAtMs: number
  readonly createdAtMs: number
  /** null while it is active. */
  readonly endedAtMs: number | null
  readonly lastTimeMs: number
  /** When it expires; null once it has ended. */
  readonly dueAtMs: number | null
}

export interface HoldState extends HoldData {
  readonly status: HoldStatus
}

export interface HoldView extends Pick<
  HoldData,
  'accountId' | 'toAccountId' | 'tokenId' | 'metadata' | 'expiresAtMs' | 'createdAtMs' | 'endedAtMs'
> {
  readonly holdId: string
  readonly status: HoldStatus
  readonly amount: string
  readonly captured: string
  /** The part that can still be captured; 0 once the hold has ended. */
  readonly remaining: string
}

/** An administrator ends the hold. */
export interface ReleaseHoldCommand extends CommandBase {
  readonly type: 'force_release'
  readonly reason: string
}

export type HoldCommand = ReleaseHoldCommand | (HoldMessage & Stamp) | DueCommand
export type HoldCommandOf<Type extends HoldCommand['type']> = Extract<HoldCommand, { readonly type: Type }>

/** Captured or not: the part of an active hold that the payer still has on hold. */
export function remainingOf({ amount, captured }: Pick<HoldData, 'amount' | 'captured'>): Quantity {
  return parseQuantity(amount) - parseQuantity(captured)
}

/** Quantities in minimal form (D4). */
export function holdViewOf(hold: HoldState): HoldView {
  return holdViewAs(hold, hold.status)
}

export function holdViewAs(hold: HoldData, status: HoldStatus): HoldView {
  return {
    holdId: hold.id,
    status,
    accountId: hold.accountId,
    toAccountId: hold.toAccountId,
    tokenId: hold.tokenId,
    amount: formatQuantity(parseQuantity(hold.amount)),
    captured: formatQuantity(parseQuantity(hold.captured)),
    remaining: status === 'active' ? formatQuantity(remainingOf(hold)) : '0',
    metadata: hold.metadata,
    expiresAtMs: hold.expiresAtMs,
    createdAtMs: hold.createdAtMs,
    endedAtMs: hold.endedAtMs,
  }
}
