/** Actor steps that each break one rule of the actors and keep all others. */
import { type AccountState, ARRIVAL_HOLD_ID, type ArrivalHold, type Balance } from '../../actors/account/state.ts'
import { NOTHING_HELD } from '../../actors/account/state.ts'
import { Balances } from '../../actors/account/balances.ts'
import { Holds } from '../../actors/account/holds.ts'
import type { HoldState } from '../../actors/hold/state.ts'
import { LARGEST, formatQuantity, parseQuantity, ZERO } from '../../actors/money.ts'
import { type AnyCommand, type AnyState, type StepActor, stepActor, type StepOutcome } from '../../actors/step-actor.ts'

/** Steps matching commands of an account on a changed state; `after` restores parts of the resulting state. */
function onAccount(
  concerns: (command: AnyCommand, state: AccountState) => boolean,
  before: (state: AccountState) => AccountState,
  after: (stepped: AccountState, state: AccountState) => AccountState = (stepped) => stepped,
): StepActor {
  return (actor, state, command, evidence) => {
    if (!isAccount(state) || !concerns(command, state)) return stepActor(actor, state, command, evidence)
    return changed(stepActor(actor, before(state), command, evidence), (stepped) => after(stepped, state))
  }
}

/** Spends incoming value before its group has settled. */
const spendingIncoming: StepActor = (actor, state, command, evidence) => {
  const plain = stepActor(actor, state, command, evidence)
  if (command.type !== 'submit' || !isAccount(state) || !lacksFunds(plain)) return plain
  const rich = withBalances(state, (held) => ({ ...held, balance: held.balance + held.incoming }))
  return changed(stepActor(actor, rich, command, evidence), (after) =>
    withBalances(after, (held, tokenId) => {
      const lent = state.balances.get(tokenId)?.incoming ?? ZERO
      const left = held.balance - lent
      return { ...held, balance: left < held.reserved ? held.reserved : left }
    }),
  )
}

/** Settles a leg without an entry in the account's chain. */
const settlingSilently: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  if (command.type !== 'settle_leg' || !isAccount(state) || outcome.kind !== 'stepped') return outcome
  const { sequence, tip } = state
  const effects = outcome.effects.filter(({ kind }) => kind !== 'entry_appended')
  return changed({ ...outcome, effects }, (after) => ({ ...after, sequence, tip }))
}

/** Uses the idempotency key of a dry run, as if it were the order. */
const rehearsingForReal: StepActor = (actor, state, command, evidence) =>
  stepActor(actor, state, command.type === 'dry_run' ? { ...command, type: 'submit' } : command, evidence)

/** Ignores earlier and pending compensations of the same transaction. */
const compensatingUnmarked: StepActor = (actor, state, command, evidence) => {
  if (command.type !== 'compensate' || !isAccount(state)) return stepActor(actor, state, command, evidence)
  const hidden = [...state.holds].filter(([, hold]) => hold.kind === 'pending' && hold.transaction.compensates !== null)
  const blind = {
    ...state,
    holds: Holds.of([...state.holds].filter(([id]) => !hidden.some(([other]) => other === id))),
  }
  const { transaction: found } = evidence
  const transaction = found === undefined ? undefined : { ...found, compensatedBy: null }
  return changed(stepActor(actor, blind, command, { ...evidence, transaction }), (after) => ({
    ...after,
    holds: Holds.of([...hidden, ...after.holds]),
  }))
}

/** Ignores completed refunds of the same transfer. */
const refundingBeyond: StepActor = (actor, state, command, evidence) => {
  const { transaction: found } = evidence
  const transaction = found === undefined || command.type !== 'submit' ? found : { ...found, refunded: null }
  return stepActor(actor, state, command, { ...evidence, transaction })
}

/** Ignores pending refunds of the same transfer. */
const refundingPending: StepActor = (actor, state, command, evidence) => {
  if (command.type !== 'submit' || command.submission.refunds === null || !isAccount(state)) {
    return stepActor(actor, state, command, evidence)
  }
  const hidden = [...state.holds].filter(([, hold]) => hold.kind === 'pending' && hold.transaction.refunds !== null)
  const ids = new Set(hidden.map(([id]) => id))
  const blind = { ...state, holds: Holds.of([...state.holds].filter(([id]) => !ids.has(id))) }
  return changed(stepActor(actor, blind, command, evidence), (after) => ({
    ...after,
    holds: Holds.of([...hidden, ...after.holds]),
  }))
}

/** Steps matching commands of a hold on a changed state; `after` restores parts of the resulting state. */
function onHold(
  type: AnyCommand['type'],
  before: (state: HoldState) => HoldState,
  after: (stepped: HoldState, state: HoldState) => HoldState,
): StepActor {
  return (actor, state, command, evidence) => {
    if (state?.kind !== 'hold' || command.type !== type) return stepActor(actor, state, command, evidence)
    const outcome = stepActor(actor, before(state), command, evidence)
    if (outcome.kind !== 'stepped' || outcome.state?.kind !== 'hold') return outcome
    return { ...outcome, state: after(outcome.state, state) }
  }
}

