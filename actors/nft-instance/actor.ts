/** NFT instance. Its home alone decides its ownership. */
import { authorizeArrival, NOT_HELD } from '../arrival.ts'
import { defineActor, type Refusals } from '../define-actor.ts'
import type { InstanceCommand } from './commands.ts'
import { instanceMachine } from './machine.ts'
import type { InstanceState, InstanceStatus } from './state.ts'

const EXISTS = {
  code: 'instance_exists',
  detail: 'The class has, or had, a different instance with this ID.',
  field: 'instance_id',
} as const

const PRESENT = { hold_arrival: EXISTS, take_arrival: NOT_HELD } as const

const REFUSALS = {
  absent: { take_arrival: NOT_HELD },
  minting: PRESENT,
  active: PRESENT,
  held: PRESENT,
  burned: PRESENT,
} as const satisfies Refusals<InstanceState, InstanceStatus, InstanceCommand['type']>

export const instanceActor = defineActor<InstanceState, InstanceCommand, unknown>({
  kind: 'instance',
  machine: instanceMachine,
  refusals: REFUSALS,
  authorize: authorizeArrival,
})
