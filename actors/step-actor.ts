import { accountActor } from './account/actor.ts'
import type { AccountCommand } from './account/commands.ts'
import type { Evidence } from './account/evidence.ts'
import type { AccountState } from './account/state.ts'
import type { ActorState } from './actor-state.ts'
import type { ActorAddress } from './address.ts'
import type { StepResult } from './define-actor.ts'
import { exchangeActor } from './exchange/machine.ts'
import type { ExchangeCommand } from './exchange/state.ts'
import { groupActor } from './group/machine.ts'
import type { GroupCommand } from './group/state.ts'
import { holdActor } from './hold/machine.ts'
import type { HoldCommand } from './hold/state.ts'
import { classActor } from './nft-class/machine.ts'
import type { ClassCommand } from './nft-class/state.ts'
import { instanceActor } from './nft-instance/machine.ts'
import type { InstanceCommand } from './nft-instance/state.ts'
import { tokenActor } from './token/machine.ts'
import type { TokenCommand } from './token/state.ts'

export type AnyState = AccountState | ActorState
export type AnyCommand =
  | AccountCommand
  | GroupCommand
  | ExchangeCommand
  | TokenCommand
  | ClassCommand
  | InstanceCommand
  | HoldCommand

export const ACTORS = {
  account: accountActor,
  group: groupActor,
  exchange: exchangeActor,
  token: tokenActor,
  class: classActor,
  instance: instanceActor,
  hold: holdActor,
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
