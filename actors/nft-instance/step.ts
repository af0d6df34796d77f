/** NFT instance: one message, heard. Pure: time and ids arrive in the message, effects leave as data. */
import type { Heard } from '../actor-step.ts'
import type { ActorStepResult } from '../actor-step.ts'
import type { InstanceMessage } from '../message.ts'
import { invariant } from '../result.ts'
import { advanceInstance, instanceSnapshotOf } from './machine.ts'
import { refuseLeg } from './possession.ts'
import type { InstanceState } from './state.ts'

export function stepInstance(
  instance: InstanceState | null,
  nftId: string,
  message: Heard<InstanceMessage>,
): ActorStepResult<InstanceState> {
  const command = { ...message, nftId }
  if (instance === null && command.type === 'expect_leg') {
    return { kind: 'stepped', state: null, effects: [refuseLeg(command, 'instance_not_found')], answer: null }
  }
  const before = instanceSnapshotOf(instance)
  const after = advanceInstance(before, command)
  invariant(after !== before, `an NFT that is ${before.value} cannot hear ${command.type}`)
  return { kind: 'stepped', state: after.context.instance, effects: after.context.effects, answer: null }
}