/** Moves, holds or burns an NFT that is already on hold. */
const movingHeld: StepActor = (actor, state, command, evidence) => {
  const moves = command.type === 'move_nft' || command.type === 'hold_nft' || command.type === 'burn_nft'
  const isHeld = moves && state?.kind === 'instance' && state.status === 'held'
  return stepActor(actor, isHeld ? { ...state, status: 'active', hold: null } : state, command, evidence)
}

/** An expected leg reserves room for its amount. */
const reservingExpectations: StepActor = (actor, state, command, evidence) => {
  const plain = stepActor(actor, state, command, evidence)
  if (command.type !== 'expect_leg' || command.terms.type !== 'credit') return plain
  const { amount, tokenId } = command.terms
  const roomy = changed(plain, (after) => {
    const held = after.balances.get(tokenId) ?? NOTHING_HELD
    return { ...after, balances: after.balances.with(tokenId, { ...held, room: held.room + parseQuantity(amount) }) }
  })
  return roomy.kind === 'stepped'
    ? { ...roomy, effects: [...roomy.effects, { kind: 'balance_changed', tokenId }] }
    : roomy
}

/** Refuses a leg for lack of room before the account has signed it, with the refusal of a closed account. */
const revealingRoom: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  if (command.type !== 'expect_leg' || command.terms.type !== 'credit' || !isAccount(state)) return outcome
  const { balance } = state.balances.get(command.terms.tokenId) ?? { balance: ZERO }
  const hasRoom = balance + parseQuantity(command.terms.amount) <= LARGEST
  if (hasRoom || outcome.kind !== 'stepped') return outcome
  const refused = { code: 'balance_limit', detail: '' } as const
  const effects = outcome.effects.flatMap((effect) => {
    if (effect.kind !== 'message_sent' || effect.envelope.message.type !== 'leg_expected') return []
    return [{ ...effect, envelope: { ...effect.envelope, message: { ...effect.envelope.message, refused } } }]
  })
  const lastTimeMs = Math.max(state.lastTimeMs, command.atMs)
  return { ...outcome, state: { ...state, version: state.version + 1, lastTimeMs }, effects }
}

/** An array whose `some` finds nothing. */
class BlindArray<T> extends Array<T> {
  override some(): boolean {
    return false
  }
}

/** Undoes a transaction before that transaction has a row. */
const undoingUnrecorded: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  return outcome.kind === 'stepped' ? { ...outcome, effects: BlindArray.from(outcome.effects) } : outcome
}

/** The hold at the time of taking, by account and import: import IDs are unique across runs. */
const taken = new Map<string, ArrivalHold>()

/** Takes an arrival again when the request is repeated. */
const takingTwice: StepActor = (actor, state, command, evidence) => {
  if (command.type !== 'take_arrival' || !isAccount(state)) return stepActor(actor, state, command, evidence)
  const name = `${actor.id} ${command.importId}`
  const hold = state.holds.get(ARRIVAL_HOLD_ID)
  if (hold?.kind === 'arrival') taken.set(name, hold)
  const again = hold?.kind === 'arrival' ? undefined : taken.get(name)
  const isAgain = again !== undefined && state.status === 'active'
  return stepActor(actor, isAgain ? asHeld(state, again) : state, command, evidence)
}

function asHeld(account: AccountState, hold: ArrivalHold): AccountState {
  const { balances, nfts } = hold.account
  const roomy = withBalances(account, (held, tokenId) => ({
    ...held,
    room: held.room + parseQuantity(balances[tokenId] ?? '0'),
  }))
  return { ...roomy, nftRoom: account.nftRoom + nfts, holds: Holds.of([...account.holds, [ARRIVAL_HOLD_ID, hold]]) }
}

/** Reports an existing account as held. */
const holdingExisting: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  const answer = outcome.kind === 'answered' ? outcome.answer : null
  const isRefused = answer !== null && answer !== 'deferred' && answer.kind === 'refused'
  if (command.type !== 'hold_arrival' || !isRefused || !isAccount(state)) return outcome
  return { kind: 'answered', answer: { kind: 'arrival', state: 'held' } }
}

/** Keeps no room for held arrivals. */
const holdingWithoutRoom: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  if (command.type !== 'hold_arrival') return outcome
  const before = isAccount(state) ? state.balances : new Map<string, Balance>()
  return changed(outcome, (account) =>
    withBalances(account, (held, tokenId) => ({ ...held, room: before.get(tokenId)?.room ?? ZERO })),
  )
}

/** An account that an import drops becomes unclaimed, even if it is an issuer. */
const freeingIssuers: StepActor = (actor, state, command, evidence) => {
  const outcome = stepActor(actor, state, command, evidence)
  if (command.type !== 'drop_arrival') return outcome
  return changed(outcome, (account) => {
    if (account.key !== null || account.sequence > 0) return account
    const { arrived: _arrived, issues: _issues, ...name } = account
    return { ...name, registeredBy: '' }
  })
}

