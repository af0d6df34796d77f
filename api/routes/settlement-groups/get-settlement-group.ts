/** GET /v1/settlement-groups/{id} (D8, D10). */
import type { GroupView } from '../../../actors/group/state.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { checkPath, groupIdOf } from '../../endpoint/path-values.ts'
import { notFound, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { seenGroup } from '../../endpoint/scoped-reads.ts'
import { settlementGroupResponse } from '../../schemas/responses/settlement-group.ts'
import { PREFER_WAIT } from '../../endpoint/parameters.ts'

export const getSettlementGroup: Endpoint = {
  id: 'getSettlementGroup',
  method: 'GET',
  path: '/v1/settlement-groups/:groupId',
  summary: 'Get a settlement group',
  description: `\`open\`, then \`settled\`; or \`open\`, \`reverting\`, \`reverted\`. Final states never change. An ID that only links transactions and was never registered is \`linked\`: its \`net\` is the net amount of its completed transactions per asset, and \`balanced\` is true if it has two or more transactions, all completed, with a net of zero (both are absent beyond 5,000 transactions).

With \`Prefer: wait=N\` the answer comes once it is final.`,
  roles: EVERYONE,
  parameters: [PREFER_WAIT],
  answers: [
    { status: 200, description: 'The group.', content: settlementGroupResponse, headers: ['Preference-Applied'] },
  ],
  refusals: {
    ERR_OVERLOADED:
      'The edge is already summing its limit of linked groups with more than 100 transactions, for this client or in total.',
  },
  async handle({ reads, preferWait, groupBodies }, call) {
    const misnamed = checkPath(call)
    if (misnamed !== undefined) return misnamed
    const groupId = groupIdOf(call)
    const waited = await preferWait.until(
      call,
      (scope) => seenGroup(reads, scope, groupId),
      (seen) => seen === undefined || isFinal(seen),
    )
    if (!waited.ok) return waited.error
    const { value: group, headers } = waited.value
    if (group === undefined) return notFound('There is no such settlement group.')
    const body = await groupBodies.of(call, group)
    return body.ok ? jsonReply(200, body.value, headers) : problem('downstream-failure', 'ERR_OVERLOADED', TOO_MANY)
  },
}

const TOO_MANY = 'Too many large groups are being summed, for this client or on this edge. Retry later.'

function isFinal({ status }: GroupView): boolean {
  return status !== 'open' && status !== 'reverting'
}
