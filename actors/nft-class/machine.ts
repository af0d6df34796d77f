import { FIRST, sent } from '../account/outcome.ts'
import { accountAddress } from '../address.ts'
import { ARRIVAL_ACTIONS, ARRIVAL_CREATIONS, ARRIVAL_GUARDS, arrivalAnswer } from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import { ABSENT, type Change, type MachineDefinition, written } from '../define-actor.ts'
import type { Stamp } from '../message.ts'
import { consentOf, isReplay, registrationActions, registrationGuards } from '../registration.ts'
import { holdArrival, isSameClass, isSameHold } from './arrival.ts'
import type { ClassArrivalCommand, ClassCommand, RegisterClassCommand } from './commands.ts'
import { type ClassData, type ClassStatus, classViewOf, newClass } from './state.ts'

type IssuePrepared = Extract<ClassCommand, { readonly type: 'issue_prepared' }>

const GUARDS = {
  ...registrationGuards<RegisterClassCommand, IssuePrepared>(),
  isSameClass,
  isSameHold,
  ...ARRIVAL_GUARDS,
}

const ACTIONS = {
  ...registrationActions<IssuePrepared>(),
  showRegistered,
  activate,
  takeArrival: (data: ClassData, command: ClassArrivalCommand) => ({
    data: written(data, command),
    answer: arrivalAnswer(command),
  }),
  ...ARRIVAL_ACTIONS,
}

const CREATIONS = {
  register,
  holdArrival,
  ...ARRIVAL_CREATIONS,
}

export const classMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        register_class: { target: 'preparing', actions: 'register' },
        hold_arrival: { target: 'preparing', actions: 'holdArrival' },
        drop_arrival: { actions: 'answerAbsent' },
      },
    },
    preparing: {
      on: {
        register_class: { guard: 'isRepeat', actions: 'defer' },
        issue_prepared: [
          { guard: 'isRefused', target: ABSENT, actions: 'giveUp' },
          { target: 'active', actions: 'activate' },
        ],
        hold_arrival: { guard: 'isSameHold', actions: 'answerArrival' },
        take_arrival: { guard: 'isHeldBy', target: 'active', actions: 'takeArrival' },
        drop_arrival: [{ guard: 'isHeldBy', target: ABSENT, actions: 'forgetArrival' }, { actions: 'answerArrival' }],
      },
    },
    active: {
      on: {
        register_class: { guard: 'isRepeat', actions: 'showRegistered' },
        hold_arrival: { guard: 'isSameClass', actions: 'showPresent' },
        take_arrival: { guard: 'hasArrived', actions: 'answerArrival' },
        drop_arrival: { actions: 'answerArrival' },
      },
    },
  },
} as const satisfies MachineDefinition<ClassData, ClassStatus, ClassCommand, unknown>

function register(command: RegisterClassCommand): Change<ClassData> {
  const data = newClass({ ...command, classId: command.newClassId }, command, command.registrationKey)
  const message = { type: 'prepare_class', name: data.id, ...consentOf(command) } as const
  return { data, effects: [sent(accountAddress(data.issuer), message)], answer: 'deferred' }
}

function activate(nftClass: ClassData, stamp: Stamp): Change<ClassData> {
  const data = written(nftClass, stamp)
  const answer = { kind: 'class_registered', nftClass: classViewOf(data), ...FIRST } as const
  return { data, effects: [{ kind: 'concluded', answer }] }
}

function showRegistered(data: ClassData, command: RegisterClassCommand): Change<ClassData> {
  const mismatch = asksForAnother(data, command)
  return {
    data,
    answer: { kind: 'class_registered', nftClass: classViewOf(data), replayed: isReplay(command), mismatch },
  }
}

/** Whether the class was registered with other fields. */
function asksForAnother(
  nftClass: ClassData,
  { name, description, issuer, metadataSchema }: RegisterClassCommand,
): boolean {
  return (
    nftClass.name !== name ||
    nftClass.description !== description ||
    nftClass.issuer !== issuer ||
    canonicalJson(nftClass.metadataSchema) !== canonicalJson(metadataSchema)
  )
}
