/** Steps that break one rule of arrivals, departures or erasure each, and keep all others. */
import type { AccountState, ArrivalHold } from '../../actors/account/state.ts'
import { ARRIVAL_HOLD_ID } from '../../actors/account/state.ts'
import { parseQuantity, ZERO } from '../../actors/money.ts'
import { type AnyState, type StepActor, stepActor } from '../../actors/step-actor.ts'

export type ArrivalMutation =
  /** What has been taken is taken once more when that is asked again. */
  | 'takes_twice'
  /** What nobody has asked the other ledger's keys about counts as not used there. */
  | 'trusts_unasked'
  /** An account that exists is said to be held. */
  | 'holds_existing'
  /** No room is kept for what is held. */
  | 'holds_without_room'
  /** An account that is on its way can be registered. */
  | 'claims_held'
  /** An account that an import drops is nobody's, whatever was issued in its name. */
  | 'frees_issuers'
  /** An account that is not frozen may leave. */
  | 'departs_unfrozen'
  /** An erased account is as a closed one. */
  | 'forgets_erasure'

/** What was held when it was taken, by account and import: an import has an ID of its own in every run. */
const taken = new Map<string, ArrivalHold>()

const takingTwice: StepActor = (actor, state, command, evidence) => {
  if (command.type !== 'take_arrival' || !isAccount(state)) return stepActor(actor, state, command, evidence)
  const name = `${actor.id} ${command.importId}`
  const hold = state.holds.get(ARRIVAL_HOLD_ID)
  if (hold?.kind === 'arrival') {
    taken.set(name, hold)
    return stepActor(actor, state, command, evidence)
  }
  const again = taken.get(name)
  if (again === undefined || state.status !== 'active') return stepActor(actor, state, command, evidence)
  return stepActor(actor, withRoom(state, again, 1), command, evidence)
}

/** As it was when it was held. */
function withRoom(account: AccountState, hold: ArrivalHold, sign: 1 | -1): AccountState {
  const balances = new Map(account.balances)
  for (const [tokenId, amount] of Object.entries(hold.account.balances)) {
    const held = balances.get(tokenId)
    if (held !== undefined) balances.set(tokenId, { ...held, room: held.room.plus(parseQuantity(amount).times(sign)) })
  }
  const nftRoom = account.nftRoom + sign * hold.account.nfts
  return { ...account, balances, nftRoom, holds: new Map([...account.holds, [ARRIVAL_HOLD_ID, hold]]) }
}

const trustingUnasked: StepActor = (actor, state, command, evidence) =>
  stepActor(actor, state, command, { ...evidence, usedElsewhere: evidence.usedElsewhere ?? false })

const holdingExisting: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  const answer = outcome.kind === 'answered' ? outcome.answer : null
  const isRefused = answer !== null && answer !== 'deferred' && answer.kind === 'refused'
  if (command.type !== 'hold_arrival' || !isRefused || !isAccount(state)) return outcome
  return { kind: 'answered', answer: { kind: 'arrival', state: 'held' } }
}

const holdingWithoutRoom: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  if (command.type !== 'hold_arrival' || outcome.kind !== 'stepped' || !isAccount(outcome.state)) return outcome
  const before = isAccount(state) ? state.balances : new Map()
  const balances = new Map(
    [...outcome.state.balances].map(([tokenId, held]) => [
      tokenId,
      { ...held, room: (before.get(tokenId) ?? { room: ZERO }).room },
    ]),
  )
  return { ...outcome, state: { ...outcome.state, balances } }
}

const claimingHeld: StepActor = (actor, state, command, evidence) => {
  const hold = isAccount(state) ? state.holds.get(ARRIVAL_HOLD_ID) : undefined
  if (command.type !== 'register' || !isAccount(state) || hold === undefined) {
    return stepActor(actor, state, command, evidence)
  }
  const free = { ...state, holds: new Map([...state.holds].filter(([id]) => id !== ARRIVAL_HOLD_ID)) }
  const outcome = stepActor(actor, free, command, evidence)
  if (outcome.kind !== 'stepped' || !isAccount(outcome.state)) return outcome
  return { ...outcome, state: { ...outcome.state, holds: state.holds } }
}

const freeingIssuers: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  const isDropped = command.type === 'drop_arrival' && outcome.kind === 'stepped' && isAccount(outcome.state)
  if (!isDropped || outcome.state.key !== null || outcome.state.sequence > 0) return outcome
  const { arrived: _arrived, issues: _issues, ...name } = outcome.state
  return { ...outcome, state: { ...name, registeredBy: '' } }
}

const departingUnfrozen: StepActor = (actor, state, command, evidence) => {
  const isAwake = command.type === 'depart' && isAccount(state) && state.status === 'active'
  return stepActor(actor, isAwake ? { ...state, status: 'frozen' } : state, command, evidence)
}

const forgettingErasure: StepActor = (actor, state, command, evidence) => {
  const isSigned = 'signature' in command && isAccount(state) && state.status === 'erased'
  return stepActor(actor, isSigned ? { ...state, status: 'closed' } : state, command, evidence)
}

export const ARRIVAL_MUTATIONS: Readonly<Record<ArrivalMutation, StepActor>> = {
  takes_twice: takingTwice,
  trusts_unasked: trustingUnasked,
  holds_existing: holdingExisting,
  holds_without_room: holdingWithoutRoom,
  claims_held: claimingHeld,
  frees_issuers: freeingIssuers,
  departs_unfrozen: departingUnfrozen,
  forgets_erasure: forgettingErasure,
}

function isAccount(state: AnyState | null): state is AccountState {
  return state !== null && 'balances' in state
}
