/** NFT instance: one command, heard. Pure: time and ids arrive in the command, effects leave as data. */
import type { Answer } from '../account/outcome.ts'
import type { Heard } from '../actor-step.ts'
import type { ActorStepResult } from '../actor-step.ts'
import { arrivalAnswer, ofAdministrators } from '../arrival.ts'
import type { InstanceMessage } from '../message.ts'
import { invariant } from '../result.ts'
import { advanceInstance, instanceSnapshotOf } from './machine.ts'
import { type InstanceArrivalCommand, judgeInstanceArrival } from './arrival.ts'
import type { InstanceCommand } from './possession.ts'
import type { InstanceState } from './state.ts'

export function stepInstance(
  instance: InstanceState | null,
  nftId: string,
  message: Heard<InstanceMessage> | InstanceArrivalCommand,
): ActorStepResult<InstanceState> {
  const command = { ...message, nftId }
  if (message.type === 'hold_arrival' || message.type === 'take_arrival' || message.type === 'drop_arrival') {
    const known = ofAdministrators(message) ?? judgeInstanceArrival(instance, message)
    if (known !== undefined) return { kind: 'answered', answer: known }
    return stepped(instance, command, arrivalAnswer(message))
  }
  return stepped(instance, command, null)
}

function stepped(
  instance: InstanceState | null,
  command: InstanceCommand,
  answer: Answer | null,
): ActorStepResult<InstanceState> {
  const before = instanceSnapshotOf(instance)
  const after = advanceInstance(before, command)
  invariant(after !== before, `an NFT that is ${before.value} cannot hear ${command.type}`)
  return { kind: 'stepped', state: after.context.instance, effects: after.context.effects, answer }
}
