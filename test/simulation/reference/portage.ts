/**
 * An account's expected answers about arrivals, departures and erasure in one of its states, without any of the
 * ledger's code.
 */
import type { Answer } from '../../../actors/account/outcome.ts'
import type { ArrivedFrom } from '../../../actors/arrival.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { unitsOf } from './fields.ts'
import { LARGEST, NO_FUNDS } from './funds.ts'
import type { Expected, ModelState } from './model.ts'
import { isUnclaimed, refusedFor } from './rules.ts'

export type ArrivalOperation = Extract<
  Operation,
  { readonly kind: 'hold_arrival' | 'note_used_keys' | 'take_arrival' | 'drop_arrival' }
>
export type PortageOperation = ArrivalOperation | Extract<Operation, { readonly kind: 'depart' | 'erase' }>

/** The hold of an import. */
export interface HeldArrival extends ArrivedFrom {
  /** The number of parts of used keys that were noted. */
  readonly keyParts: number
}

/** The origin of an account. `whole`: it arrived with its holdings; otherwise only as an issuer. */
export interface Origin extends ArrivedFrom {
  readonly whole: boolean
}

const EFFECT: Expected = { kind: 'effect' }

export function isPortage(operation: Operation): operation is PortageOperation {
  switch (operation.kind) {
    case 'hold_arrival':
    case 'note_used_keys':
    case 'take_arrival':
    case 'drop_arrival':
    case 'depart':
    case 'erase':
      return true
    default:
      return false
  }
}

/** `effect` means to do it, or to confirm that it is done. */
export function judgePortage(
  state: ModelState | undefined,
  role: string,
  operation: PortageOperation,
): readonly Expected[] {
  if (operation.kind === 'erase') return judgeErasure(state)
  if (role !== 'admin') return [refusedFor('not_allowed')]
  switch (operation.kind) {
    case 'hold_arrival':
      return judgeHold(state, operation)
    case 'drop_arrival':
      return [EFFECT]
    case 'take_arrival':
      return [isHeld(state, operation.importId) || hasOrigin(state) ? EFFECT : refusedFor('arrival_not_held')]
    case 'note_used_keys': {
      if (!isHeld(state, operation.importId)) return [hasOrigin(state) ? EFFECT : refusedFor('arrival_not_held')]
      return [operation.part <= (state?.held?.keyParts ?? 0) ? EFFECT : refusedFor('arrival_out_of_order')]
    }
    case 'depart':
      return judgeDeparture(state, operation)
  }
}

/** An account is erased only after the groups have ended the legs that its closing declined. */
function judgeErasure(state: ModelState | undefined): readonly Expected[] {
  if (state === undefined) return [refusedFor('account_not_found')]
  if (state.status === 'erased') return [{ kind: 'unchanged' }]
  if (state.status !== 'closed') return [refusedFor('account_not_closed')]
  if (state.legs.length === 0) return [EFFECT]
  return state.occupied === 'perhaps' ? [EFFECT, refusedFor('account_not_empty')] : [refusedFor('account_not_empty')]
}

function judgeHold(
  state: ModelState | undefined,
  { from, arrival }: Extract<PortageOperation, { readonly kind: 'hold_arrival' }>,
): readonly Expected[] {
  if (state === undefined || arrival.kind !== 'account') return [EFFECT]
  const { held, origin, keyId, status, holdings } = state
  if (arrival.account === null) {
    // The record only makes the account exist as an issuer: another holder of its ID could mint.
    if (origin?.ledgerId === from.ledgerId) return [EFFECT]
    const isFree = keyId === '' && held === null && isUnclaimed({ ...state, occupied: 'no' })
    if (!isFree || state.occupied === 'yes') return [exists()]
    return state.occupied === 'no' ? [EFFECT] : [EFFECT, exists()]
  }
  if (held !== null) return [isSameRecord(held, from) && held.importId === from.importId ? EFFECT : exists()]
  if (origin !== null && origin.whole && isSameRecord(origin, from)) return [EFFECT]
  const isOpen = keyId === '' && origin !== null && !origin.whole && origin.ledgerId === from.ledgerId
  if (!isOpen || status === 'closed' || status === 'erased') return [exists()]
  const isFull = Object.entries(arrival.account.balances).some(([tokenId, amount]) => {
    const { balance, incoming, room } = holdings.get(tokenId) ?? NO_FUNDS
    return balance + incoming + room + unitsOf(amount) > LARGEST
  })
  if (isFull) return [refusedFor('balance_limit')]
  return [EFFECT]
}

function judgeDeparture(
  state: ModelState | undefined,
  { audience, tokenId }: Extract<PortageOperation, { readonly kind: 'depart' }>,
): readonly Expected[] {
  if (state === undefined) return [refusedFor('account_not_found')]
  const { moved, status, busy, holdings } = state
  if (moved !== null && moved !== audience) return [refusedFor('account_departing')]
  if (moved !== null && status === 'closed') return [EFFECT]
  if (status !== 'frozen') return [refusedFor('account_not_frozen')]
  const full = refusedFor('account_not_empty')
  if (busy === 'yes') return [full]
  // In the middle of a commit the holdings are unknown.
  if (busy === 'perhaps') return [full, EFFECT]
  if (tokenId !== null) return [EFFECT]
  return [[...holdings.values()].every(({ balance }) => balance === 0n) ? EFFECT : full]
}

/** Whether an answer about an arrival is true in that state. */
export function isTrueOf(
  state: ModelState | undefined,
  operation: ArrivalOperation,
  { state: said }: Extract<Answer, { kind: 'arrival' }>,
): boolean {
  switch (operation.kind) {
    case 'hold_arrival': {
      if (state === undefined || operation.arrival.kind !== 'account') return false
      if (operation.arrival.account === null) return said === 'present'
      const { held, origin } = state
      const { from } = operation
      if (said === 'held' && state.isMidway) return true
      if (said === 'held') return held !== null && isSameRecord(held, from) && held.importId === from.importId
      return said === 'present' && origin !== null && origin.whole && isSameRecord(origin, from)
    }
    case 'note_used_keys': {
      if (said !== 'noted') return false
      return isHeld(state, operation.importId) ? operation.part < (state?.held?.keyParts ?? 0) : hasOrigin(state)
    }
    case 'take_arrival':
      return said === 'taken' && !isHeld(state, operation.importId) && hasOrigin(state)
    case 'drop_arrival':
      return said === 'dropped' && (state?.isMidway === true || !isHeld(state, operation.importId))
  }
}

function isHeld(state: ModelState | undefined, importId: string): boolean {
  return state !== undefined && state.held !== null && state.held.importId === importId
}

/** An erased account no longer knows its origin, and confirms any origin. */
function hasOrigin(state: ModelState | undefined): boolean {
  return state !== undefined && (state.origin !== null || state.status === 'erased')
}

function isSameRecord(one: ArrivedFrom, other: ArrivedFrom): boolean {
  return one.ledgerId === other.ledgerId && one.recordHash === other.recordHash
}

function exists(): Expected {
  return refusedFor('account_exists')
}
