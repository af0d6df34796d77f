/** Steps any actor: one place where the kind of an address chooses the machine. */
import type { AccountCommand } from './account/commands.ts'
import { snapshotOf } from './account/machine.ts'
import type { Effect } from './account/outcome.ts'
import type { AccountKey, AccountState } from './account/state.ts'
import { type Evidence, stepAccount } from './account/step.ts'
import type { ActorAnswer, Heard } from './actor-step.ts'
import type { ActorState } from './actor-state.ts'
import type { ActorAddress } from './address.ts'
import { type ExchangeCommand, stepExchange } from './exchange/step.ts'
import type { ExchangeState } from './exchange/state.ts'
import type { GroupCommand } from './group/commands.ts'
import type { GroupState } from './group/state.ts'
import { stepGroup } from './group/step.ts'
import type { InstanceMessage } from './message.ts'
import type { ClassCommand } from './nft-class/commands.ts'
import type { ClassState } from './nft-class/state.ts'
import { stepClass } from './nft-class/step.ts'
import type { InstanceArrivalCommand } from './nft-instance/arrival.ts'
import type { InstanceState } from './nft-instance/state.ts'
import { stepInstance } from './nft-instance/step.ts'
import type { TokenCommand } from './token/commands.ts'
import type { TokenState } from './token/state.ts'
import { stepToken } from './token/step.ts'

export type AnyState = AccountState | ActorState
export type AnyCommand = AccountCommand | GroupCommand | ExchangeCommand | TokenCommand | ClassCommand | InstanceStep

type InstanceStep = Heard<InstanceMessage> | InstanceArrivalCommand

export type StepOutcome =
  | {
      readonly kind: 'stepped'
      readonly state: AnyState | null
      readonly effects: readonly Effect[]
      readonly answer: ActorAnswer | null
    }
  | { readonly kind: 'answered'; readonly answer: ActorAnswer | null }
  /** Have this checked, then step the same command again. */
  | { readonly kind: 'unverified'; readonly key: AccountKey; readonly signature: string }
  /** What the step must be told was looked up too early: whoever asked has to ask again. */
  | { readonly kind: 'unlooked' }

/** `state`: null where there is no such actor. The command must be one that the kind of actor hears. */
export type StepActor = (
  actor: ActorAddress,
  state: AnyState | null,
  command: AnyCommand,
  evidence: Evidence,
) => StepOutcome

export const stepActor: StepActor = (actor, state, command, evidence) => {
  switch (actor.kind) {
    case 'account':
      return ofAccount(state as AccountState | null, command as AccountCommand, evidence)
    case 'group':
      return stepGroup(state as GroupState | null, command as GroupCommand, evidence)
    case 'exchange':
      return stepExchange(state as ExchangeState | null, actor.id, command as ExchangeCommand)
    case 'token':
      return stepToken(state as TokenState | null, command as TokenCommand)
    case 'class':
      return stepClass(state as ClassState | null, command as ClassCommand)
    case 'instance':
      return stepInstance(state as InstanceState | null, actor.id, command as InstanceStep)
  }
}

function ofAccount(account: AccountState | null, command: AccountCommand, evidence: Evidence): StepOutcome {
  const result = stepAccount(snapshotOf(account), command, evidence)
  if (result.kind !== 'stepped') return result
  return {
    kind: 'stepped',
    state: result.snapshot.context.account,
    effects: result.effects,
    answer: result.answer,
  }
}
