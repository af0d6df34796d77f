/**
 * The life of a settlement group: registering -> open -> settling -> settled, or open -> reverting -> reverted; or
 * registering -> refusing -> absent. An ID that was never registered can only be `linked`. Once settling or reverting
 * the other is out of reach (I8). No clock in here: `due` says that the time has come.
 */
import { assign, setup, type SnapshotFrom } from 'xstate'
import type { Effect } from '../account/outcome.ts'
import { inertScope } from '../inert-scope.ts'
import type { GroupCommand, GroupMessageCommand, RegisterGroupCommand, RevertGroupCommand } from './commands.ts'
import {
  ask,
  begin,
  beginLinked,
  finish,
  forget,
  isBound,
  isComplete,
  isLastAnswer,
  noteCompensation,
  noteCompleted,
  noteExpected,
  noteExpired,
  noteFailed,
  noteLate,
  noteReverted,
  noteSettled,
  open,
  type Progress,
  refuse,
  revert,
  settle,
  type Turned,
  turned,
} from './progress.ts'
import type { GroupState, LegPart } from './state.ts'

export interface GroupContext {
  readonly group: GroupState | null
  readonly effects: readonly Effect[]
}

interface Turn {
  readonly context: GroupContext
  readonly event: GroupCommand
}

type Named<Type extends GroupMessageCommand['type']> = Extract<GroupMessageCommand, { readonly type: Type }>

/** Runs steps on the group that is there. */
function on<Command extends GroupCommand>(stepsFor: (command: Command) => readonly Progress[]) {
  return ({ context, event }: Turn): GroupContext =>
    context.group === null ? context : turned(context.group, event, ...stepsFor(event as Command))
}

function whole(step: (group: GroupState) => Turned) {
  return ({ context }: Turn): GroupContext => (context.group === null ? context : step(context.group))
}

/** Whether the answer is the last one, of those that are in these states. */
function completes(...answered: readonly LegPart['state'][]) {
  return ({ context, event }: Turn): boolean =>
    context.group !== null && 'leg' in event && isLastAnswer(context.group, event, answered)
}

const answersLast = completes('unasked', 'expected', 'refused', 'completed', 'failed')

function isRefused({ context, event }: Turn): boolean {
  return (context.group?.refused ?? null) !== null || (event.type === 'leg_expected' && event.refused !== null)
}

/** Whether anybody expects a leg, or has done it already, and would have to be told otherwise. */
function isExpected({ context, event }: Turn): boolean {
  const isOther = context.group?.legs.some(({ parts }) => parts.some(isBound)) ?? false
  return isOther || (event.type === 'leg_expected' && event.refused === null)
}

/** Legs may be submitted as soon as their own account expects them: one that failed fails the group as it opens. */
function hasFailed({ context }: Turn): boolean {
  return context.group?.legs.some(({ parts }) => parts.some(({ failed }) => failed)) ?? false
}

/** Whether this is the last that was missing. */
function isLastIn({ context, event }: Turn): boolean {
  return context.group !== null && event.type === 'leg_completed' && isComplete(context.group, event)
}

