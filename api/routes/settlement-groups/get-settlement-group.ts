/** GET /v1/settlement-groups/{id} (D8, D10). */
import type { GroupView } from '../../../actors/group/state.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { GroupBodies } from '../../endpoint/linked-group.ts'
import { checkGroupId } from '../../endpoint/path-values.ts'
import type { PreferWait } from '../../endpoint/prefer-wait.ts'
import { notFound, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../../endpoint/route.ts'
import { seenGroup } from '../../endpoint/scoped-reads.ts'

const TOO_MANY = 'Too many large groups are being summed, for this client or on this edge. Retry later.'

export function getSettlementGroup(
  { reads }: EdgeDependencies,
  preferWait: PreferWait,
  bodies: GroupBodies,
): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/settlement-groups/:groupId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const groupId = pathValue(call, 'groupId').toLowerCase()
      const illFormed = checkGroupId(groupId)
      if (illFormed !== undefined) return illFormed
      const waited = await preferWait.until(
        call,
        (scope) => seenGroup(reads, scope, groupId),
        (seen) => seen === undefined || isFinal(seen),
      )
      if (!waited.ok) return waited.error
      const { value: group, headers } = waited.value
      if (group === undefined) return notFound('There is no such settlement group.')
      const body = await bodies.of(call, group)
      return body.ok ? jsonReply(200, body.value, headers) : problem('downstream-failure', 'ERR_OVERLOADED', TOO_MANY)
    },
  }
}

function isFinal({ status }: GroupView): boolean {
  return status !== 'open' && status !== 'reverting'
}
