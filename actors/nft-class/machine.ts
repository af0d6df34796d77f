import { sent } from '../account/outcome.ts'
import { accountAddress } from '../address.ts'
import {
  ARRIVAL_ACTIONS,
  ARRIVAL_CREATIONS,
  ARRIVAL_GUARDS,
  arrivalAnswer,
  authorizeArrival,
  NOT_HELD,
} from '../arrival.ts'
import { canonicalJson } from '../canonical-json.ts'
import { ABSENT, type Change, defineActor, type MachineDefinition, type Refusals, written } from '../define-actor.ts'
import { consentOf, registrationActions, registrationGuards } from '../registration.ts'
import { holdArrival, isSameClass, isSameHold } from './arrival.ts'
import {
  type ClassArrivalCommand,
  type ClassCommand,
  type ClassData,
  type ClassState,
  type ClassStatus,
  classViewOf,
  newClass,
  type RegisterClassCommand,
} from './state.ts'

type IssuePrepared = Extract<ClassCommand, { readonly type: 'issue_prepared' }>

const GUARDS = {
  ...registrationGuards<RegisterClassCommand, IssuePrepared>(),
  isSameClass,
  isSameHold,
  ...ARRIVAL_GUARDS,
}

const ACTIONS = {
  ...registrationActions<ClassData, RegisterClassCommand, IssuePrepared>(
    (data, repeated) => ({ kind: 'class_registered', nftClass: classViewOf(data), ...repeated }),
    (data, command) => registeredFields(data) === registeredFields(command),
  ),
  takeArrival: (data: ClassData, command: ClassArrivalCommand) => ({
    data: written(data, command),
    answer: arrivalAnswer(command),
  }),
  ...ARRIVAL_ACTIONS,
}

function registeredFields({ name, description, issuer, metadataSchema }: ClassData | RegisterClassCommand): string {
  return canonicalJson({ name, description, issuer, metadataSchema })
}

const CREATIONS = {
  register,
  holdArrival,
  ...ARRIVAL_CREATIONS,
}

const classMachine = {
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

const TAKEN = { code: 'class_exists', detail: 'The name is taken.', field: 'name' } as const
const EXISTS = {
  code: 'class_exists',
  detail: 'The name already belongs to a different class.',
  field: 'name',
} as const

const REFUSALS = {
  absent: { take_arrival: NOT_HELD },
  preparing: { register_class: TAKEN, hold_arrival: EXISTS, take_arrival: NOT_HELD },
  active: { register_class: TAKEN, hold_arrival: EXISTS, take_arrival: NOT_HELD },
} as const satisfies Refusals<ClassState, ClassStatus, ClassCommand['type']>

export const classActor = defineActor<ClassState, ClassCommand, unknown>({
  kind: 'class',
  machine: classMachine,
  refusals: REFUSALS,
  authorize: authorizeArrival,
})