const setUp = setup({
  types: { context: {} as GroupContext, events: {} as GroupCommand },
  guards: {
    lastAgrees: (turn) => answersLast(turn) && !isRefused(turn),
    opensFailed: (turn) => answersLast(turn) && !isRefused(turn) && hasFailed(turn),
    lastRefuses: (turn) => answersLast(turn) && isRefused(turn) && isExpected(turn),
    allRefuse: (turn) => answersLast(turn) && isRefused(turn) && !isExpected(turn),
    lastLeg: isLastIn,
    lastSettled: completes('settled'),
    lastReverted: completes('reverted'),
    lastCancelled: completes('unasked', 'refused', 'reverted'),
  },
  actions: {
    begin: assign(({ event }) => begin(event as RegisterGroupCommand)),
    beginLinked: assign(({ event }) => beginLinked(event as RevertGroupCommand)),
    noteExpected: assign(on<Named<'leg_expected'>>((command) => [noteExpected(command)])),
    noteExpired: assign(on(() => [noteExpired])),
    open: assign(on<Named<'leg_expected'>>((command) => [noteExpected(command), open])),
    openFailed: assign(on<Named<'leg_expected'>>((command) => [noteExpected(command), open, revert('group_closed')])),
    refuse: assign(on<Named<'leg_expected'>>((command) => [noteExpected(command), refuse])),
    forgetRefused: assign(({ context, event }: Turn) => {
      const noted = on<Named<'leg_expected'>>((command) => [noteExpected(command)])({ context, event })
      return noted.group === null ? noted : forget(noted.group)
    }),
    forget: assign(whole(forget)),
    noteCancelled: assign(on<Named<'leg_reverted'>>((command) => [noteReverted(command)])),
    noteCompleted: assign(on<Named<'leg_completed'>>((command) => [noteCompleted(command)])),
    settle: assign(on<Named<'leg_completed'>>((command) => [noteCompleted(command), settle])),
    noteFailed: assign(on<Named<'leg_failed'>>((command) => [noteFailed(command)])),
    fail: assign(on<Named<'leg_failed'>>((command) => [noteFailed(command), revert(command.failure.code)])),
    expire: assign(on(() => [revert('timed_out')])),
    revert: assign(on(() => [revert('revert_requested')])),
    noteLate: assign(on<Named<'leg_completed'> | Named<'leg_failed'>>((command) => [noteLate(command)])),
    noteSettled: assign(on<Named<'leg_settled'>>((command) => [noteSettled(command)])),
    finishSettled: assign(on<Named<'leg_settled'>>((command) => [noteSettled(command), finish('settled')])),
    noteReverted: assign(on<Named<'leg_reverted'>>((command) => [noteReverted(command)])),
    finishReverted: assign(on<Named<'leg_reverted'>>((command) => [noteReverted(command), finish('reverted')])),
    ask: assign(on<RevertGroupCommand>((command) => [ask(command)])),
    noteCompensation: assign(on<Named<'compensation_ended'>>((command) => [noteCompensation(command)])),
  },
})

export const groupMachine = setUp.createMachine({
  id: 'group',
  context: { group: null, effects: [] },
  initial: 'absent',
  states: {
    absent: {
      on: {
        register_group: { target: 'registering', actions: 'begin' },
        revert_group: { target: 'linked', actions: 'beginLinked' },
      },
    },
    registering: {
      on: {
        leg_expected: [
          { guard: 'opensFailed', target: 'reverting', actions: 'openFailed' },
          { guard: 'lastAgrees', target: 'open', actions: 'open' },
          { guard: 'lastRefuses', target: 'refusing', actions: 'refuse' },
          { guard: 'allRefuse', target: 'absent', actions: 'forgetRefused' },
          { actions: 'noteExpected' },
        ],
        leg_completed: { actions: 'noteCompleted' },
        leg_failed: { actions: 'noteFailed' },
        due: { actions: 'noteExpired' },
      },
    },
    refusing: {
      on: {
        leg_completed: { actions: 'noteLate' },
        leg_failed: { actions: 'noteLate' },
        leg_reverted: [{ guard: 'lastCancelled', target: 'absent', actions: 'forget' }, { actions: 'noteCancelled' }],
      },
    },
    open: {
      on: {
        leg_completed: [{ guard: 'lastLeg', target: 'settling', actions: 'settle' }, { actions: 'noteCompleted' }],
        leg_failed: { target: 'reverting', actions: 'fail' },
        due: { target: 'reverting', actions: 'expire' },
        revert_group: { target: 'reverting', actions: 'revert' },
      },
    },
    settling: {
      on: {
        leg_settled: [
          { guard: 'lastSettled', target: 'settled', actions: 'finishSettled' },
          { actions: 'noteSettled' },
        ],
      },
    },
    reverting: {
      on: {
        leg_completed: { actions: 'noteLate' },
        leg_failed: { actions: 'noteLate' },
        leg_reverted: [
          { guard: 'lastReverted', target: 'reverted', actions: 'finishReverted' },
          { actions: 'noteReverted' },
        ],
      },
    },
    settled: {},
    reverted: {},
    linked: {
      on: { revert_group: { actions: 'ask' }, compensation_ended: { actions: 'noteCompensation' } },
    },
  },
})

export type GroupSnapshot = SnapshotFrom<typeof groupMachine>

const scope = inertScope(groupMachine)

export function groupSnapshotOf(group: GroupState | null): GroupSnapshot {
  return groupMachine.resolveState({ value: group?.status ?? 'absent', context: { group, effects: [] } })
}

/** The next snapshot; the very same object when no transition accepts the command. */
export function advanceGroup(snapshot: GroupSnapshot, command: GroupCommand): GroupSnapshot {
  return groupMachine.transition(snapshot, command, scope)
}
