/** Transitions of a hold; the arithmetic is in captures.ts. */
import { refusal } from '../account/outcome.ts'
import { defineActor, IGNORED, type MachineDefinition, type Refusals, type StepContext } from '../define-actor.ts'
import {
  capture,
  captureRefusal,
  endsWith,
  expire,
  isExpired,
  open,
  refuseAbsentCapture,
  refuseAbsentRelease,
  refuseCapture,
  refuseRelease,
  release,
  releaseFor,
  showEnded,
  showEndedFor,
} from './captures.ts'
import type { HoldCommand, HoldCommandOf, HoldData, HoldState, HoldStatus } from './state.ts'

type Capture = HoldCommandOf<'capture_hold'>
type Context = StepContext<HoldStatus, unknown>

const GUARDS = {
  isEarly: (hold: HoldData, command: HoldCommand) => !isExpired(hold, command),
  isExpired,
  isRefused: (hold: HoldData, command: Capture, { status }: Context) =>
    captureRefusal(hold, status, command) !== undefined,
  endsWith,
  isForBeneficiary: ({ toAccountId }: HoldData, { accountId }: HoldCommandOf<'end_hold'>) => toAccountId === accountId,
}

const ACTIONS = {
  capture,
  refuseCapture,
  release,
  releaseFor,
  refuseRelease,
  showEnded,
  showEndedFor,
  expire,
}

const CREATIONS = { open, refuseAbsentCapture, refuseAbsentRelease }

const ENDED = {
  capture_hold: { actions: 'refuseCapture' },
  end_hold: [{ guard: 'isForBeneficiary', actions: 'showEnded' }, { actions: 'refuseRelease' }],
  force_release: { actions: 'showEndedFor' },
  due: IGNORED,
} as const

const holdMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        open_hold: { target: 'active', actions: 'open' },
        capture_hold: { actions: 'refuseAbsentCapture' },
        end_hold: { actions: 'refuseAbsentRelease' },
        due: IGNORED,
      },
    },
    active: {
      on: {
        capture_hold: [
          { guard: 'isRefused', actions: 'refuseCapture' },
          { guard: 'endsWith', target: 'captured', actions: 'capture' },
          { actions: 'capture' },
        ],
        end_hold: [{ guard: 'isForBeneficiary', target: 'released', actions: 'release' }, { actions: 'refuseRelease' }],
        force_release: { target: 'released', actions: 'releaseFor' },
        due: [
          { guard: 'isEarly', ...IGNORED },
          { target: 'expired', actions: 'expire' },
        ],
      },
    },
    captured: { on: ENDED },
    released: { on: ENDED },
    expired: { on: ENDED },
  },
} as const satisfies MachineDefinition<HoldData, HoldStatus, HoldCommand, unknown>

const NOT_FOUND = { code: 'hold_not_found', detail: 'There is no such hold.' } as const

const REFUSALS = {
  absent: { force_release: NOT_FOUND },
  active: {},
  captured: {},
  released: {},
  expired: {},
} as const satisfies Refusals<HoldState, HoldStatus, HoldCommand['type']>

export const holdActor = defineActor<HoldState, HoldCommand, unknown>({
  kind: 'hold',
  machine: holdMachine,
  refusals: REFUSALS,
  authorize: (command) =>
    command.type === 'force_release' && command.caller.role !== 'admin'
      ? refusal('not_allowed', 'Only an administrator may release a hold without the signature of its beneficiary.')
      : undefined,
})
