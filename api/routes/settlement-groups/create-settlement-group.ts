/** POST /v1/settlement-groups: agrees on legs that all take effect or none (D10). */
import { groupAddress } from '../../../actors/address.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { NewGroupId } from '../../endpoint/group-ids.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { type Problem, problem } from '../../http/problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { readRegistrationKey } from '../../endpoint/registration-key.ts'
import { jsonReply } from '../../http/reply.ts'
import { type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { readGroupRegistration } from '../../schemas/settlement-group.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { groupMembers } from '../../views/views.ts'

const MAX_OPEN_GROUPS = 1000

export function createSettlementGroup(dependencies: EdgeDependencies, newGroupId: NewGroupId): GuardedRoute {
  const { gateway, reads } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/settlement-groups',
    roles: SUBMITTERS,
    asksLedger: true,
    handle: idempotent(dependencies, {
      read: (body, { http, caller }) =>
        readGroupRegistration(body, () => newGroupId(caller.clientId, readRegistrationKey(http).registrationKey)),
      find: ({ accountIds }, { scope }) => (accountIds.some(scope.includes) ? undefined : noSuchAccount()),
      async run({ groupId, payload }, { caller, trail }, registrationKey) {
        const full = await checkOpenGroups(reads, caller.clientId, groupId)
        if (full !== undefined) return full
        const outcome = await gateway.ask({
          actor: groupAddress(groupId),
          caller,
          trail,
          operation: { kind: 'register_group', payload, registrationKey },
        })
        if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
        const { answer } = outcome
        if (answer.kind === 'refused') return refusalProblem(answer)
        if (answer.kind !== 'group_registered') return unexpectedAnswer(answer)
        return jsonReply(answer.created ? 201 : 200, groupMembers(answer.group), {
          ...(answer.created ? { location: `/v1/settlement-groups/${answer.group.groupId}` } : {}),
          ...repeatHeaders(answer),
        })
      },
    }),
  }
}

/** Counted over what is committed: registrations that are under way at the same time may go beyond the bound. */
async function checkOpenGroups(
  reads: Pick<LedgerReads, 'openGroups' | 'group'>,
  clientId: string,
  groupId: string,
): Promise<Problem | undefined> {
  if ((await reads.openGroups(clientId)) < MAX_OPEN_GROUPS) return undefined
  // The same terms again are no new group.
  const group = await reads.group(groupId)
  if (group !== undefined && group.status !== 'linked') return undefined
  return problem('conflict', 'ERR_CONFLICT', `The client has ${MAX_OPEN_GROUPS.toLocaleString('en')} open groups.`)
}
