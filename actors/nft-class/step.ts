/**
 * NFT class: one command, judged and applied. The home of its name alone decides whose the name is.
 * Pure: time and ids arrive in the command, effects leave as data.
 */
import { type Answer, refusal } from '../account/outcome.ts'
import type { ActorAnswer, ActorStepResult } from '../actor-step.ts'
import { arrivalAnswer, ofAdministrators } from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import { invariant } from '../result.ts'
import { judgeClassArrival } from './arrival.ts'
import type { ClassCommand, RegisterClassCommand } from './commands.ts'
import { advanceClass, classSnapshotOf } from './machine.ts'
import { type ClassState, classViewOf } from './state.ts'

export function stepClass(nftClass: ClassState | null, command: ClassCommand): ActorStepResult<ClassState> {
  if (command.type === 'register_class' && nftClass !== null) return again(nftClass, command)
  const known = knownAnswer(nftClass, command)
  if (known !== undefined) return { kind: 'answered', answer: known }
  const before = classSnapshotOf(nftClass)
  const after = advanceClass(before, command)
  invariant(after !== before, `a class that is ${before.value} cannot hear ${command.type}`)
  const { context } = after
  return { kind: 'stepped', state: context.nftClass, effects: context.effects, answer: answerOf(command) }
}

function knownAnswer(nftClass: ClassState | null, command: ClassCommand): Answer | undefined {
  if (command.type === 'register_class' || command.type === 'issue_prepared') return undefined
  return ofAdministrators(command) ?? judgeClassArrival(nftClass, command)
}

function answerOf(command: ClassCommand): ActorAnswer | null {
  switch (command.type) {
    case 'register_class':
      return 'deferred'
    case 'issue_prepared':
      return null
    default:
      return arrivalAnswer(command)
  }
}

function again(nftClass: ClassState, command: RegisterClassCommand): ActorStepResult<ClassState> {
  const { caller, registrationKey } = command
  const same = nftClass.clientId === caller.clientId && nftClass.registrationKey === registrationKey
  if (!same) return { kind: 'answered', answer: refusal('class_exists', 'The name is taken.', 'name') }
  if (nftClass.status !== 'active') return { kind: 'answered', answer: 'deferred' }
  const replayed = !registrationKey.startsWith('request ')
  const mismatch = asksForAnother(nftClass, command)
  return { kind: 'answered', answer: { kind: 'class_registered', nftClass: classViewOf(nftClass), replayed, mismatch } }
}

/** Whether it is registered otherwise than is asked now. */
function asksForAnother(
  nftClass: ClassState,
  { name, description, issuer, metadataSchema }: RegisterClassCommand,
): boolean {
  return (
    nftClass.name !== name ||
    nftClass.description !== description ||
    nftClass.issuer !== issuer ||
    canonicalJson(nftClass.metadataSchema) !== canonicalJson(metadataSchema)
  )
}
