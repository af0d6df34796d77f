/**
 * The possible outcomes of a submission by its account's holdings of each asset, in whole units of 10^-18 and without the
 * ledger's code. Messages of other shards in the same commit leave the holdings, and so the outcome, known within bounds.
 */
import type { AccountStatus, IncomingPolicy } from '../../../actors/account/state.ts'
import { isNftAsset, type SignedFields } from './fields.ts'

export const LARGEST = 10n ** 36n - 1n

export interface Funds {
  readonly balance: bigint
  readonly reserved: bigint
  readonly incoming: bigint
  readonly room: bigint
}

export type Holdings = ReadonlyMap<string, Funds>

export const NO_FUNDS: Funds = { balance: 0n, reserved: 0n, incoming: 0n, room: 0n }

/** Lower and upper bounds of the account's available amount, and of the amount that counts against its limit. */
export interface Bounds {
  readonly available: { readonly low: bigint; readonly high: bigint }
  readonly filled: { readonly low: bigint; readonly high: bigint }
}

export type BoundsOf = (tokenId: string) => Bounds

export function exactly(holdings: Holdings): BoundsOf {
  return (tokenId) => {
    const { balance, reserved, incoming, room } = holdings.get(tokenId) ?? NO_FUNDS
    const available = balance - reserved
    const filled = balance + incoming + room
    return { available: { low: available, high: available }, filled: { low: filled, high: filled } }
  }
}

/** Bounds between two holdings, given the amount of each asset that moved in between. */
export function between(before: Holdings, after: Holdings, moved: ReadonlyMap<string, bigint>): BoundsOf {
  return (tokenId) => {
    const [first, last] = [exactly(before)(tokenId), exactly(after)(tokenId)]
    const slack = moved.get(tokenId) ?? 0n
    return {
      available: widest(first.available, last.available, slack),
      filled: widest(first.filled, last.filled, slack),
    }
  }
}

function widest(first: Bounds['available'], last: Bounds['available'], slack: bigint): Bounds['available'] {
  return {
    low: (first.low < last.low ? first.low : last.low) - slack,
    high: (first.high > last.high ? first.high : last.high) + slack,
  }
}

/** The checker of refunds judges whether they hold. */
const REFUND_FAILURES = [
  'refund_original_not_found',
  'refund_mismatch',
  'refund_exceeds_original',
  'already_compensated',
] as const

interface Standing {
  readonly status: AccountStatus
  readonly incoming: IncomingPolicy
}

/** Failure codes that it may get on entry; null: success. */
export function endsOf({ status, incoming }: Standing, fields: SignedFields, of: BoundsOf): ReadonlySet<string | null> {
  const { type, tokenId, units, receive, refunds, holdId, termsHash } = fields
  if (status === 'closed' || status === 'erased') return new Set(['account_closed'])
  if (status === 'frozen' && type !== 'credit') return new Set(['account_frozen'])
  // The NFT's own home decides on its owner.
  if (isNftAsset(tokenId)) {
    if (receive === null || termsHash !== null || isNftAsset(receive.tokenId)) {
      return new Set([receive !== null && incoming === 'refuse' ? 'incoming_refused' : null])
    }
    return incoming === 'refuse' ? new Set(['incoming_refused']) : taking(of(receive.tokenId), receive.units)
  }
  if (termsHash !== null) {
    if (type !== 'credit' && type !== 'mint') return paying(of(tokenId), units, [null])
    return incoming === 'refuse' ? new Set(['incoming_refused']) : taking(of(tokenId), units)
  }
  if (holdId !== null) return incoming === 'refuse' ? new Set(['incoming_refused']) : taking(of(tokenId), units)
  if (refunds !== null) return new Set([...REFUND_FAILURES, ...paying(of(tokenId), units, [null])])
  switch (type) {
    case 'credit':
      return incoming === 'refuse' ? new Set(['incoming_refused']) : taking(of(tokenId), units)
    case 'mint':
      return taking(of(tokenId), units)
    case 'exchange': {
      if (receive === null) return paying(of(tokenId), units, [null])
      const takes = isNftAsset(receive.tokenId) ? [null] : taking(of(receive.tokenId), receive.units)
      const then = incoming === 'refuse' ? ['incoming_refused'] : takes
      return paying(of(tokenId), units, then)
    }
    default:
      return paying(of(tokenId), units, [null])
  }
}

function paying({ available }: Bounds, units: bigint, then: Iterable<string | null>): ReadonlySet<string | null> {
  const ends = new Set<string | null>()
  if (available.low < units) ends.add('insufficient_funds')
  if (available.high >= units) for (const end of then) ends.add(end)
  return ends
}

function taking({ filled }: Bounds, units: bigint): ReadonlySet<string | null> {
  const ends = new Set<string | null>()
  if (filled.high + units > LARGEST) ends.add('balance_limit')
  if (filled.low + units <= LARGEST) ends.add(null)
  return ends
}

/** Whether other actors must decide before it is final. */
export function isDecidedElsewhere({ type, tokenId, toAccountId, refunds, holdId, termsHash }: SignedFields): boolean {
  if (isNftAsset(tokenId)) return true
  if (termsHash !== null) return false
  return type === 'mint' || type === 'burn' || toAccountId !== null || refunds !== null || holdId !== null
}

/** The holdings after a submission that was entered and did not fail. */
export function holdingsAfter(before: Holdings, fields: SignedFields): Holdings {
  const after = new Map(before)
  const add = (tokenId: string, change: Partial<Funds>): void => {
    const held = after.get(tokenId) ?? NO_FUNDS
    after.set(tokenId, {
      balance: held.balance + (change.balance ?? 0n),
      reserved: held.reserved + (change.reserved ?? 0n),
      incoming: held.incoming + (change.incoming ?? 0n),
      room: held.room + (change.room ?? 0n),
    })
  }
  const { type, tokenId, units, receive, holdId, termsHash } = fields
  if (receive !== null && !isNftAsset(receive.tokenId)) add(receive.tokenId, { room: receive.units })
  if (isNftAsset(tokenId)) return after
  if (termsHash !== null) {
    if (type === 'credit' || type === 'mint') add(tokenId, { incoming: units })
    else if (type === 'burn') add(tokenId, { reserved: units })
    else add(tokenId, { balance: -units, room: units })
  } else if (type === 'mint' || holdId !== null) add(tokenId, { room: units })
  else if (isDecidedElsewhere(fields)) add(tokenId, { reserved: units })
  else add(tokenId, { balance: type === 'credit' ? units : -units })
  return after
}

export function isSame(left: Holdings, right: Holdings): boolean {
  for (const tokenId of new Set([...left.keys(), ...right.keys()])) {
    const [one, two] = [left.get(tokenId) ?? NO_FUNDS, right.get(tokenId) ?? NO_FUNDS]
    if (one.balance !== two.balance || one.reserved !== two.reserved) return false
    if (one.incoming !== two.incoming || one.room !== two.room) return false
  }
  return true
}

export function isEmpty(holdings: Holdings): boolean {
  return [...holdings.values()].every(
    ({ balance, reserved, incoming, room }) => balance === 0n && reserved === 0n && incoming === 0n && room === 0n,
  )
}

/** Whether no value is reserved, incoming or kept free. */
export function isAtRest(holdings: Holdings): boolean {
  return [...holdings.values()].every(
    ({ reserved, incoming, room }) => reserved === 0n && incoming === 0n && room === 0n,
  )
}