export const DOMAIN_BREAKS = {
  spends_incoming: spendingIncoming,
  settles_silently: settlingSilently,
  rehearses_for_real: rehearsingForReal,
  compensates_unmarked: compensatingUnmarked,
  refunds_beyond: refundingBeyond,
  refunds_pending: refundingPending,
  /** Ignores what was captured before. */
  captures_beyond: onHold(
    'capture_hold',
    (state) => ({ ...state, captured: '0' }),
    (stepped, { captured }) => ({
      ...stepped,
      captured: formatQuantity(parseQuantity(stepped.captured) + parseQuantity(captured)),
    }),
  ),
  /** Accepts captures after the expiry, as long as the timer has not come. */
  captures_expired: onHold(
    'capture_hold',
    (state) => ({ ...state, expiresAtMs: Number.MAX_SAFE_INTEGER }),
    (stepped, { expiresAtMs }) => ({ ...stepped, expiresAtMs }),
  ),
  /** Releases a hold that has ended. */
  releases_ended: onHold(
    'end_hold',
    (state) => ({ ...state, status: 'active' }),
    (stepped) => stepped,
  ),
  moves_held: movingHeld,
  /** Ignores the earlier use of an idempotency key. */
  ignores_keys: (actor, state, command, evidence) =>
    stepActor(actor, state, command, { ...evidence, earlier: undefined }),
  /** Gives away the room kept for incoming or returning value; new receipts do not use that room. */
  gives_room_away: onAccount(
    (command) => command.type === 'receive_transfer' || isFreeSubmission(command),
    (state) => withBalances(state, (held) => ({ ...held, room: ZERO })),
    withPart('room'),
  ),
  reserves_expectations: reservingExpectations,
  reveals_room: revealingRoom,
  /** Lets reserved value be spent again. */
  spends_reserved: onAccount(
    isFreeSubmission,
    (state) => withBalances(state, (held) => ({ ...held, reserved: ZERO })),
    withPart('reserved'),
  ),
  /** Accepts signatures that were not verified under the key in force. */
  trusts_unchecked: (actor, state, command, evidence) =>
    stepActor(actor, state, command, {
      ...evidence,
      verdict: (keyId, signature) => evidence.verdict(keyId, signature) ?? true,
    }),
  undoes_unrecorded: undoingUnrecorded,
  takes_twice: takingTwice,
  /** Treats keys that were not looked up as unused in the other ledger. */
  trusts_unasked: (actor, state, command, evidence) =>
    stepActor(actor, state, command, { ...evidence, usedElsewhere: evidence.usedElsewhere ?? false }),
  holds_existing: holdingExisting,
  holds_without_room: holdingWithoutRoom,
  /** Lets a client register an account that is still held by an import. */
  claims_held: onAccount(
    ({ type }, { holds }) => type === 'register' && holds.has(ARRIVAL_HOLD_ID),
    (state) => ({ ...state, holds: Holds.of([...state.holds].filter(([id]) => id !== ARRIVAL_HOLD_ID)) }),
    (stepped, { holds }) => ({ ...stepped, holds }),
  ),
  frees_issuers: freeingIssuers,
  /** Lets an account depart that is not frozen. */
  departs_unfrozen: onAccount(
    ({ type }, { status }) => type === 'depart' && status === 'active',
    (state) => ({ ...state, status: 'frozen' }),
  ),
  /** Treats an erased account as a closed one. */
  forgets_erasure: onAccount(
    (command, { status }) => 'signature' in command && status === 'erased',
    (state) => ({ ...state, status: 'closed' }),
  ),
} satisfies Readonly<Record<string, StepActor>>

/** Whether a submission belongs to no registered group. */
function isFreeSubmission(command: AnyCommand): boolean {
  return command.type === 'submit' && command.submission.termsHash === null
}

/** Adds the previous amount of a part of the balances again. */
function withPart(part: 'room' | 'reserved') {
  return (stepped: AccountState, state: AccountState): AccountState =>
    withBalances(stepped, (held, tokenId) => ({
      ...held,
      [part]: held[part] + (state.balances.get(tokenId)?.[part] ?? ZERO),
    }))
}

function lacksFunds(outcome: StepOutcome): boolean {
  if (outcome.kind !== 'stepped') return false
  return outcome.effects.some(
    (effect) => effect.kind === 'transaction_entered' && effect.transaction.failure?.code === 'insufficient_funds',
  )
}

function isAccount(state: AnyState | null): state is AccountState {
  return state?.kind === 'account'
}

function changed(outcome: StepOutcome, change: (account: AccountState) => AccountState): StepOutcome {
  if (outcome.kind !== 'stepped' || !isAccount(outcome.state)) return outcome
  return { ...outcome, state: change(outcome.state) }
}

function withBalances(account: AccountState, change: (held: Balance, tokenId: string) => Balance): AccountState {
  const balances = Balances.of(
    [...account.balances].map(([tokenId, held]) => [tokenId, change(held, tokenId)] as const),
  )
  return { ...account, balances }
}
