/**
 * Transitions of a settlement group. Once it settles, it cannot revert, and vice versa (I8). An ID that was never
 * registered can only be `linked`.
 */
import { type Answer, refusal } from '../account/outcome.ts'
import {
  ABSENT,
  type Change,
  defineActor,
  IGNORED,
  JUDGED,
  type MachineDefinition,
  type Refusals,
  type StepContext,
} from '../define-actor.ts'
import { type GroupEvidence, judgeGroupCommand } from './judgement.ts'
import {
  advanced,
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
  noteEarly,
  noteExpected,
  noteExpired,
  noteFailed,
  noteLate,
  noteReverted,
  noteSettled,
  open,
  proceed,
  type Progress,
  refuse,
  revert,
  settle,
} from './progress.ts'
import {
  type GroupCommand,
  type GroupCommandOf,
  type GroupData,
  type GroupState,
  type GroupStatus,
  type GroupView,
  groupViewAs,
  type LegPart,
  type RegisterGroupCommand,
  type RevertGroupCommand,
  shown,
} from './state.ts'

type Context = StepContext<GroupStatus, GroupEvidence>

function runs<Command extends GroupCommand>(stepsFor: (command: Command) => readonly Progress[]) {
  return (group: GroupData, command: Command): Change<GroupData> => advanced(group, command, ...stepsFor(command))
}

/** Whether all parts have replied once this reply is counted. `replied`: the states of parts that have replied. */
function completes(...replied: readonly LegPart['state'][]) {
  return (group: GroupData, command: GroupCommand): boolean => 'leg' in command && isLastAnswer(group, command, replied)
}

const repliesLast = completes('unasked', 'expected', 'refused', 'completed', 'failed')

/** The group's next step after an account's reply to `expect_leg`; undefined until the last reply. */
function verdictOf(
  group: GroupData,
  command: GroupCommandOf<'leg_expected'>,
): 'open' | 'failed' | 'refusing' | 'refused' | undefined {
  if (!repliesLast(group, command)) return undefined
  if (group.refused === null && command.refused === null) return hasFailed(group) ? 'failed' : 'open'
  // An account that already expects or completed its leg needs a message that cancels it.
  return command.refused === null || group.legs.some(({ parts }) => parts.some(isBound)) ? 'refusing' : 'refused'
}

function decides(verdict: ReturnType<typeof verdictOf>) {
  return (group: GroupData, command: GroupCommandOf<'leg_expected'>): boolean => verdictOf(group, command) === verdict
}

/** An account may submit its leg before the group opens: if that leg failed, the group reverts on opening. */
function hasFailed({ legs }: GroupData): boolean {
  return legs.some(({ parts }) => parts.some(({ failed }) => failed))
}

/** A registration by the same client with the same key or the same terms. */
function isRepeat(group: GroupData, command: RegisterGroupCommand): boolean {
  if (group.clientId !== command.caller.clientId) return false
  return group.registrationKey === command.registrationKey || group.termsHash === command.terms.termsHash
}

const GUARDS = {
  isRepeat,
  lastAgrees: decides('open'),
  opensFailed: decides('failed'),
  lastRefuses: decides('refusing'),
  allRefuse: decides('refused'),
  lastLeg: (group: GroupData, command: GroupCommandOf<'leg_completed'>) => isComplete(group, command),
  lastSettled: completes('settled'),
  lastReverted: completes('reverted'),
  lastCancelled: completes('unasked', 'refused', 'reverted'),
  // A timer for a time that has since changed is stale.
  isDue: ({ dueAtMs }: GroupData, command: GroupCommandOf<'due'>) =>
    dueAtMs === command.dueAtMs && dueAtMs <= command.atMs,
  isForeign: ({ clientId }: GroupData, { caller }: RevertGroupCommand) =>
    caller.role !== 'admin' && caller.clientId !== clientId,
}

