/** Steps that break one rule of the actors each, and keep all others. */
import { type AccountState, type Balance, NOTHING_HELD } from '../../actors/account/state.ts'
import type { CompensableTransaction } from '../../actors/account/transaction.ts'
import { LARGEST, ZERO } from '../../actors/money.ts'
import { type AnyCommand, type AnyState, type StepActor, stepActor, type StepOutcome } from '../../actors/step-actor.ts'
import { ARRIVAL_MUTATIONS, type ArrivalMutation } from './cluster-mutations-arrivals.ts'

export type DomainMutation =
  | ArrivalMutation
  /** What comes can be spent before its group has settled. */
  | 'spends_incoming'
  /** A compensation does not look at what has been compensated, or is being. */
  | 'compensates_unmarked'
  /** An NFT that is held for one is handed to the next. */
  | 'moves_held'
  /** What an idempotency key did before is not looked at. */
  | 'ignores_keys'
  /** The room that is kept for what may come, or come back, is given away. */
  | 'gives_room_away'
  /** An expected leg reserves room for its amount. */
  | 'reserves_expectations'
  /** An account without room for a leg refuses it before the account has signed it. */
  | 'reveals_room'
  /** What is set aside can be spent once more. */
  | 'spends_reserved'
  /** A signature that was not checked under the key in force is taken for good. */
  | 'trusts_unchecked'
  /** A time that was overtaken is believed. */
  | 'believes_old_times'
  /** What undoes a transaction does not wait until that has a row. */
  | 'undoes_what_is_new'

const spendingIncoming: StepActor = (actor, state, command, evidence) => {
  const plain = stepActor(actor, state, command, evidence)
  if (command.type !== 'submit' || !isAccount(state) || !lacksFunds(plain)) return plain
  const rich = withBalances(state, (held) => ({ ...held, balance: held.balance.plus(held.incoming) }))
  return changed(stepActor(actor, rich, command, evidence), (after) =>
    withBalances(after, (held, tokenId) => {
      const lent = state.balances.get(tokenId)?.incoming ?? ZERO
      const left = held.balance.minus(lent)
      return { ...held, balance: left.lessThan(held.reserved) ? held.reserved : left }
    }),
  )
}

const compensatingUnmarked: StepActor = (actor, state, command, evidence) => {
  if (command.type !== 'compensate' || !isAccount(state)) return stepActor(actor, state, command, evidence)
  const hidden = [...state.holds].filter(([, hold]) => hold.kind === 'pending' && hold.transaction.compensates !== null)
  const blind = { ...state, holds: new Map([...state.holds].filter((entry) => !hidden.includes(entry))) }
  const { transaction: found } = evidence
  const transaction: CompensableTransaction | undefined =
    found === undefined ? undefined : { ...found, compensatedBy: null }
  return changed(stepActor(actor, blind, command, { ...evidence, transaction }), (after) => ({
    ...after,
    holds: new Map([...hidden, ...after.holds]),
  }))
}

const movingHeld: StepActor = (actor, state, command, evidence) => {
  const moves = command.type === 'move_nft' || command.type === 'hold_nft' || command.type === 'burn_nft'
  if (!moves || state === null || !('kind' in state) || state.kind !== 'instance' || state.status !== 'held') {
    return stepActor(actor, state, command, evidence)
  }
  return stepActor(actor, { ...state, status: 'active', hold: null }, command, evidence)
}

const ignoringKeys: StepActor = (actor, state, command, evidence) =>
  stepActor(actor, state, command, { ...evidence, earlier: undefined })

const givingRoomAway: StepActor = (actor, state, command, evidence) => {
  if (!isAccount(state) || !takesValue(command)) return stepActor(actor, state, command, evidence)
  const roomy = withBalances(state, (held) => ({ ...held, room: ZERO }))
  return changed(stepActor(actor, roomy, command, evidence), (after) =>
    withBalances(after, (held, tokenId) => ({
      ...held,
      room: held.room.plus(state.balances.get(tokenId)?.room ?? ZERO),
    })),
  )
}

/** Anew: nothing of what room is kept for already is used by it. */
function takesValue(command: AnyCommand): boolean {
  return command.type === 'receive_transfer' || (command.type === 'submit' && command.submission.termsHash === null)
}

