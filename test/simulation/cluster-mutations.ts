/** Rules of the runtime and of the accounts, each broken on purpose, to see that a seed finds out. */
import type { CompensableTransaction } from '../../actors/account/transaction.ts'
import type { AccountState, Balance } from '../../actors/account/state.ts'
import { ZERO } from '../../actors/money.ts'
import { type AnyState, type StepActor, stepActor, type StepOutcome } from '../../actors/step-actor.ts'
import { encodeDeliveries } from '../../runtime/messages.ts'
import type { InboxOrder } from '../../runtime/node/draft.ts'
import type { OutputGate } from '../../runtime/node/output-gate.ts'
import { sendVerdicts } from '../../runtime/node/pending.ts'
import type { PinBoard } from '../../runtime/node/pin-board.ts'
import type { ShardHost } from '../../runtime/node/shard-host.ts'
import type { LedgerStore } from '../../runtime/ports/ledger-store.ts'

export interface RuntimeMutations {
  /** Nothing that was looked up is pinned. */
  readonly noPins: boolean
  /** Answers leave as soon as they are decided. */
  readonly replyBeforeCommit: boolean
  /** Any message above the mark is the next, and the mark the highest that came. */
  readonly gapsInInbox: boolean
  /** A node hands messages to its own shards before they are committed. */
  readonly carriesUncommitted: boolean
  /** What comes can be spent before its group has settled. */
  readonly spendsIncoming: boolean
  /** A compensation does not look at what has been compensated, or is being. */
  readonly compensatesUnmarked: boolean
  /** An NFT that is held for one is handed to the next. */
  readonly movesHeld: boolean
}

export const NO_RUNTIME_MUTATIONS: RuntimeMutations = {
  noPins: false,
  replyBeforeCommit: false,
  gapsInInbox: false,
  carriesUncommitted: false,
  spendsIncoming: false,
  compensatesUnmarked: false,
  movesHeld: false,
}

/** What of a node's parts these mutations replace. */
export function mutatedParts(mutations: RuntimeMutations) {
  return {
    ...(mutations.noPins ? { pins: noPins } : {}),
    ...(mutations.replyBeforeCommit ? { gate: hastyGate } : {}),
    ...(mutations.gapsInInbox ? { inboxOrder: gaps } : {}),
    ...(mutations.spendsIncoming ? { step: spendingIncoming } : {}),
    ...(mutations.compensatesUnmarked ? { step: compensatingUnmarked } : {}),
    ...(mutations.movesHeld ? { step: movingHeld } : {}),
  }
}

const noPins: PinBoard = { open: () => 0, close: () => undefined, pin: (letGo) => letGo() }

const hastyGate: OutputGate = { decided: (answer) => sendVerdicts([answer]), committed: () => undefined }

const gaps: InboxOrder = { isNext: (mark, number) => number > mark }

/** Hands over what is about to be committed, as if it were. */
export function carryingUncommitted(store: LedgerStore, host: () => ShardHost): LedgerStore {
  return {
    ...store,
    commit: (batch) => {
      const deliveries = batch.shards.flatMap(({ token, outbox }) =>
        outbox.map(({ target, number, envelope }) => ({
          source: token.shardId,
          target,
          epoch: token.epoch,
          attempt: token.attempt,
          began: number,
          acknowledged: 0,
          messages: [{ number, envelope }],
        })),
      )
      if (deliveries.length > 0) host().receiveDeliveries(encodeDeliveries(deliveries), () => undefined)
      return store.commit(batch)
    },
  }
}

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