const ACTIONS = {
  defer: (data: GroupData): Change<GroupData> => ({ data, answer: 'deferred' }),
  showRegistered,
  noteExpected: runs((command: GroupCommandOf<'leg_expected'>) => [noteExpected(command)]),
  noteExpired: runs(() => [noteExpired]),
  open: runs((command: GroupCommandOf<'leg_expected'>) => [noteExpected(command), open]),
  openFailed: runs((command: GroupCommandOf<'leg_expected'>) => [noteExpected(command), open, revert('group_closed')]),
  refuse: runs((command: GroupCommandOf<'leg_expected'>) => [noteExpected(command), refuse]),
  forgetRefused: (group: GroupData, command: GroupCommandOf<'leg_expected'>) =>
    forget(advanced(group, command, noteExpected(command)).data),
  forget,
  noteCancelled: runs((command: GroupCommandOf<'leg_reverted'>) => [noteReverted(command)]),
  noteEarly: runs((command: GroupCommandOf<'leg_completed'>) => [noteEarly(command)]),
  proceed: runs((command: GroupCommandOf<'leg_completed'>) => [noteCompleted(command), proceed(command)]),
  settle: runs((command: GroupCommandOf<'leg_completed'>) => [noteCompleted(command), settle]),
  noteFailed: runs((command: GroupCommandOf<'leg_failed'>) => [noteFailed(command)]),
  fail: runs((command: GroupCommandOf<'leg_failed'>) => [noteFailed(command), revert(command.failure.code)]),
  expire: runs(() => [revert('timed_out')]),
  revert: (group: GroupData, command: RevertGroupCommand, { status }: Context) =>
    reverting(advanced(group, command, revert('revert_requested')), status),
  noteLate: runs((command: GroupCommandOf<'leg_completed' | 'leg_failed'>) => [noteLate(command)]),
  noteSettled: runs((command: GroupCommandOf<'leg_settled'>) => [noteSettled(command)]),
  finishSettled: runs((command: GroupCommandOf<'leg_settled'>) => [noteSettled(command), finish]),
  noteReverted: runs((command: GroupCommandOf<'leg_reverted'>) => [noteReverted(command)]),
  finishReverted: runs((command: GroupCommandOf<'leg_reverted'>) => [noteReverted(command), finish]),
  showReverting: (data: GroupData, _command: RevertGroupCommand, { status }: Context): Change<GroupData> =>
    reverting({ data }, status),
  refuseForeign: (data: GroupData): Change<GroupData> => ({ data, answer: FOREIGN }),
  ask: (group: GroupData, command: RevertGroupCommand, { status }: Context) =>
    reverting(advanced(group, command, ask(command)), status),
  noteCompensation: runs((command: GroupCommandOf<'compensation_ended'>) => [noteCompensation(command)]),
}

const CREATIONS = {
  begin,
  beginLinked: (command: RevertGroupCommand, { status }: Context) => reverting(beginLinked(command), status),
}

const FOREIGN: Answer = refusal('not_allowed', 'Only the client that registered the group, or an admin, may revert it.')

const REPEATED = { guard: 'isRepeat', actions: 'defer' } as const
const REGISTERED = { guard: 'isRepeat', actions: 'showRegistered' } as const
const FOREIGNERS = { guard: 'isForeign', actions: 'refuseForeign' } as const