const reservingExpectations: StepActor = (actor, state, command, evidence) => {
  const plain = stepActor(actor, state, command, evidence)
  if (command.type !== 'expect_leg' || command.terms.type !== 'credit') return plain
  const { amount, tokenId } = command.terms
  const roomy = changed(plain, (after) => {
    const held = after.balances.get(tokenId) ?? NOTHING_HELD
    return { ...after, balances: new Map([...after.balances, [tokenId, { ...held, room: held.room.plus(amount) }]]) }
  })
  return roomy.kind === 'stepped'
    ? { ...roomy, effects: [...roomy.effects, { kind: 'balance_changed', tokenId }] }
    : roomy
}

/** The refusal has the form of a closed account's refusal. */
const revealingRoom: StepActor = (actor, state, command, evidence) => {
  if (command.type !== 'expect_leg' || command.terms.type !== 'credit' || !isAccount(state)) {
    return stepActor(actor, state, command, evidence)
  }
  const { balance } = state.balances.get(command.terms.tokenId) ?? { balance: ZERO }
  const hasRoom = !balance.plus(command.terms.amount).greaterThan(LARGEST)
  const outcome = stepActor(actor, state, command, evidence)
  if (hasRoom || outcome.kind !== 'stepped') return outcome
  const refused = { code: 'balance_limit', detail: '' } as const
  const effects = outcome.effects.flatMap((effect) => {
    if (effect.kind !== 'message_sent' || effect.envelope.message.type !== 'leg_expected') return []
    return [{ ...effect, envelope: { ...effect.envelope, message: { ...effect.envelope.message, refused } } }]
  })
  return {
    ...outcome,
    state: { ...state, version: state.version + 1, lastTimeMs: Math.max(state.lastTimeMs, command.atMs) },
    effects,
  }
}

const spendingReserved: StepActor = (actor, state, command, evidence) => {
  const spends = command.type === 'submit' && command.submission.termsHash === null
  if (!isAccount(state) || !spends) return stepActor(actor, state, command, evidence)
  const free = withBalances(state, (held) => ({ ...held, reserved: ZERO }))
  return changed(stepActor(actor, free, command, evidence), (after) =>
    withBalances(after, (held, tokenId) => ({
      ...held,
      reserved: held.reserved.plus(state.balances.get(tokenId)?.reserved ?? ZERO),
    })),
  )
}

const trustingUnchecked: StepActor = (actor, state, command, evidence) =>
  stepActor(actor, state, command, {
    ...evidence,
    verdict: (keyId, signature) => evidence.verdict(keyId, signature) ?? true,
  })

const believingOldTimes: StepActor = (actor, state, command, evidence) => {
  const isOfGroup = state !== null && 'kind' in state && state.kind === 'group'
  if (command.type !== 'due' || !isOfGroup) return stepActor(actor, state, command, evidence)
  return stepActor(actor, { ...state, dueAtMs: command.dueAtMs }, command, evidence)
}

/** Whoever looks for such an effect among these finds none. */
class Unseen<T> extends Array<T> {
  override some(): boolean {
    return false
  }
}

const undoingWhatIsNew: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  return outcome.kind === 'stepped' ? { ...outcome, effects: Unseen.from(outcome.effects) } : outcome
}

export const DOMAIN_MUTATIONS: Readonly<Record<DomainMutation, StepActor>> = {
  spends_incoming: spendingIncoming,
  compensates_unmarked: compensatingUnmarked,
  moves_held: movingHeld,
  ignores_keys: ignoringKeys,
  gives_room_away: givingRoomAway,
  reserves_expectations: reservingExpectations,
  reveals_room: revealingRoom,
  spends_reserved: spendingReserved,
  trusts_unchecked: trustingUnchecked,
  believes_old_times: believingOldTimes,
  undoes_what_is_new: undoingWhatIsNew,
  ...ARRIVAL_MUTATIONS,
}

function lacksFunds(outcome: StepOutcome): boolean {
  if (outcome.kind !== 'stepped') return false
  return outcome.effects.some(
    (effect) => effect.kind === 'transaction_entered' && effect.transaction.failure?.code === 'insufficient_funds',
  )
}

function isAccount(state: AnyState | null): state is AccountState {
  return state !== null && 'balances' in state
}

function changed(outcome: StepOutcome, change: (account: AccountState) => AccountState): StepOutcome {
  if (outcome.kind !== 'stepped' || !isAccount(outcome.state)) return outcome
  return { ...outcome, state: change(outcome.state) }
}

function withBalances(account: AccountState, change: (held: Balance, tokenId: string) => Balance): AccountState {
  const balances = new Map([...account.balances].map(([tokenId, held]) => [tokenId, change(held, tokenId)] as const))
  return { ...account, balances }
}
