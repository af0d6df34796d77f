/** A group replies correctly in each of its states: to its own client, other clients and late messages. */
import { beforeAll, describe, expect, test } from 'vitest'
import { groupActor } from '../../../../actors/group/machine.ts'
import { type GroupState, type GroupStatus, groupViewOf } from '../../../../actors/group/state.ts'
import { ADMIN, GROUP, STRANGER, termsOf, World } from '../../../model/mini-clients.ts'
import { registerGroupCommand, revertGroupCommand, SIGNED } from '../../../support/accounts.ts'
import { agreed, IN, OUT } from './agreed-groups.ts'

let registered: GroupState

beforeAll(() => {
  const ledger = new World()
  ledger.open('ann', 'bob')
  agreed(ledger, OUT, IN)
  const group = ledger.group(GROUP)
  if (group === undefined) throw new Error('The group is registered.')
  registered = group
})

function answerIn(status: GroupStatus, command: Parameters<typeof groupActor.step>[2]): string | null {
  const result = groupActor.step(GROUP, { ...registered, status }, command, SIGNED)
  if (result.kind === 'unverified' || result.kind === 'stale_look_up') return result.kind
  const { answer } = result
  if (answer === null || answer === 'deferred') return answer
  return answer.kind === 'refused' ? answer.code : answer.kind
}

describe.for<readonly [GroupStatus, string, string, string]>([
  ['registering', 'deferred', 'group_not_found', 'group_not_found'],
  ['refusing', 'deferred', 'group_not_found', 'group_not_found'],
  ['open', 'group_registered', 'group_reverting', 'not_allowed'],
  ['settling', 'group_registered', 'group_settled', 'not_allowed'],
  ['settled', 'group_registered', 'group_settled', 'not_allowed'],
  ['reverting', 'group_registered', 'group_reverting', 'not_allowed'],
  ['reverted', 'group_registered', 'group_reverting', 'not_allowed'],
])('a group that is %s', ([status, repeated, reverted, foreign]) => {
  test('answers a registration again, and refuses the ID to others', () => {
    const terms = termsOf([OUT, IN])
    expect(answerIn(status, registerGroupCommand(terms))).toBe(repeated)
    expect(answerIn(status, registerGroupCommand(terms, { caller: STRANGER }))).toBe('group_exists')
    expect(answerIn(status, registerGroupCommand(termsOf([OUT, IN], { timeoutSeconds: 7 })))).toBe('group_exists')
  })

  test('is reverted by its client or an administrator, and by no other', () => {
    expect(answerIn(status, revertGroupCommand(GROUP))).toBe(reverted)
    expect(answerIn(status, revertGroupCommand(GROUP, { caller: ADMIN }))).toBe(reverted)
    expect(answerIn(status, revertGroupCommand(GROUP, { caller: STRANGER }))).toBe(foreign)
  })
})

test.for<readonly [GroupStatus, string | undefined]>([
  ['registering', undefined],
  ['refusing', undefined],
  ['open', 'open'],
  ['settling', 'open'],
  ['settled', 'settled'],
  ['reverting', 'reverting'],
  ['reverted', 'reverted'],
])('a group that is %s is shown as %s: settled only once all its value can be spent', ([status, shown]) => {
  expect(groupViewOf({ ...registered, status })?.status).toBe(shown)
})