const groupMachine = {
  guards: GUARDS,
  actions: ACTIONS,
  creations: CREATIONS,
  states: {
    absent: {
      on: {
        register_group: [JUDGED, { target: 'registering', actions: 'begin' }],
        revert_group: [JUDGED, { target: 'linked', actions: 'beginLinked' }],
        due: IGNORED,
      },
    },
    registering: {
      on: {
        register_group: REPEATED,
        leg_expected: [
          { guard: 'opensFailed', target: 'reverting', actions: 'openFailed' },
          { guard: 'lastAgrees', target: 'open', actions: 'open' },
          { guard: 'lastRefuses', target: 'refusing', actions: 'refuse' },
          { guard: 'allRefuse', target: ABSENT, actions: 'forgetRefused' },
          { actions: 'noteExpected' },
        ],
        leg_completed: { actions: 'noteEarly' },
        leg_failed: { actions: 'noteFailed' },
        due: [{ guard: 'isDue', actions: 'noteExpired' }, IGNORED],
      },
    },
    refusing: {
      on: {
        register_group: REPEATED,
        due: IGNORED,
        leg_completed: { actions: 'noteLate' },
        leg_failed: { actions: 'noteLate' },
        leg_reverted: [{ guard: 'lastCancelled', target: ABSENT, actions: 'forget' }, { actions: 'noteCancelled' }],
      },
    },
    open: {
      on: {
        register_group: REGISTERED,
        leg_completed: [{ guard: 'lastLeg', target: 'settling', actions: 'settle' }, { actions: 'proceed' }],
        leg_failed: { target: 'reverting', actions: 'fail' },
        due: [{ guard: 'isDue', target: 'reverting', actions: 'expire' }, IGNORED],
        revert_group: [FOREIGNERS, { target: 'reverting', actions: 'revert' }],
      },
    },
    settling: {
      on: {
        register_group: REGISTERED,
        revert_group: FOREIGNERS,
        due: IGNORED,
        leg_settled: [
          { guard: 'lastSettled', target: 'settled', actions: 'finishSettled' },
          { actions: 'noteSettled' },
        ],
      },
    },
    reverting: {
      on: {
        register_group: REGISTERED,
        revert_group: [FOREIGNERS, { actions: 'showReverting' }],
        due: IGNORED,
        leg_completed: { actions: 'noteLate' },
        leg_failed: { actions: 'noteLate' },
        leg_reverted: [
          { guard: 'lastReverted', target: 'reverted', actions: 'finishReverted' },
          { actions: 'noteReverted' },
        ],
      },
    },
    settled: { on: { register_group: REGISTERED, revert_group: FOREIGNERS, due: IGNORED } },
    reverted: {
      on: { register_group: REGISTERED, revert_group: [FOREIGNERS, { actions: 'showReverting' }], due: IGNORED },
    },
    linked: {
      on: {
        revert_group: [JUDGED, { actions: 'ask' }],
        compensation_ended: { actions: 'noteCompensation' },
        due: IGNORED,
      },
    },
  },
} as const satisfies MachineDefinition<GroupData, GroupStatus, GroupCommand, GroupEvidence>

function reverting({ data, effects = [] }: Change<GroupData>, status: GroupStatus): Change<GroupData> {
  if (data === null) return { data, effects }
  return { data, effects, answer: { kind: 'group_reverting', group: groupViewAs(data, shown(status)) } }
}

/** The original reply to the registering request; the current group to another request with the same terms. */
function showRegistered(data: GroupData, command: RegisterGroupCommand, { status }: Context): Change<GroupData> {
  const { registrationKey, terms } = command
  const isSameRequest = data.registrationKey === registrationKey
  const view = groupViewAs(data, shown(status))
  return {
    data,
    answer: {
      kind: 'group_registered',
      group: isSameRequest ? asNew(data, view) : view,
      created: isSameRequest,
      replayed: isSameRequest && !registrationKey.startsWith('request '),
      mismatch: data.termsHash !== terms.termsHash,
    },
  }
}

/** The group as registered. */
function asNew(group: GroupData, view: GroupView): GroupView {
  const legs = group.legs.map(({ terms }) => ({ ...terms, status: 'expected', txnId: null }) as const)
  return { ...view, status: 'open', legs, compensations: [], partialFailures: [], finishedAtMs: null, failure: null }
}

const EXISTS = { code: 'group_exists', detail: 'The group ID is in use.', field: 'group_id' } as const
const NOT_FOUND = { code: 'group_not_found', detail: 'There is no such group.' } as const
const SETTLED = { code: 'group_settled', detail: 'The group is settled.' } as const

const REFUSALS = {
  absent: {},
  registering: { register_group: EXISTS, revert_group: NOT_FOUND },
  refusing: { register_group: EXISTS, revert_group: NOT_FOUND },
  open: { register_group: EXISTS },
  settling: { register_group: EXISTS, revert_group: SETTLED },
  settled: { register_group: EXISTS, revert_group: SETTLED },
  reverting: { register_group: EXISTS },
  reverted: { register_group: EXISTS },
  linked: { register_group: EXISTS },
} as const satisfies Refusals<GroupState, GroupStatus, GroupCommand['type']>

export const groupActor = defineActor<GroupState, GroupCommand, GroupEvidence>({
  kind: 'group',
  machine: groupMachine,
  refusals: REFUSALS,
  judge: judgeGroupCommand,
})
