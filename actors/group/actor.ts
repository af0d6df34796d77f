/** Settlement group: its home alone decides whether it settles or reverts. */
import { defineActor, type Refusals } from '../define-actor.ts'
import type { GroupCommand } from './commands.ts'
import { type GroupEvidence, judgeGroupCommand } from './judgement.ts'
import { groupMachine } from './machine.ts'
import type { GroupState, GroupStatus } from './state.ts'

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
