/** Every kind of actor, and the one way to step any of them. */
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

/** `state`: null where there is no such actor. The command must be one that the kind of actor takes. */
export type StepActor = (
  actor: ActorAddress,
  state: AnyState | null,
  command: AnyCommand,
  evidence: Evidence,
) => StepOutcome

export const stepActor: StepActor = ({ kind, id }, state, command, evidence) => {
  // The address chooses the kind, and with it the types of its states and commands.
  const actor: { readonly step: (id: string, state: never, command: never, evidence: Evidence) => StepOutcome } =
    ACTORS[kind]
  return actor.step(id, state as never, command as never, evidence)
}
