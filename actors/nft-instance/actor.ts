/** NFT instance: its home alone decides whose it is. */
import { authorizeArrival, NOT_HELD } from '../arrival.ts'
import { defineActor, type Refusals } from '../define-actor.ts'
import type { InstanceCommand } from './commands.ts'
import { instanceMachine } from './machine.ts'
import type { InstanceState, InstanceStatus } from './state.ts'

const EXISTS = {
  code: 'instance_exists',
  detail: 'The class has, or had, an instance of this ID, and it is another.',
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
