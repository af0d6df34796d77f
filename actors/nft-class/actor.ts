/** NFT class. The home of its name decides who has the name. */
import { authorizeArrival, NOT_HELD } from '../arrival.ts'
import { defineActor, type Refusals } from '../define-actor.ts'
import type { ClassCommand } from './commands.ts'
import { classMachine } from './machine.ts'
import type { ClassState, ClassStatus } from './state.ts'

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
