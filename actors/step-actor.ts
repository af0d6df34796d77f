import { accountActor } from './account/actor.ts'
import type { AccountCommand } from './account/commands.ts'
import type { Evidence } from './account/evidence.ts'
import type { AccountState } from './account/state.ts'
import type { ActorState } from './actor-state.ts'
import type { ActorAddress } from './address.ts'
import type { StepResult } from './define-actor.ts'
import { exchangeActor } from './exchange/actor.ts'
import type { ExchangeCommand } from './exchange/commands.ts'
import { groupActor } from './group/actor.ts'
import type { GroupCommand } from './group/commands.ts'
import { classActor } from './nft-class/actor.ts'
import type { ClassCommand } from './nft-class/commands.ts'
import { instanceActor } from './nft-instance/actor.ts'
import type { InstanceCommand } from './nft-instance/commands.ts'
import { tokenActor } from './token/actor.ts'
import type { TokenCommand } from './token/commands.ts'

export type AnyState = AccountState | ActorState
export type AnyCommand = AccountCommand | GroupCommand | ExchangeCommand | TokenCommand | ClassCommand | InstanceCommand

export const ACTORS = {
  account: accountActor,
  group: groupActor,
  exchange: exchangeActor,
  token: tokenActor,
  class: classActor,
  instance: instanceActor,
} as const

export type StepOutcome = StepResult<AnyState>

/** `state`: null if the actor does not exist. The actor's kind must take the command. */
export type StepActor = (
  actor: ActorAddress,
  state: AnyState | null,
  command: AnyCommand,
  evidence: Evidence,
) => StepOutcome

export const stepActor: StepActor = ({ kind, id }, state, command, evidence) => {
  // The address determines the kind, and thereby the types of states and commands.
  const actor: { readonly step: (id: string, state: never, command: never, evidence: Evidence) => StepOutcome } =
    ACTORS[kind]
  return actor.step(id, state as never, command as never, evidence)
}
