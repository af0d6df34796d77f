/** GET /v1/transactions/group/{groupID}: the transactions that carry a group ID (D16). */
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { listReply } from '../../endpoint/paging.ts'
import { checkPath, groupIdOf } from '../../endpoint/path-values.ts'
import { notFound } from '../../http/problem.ts'
import { seenGroup, seenOfGroup } from '../../endpoint/scoped-reads.ts'
import { cursorText, readCursor } from '../../endpoint/transaction-lines.ts'
import { groupLegMembers } from '../../views/views.ts'
import { groupTransactionsResponse } from '../../schemas/responses/transaction.ts'
import { PAGING, PREFER_WAIT } from '../../endpoint/parameters.ts'

export const listGroupTransactions: Endpoint = {
  id: 'listGroupTransactions',
  method: 'GET',
  path: '/v1/transactions/group/:groupId',
  summary: 'List the transactions under a group ID',
  description:
    'Newest first. A registered settlement group has an empty list until its first leg is in. With `Prefer: wait=N` the answer comes once none of the page is pending.',
  roles: EVERYONE,
  parameters: [PREFER_WAIT, ...PAGING],
  answers: [
    { status: 200, description: 'One page.', content: groupTransactionsResponse, headers: ['Preference-Applied'] },
  ],
  refusals: { ERR_NOT_FOUND: 'No transaction and no settlement group has this ID.' },
  async handle(context, call) {
    const { preferWait, reads } = context
    const misnamed = checkPath(call)
    if (misnamed !== undefined) return misnamed
    const groupId = groupIdOf(call)
    return listReply(context, call, [], async ({ after, limit }) => {
      const from = after === null ? null : readCursor(after)
      const waited = await preferWait.until(
        call,
        (seenBy) => seenOfGroup(reads, seenBy, groupId, { after: from, limit }),
        ({ rows }) => rows.every(({ status }) => status !== 'pending'),
      )
      if (!waited.ok) return waited.error
      const { value: page, scope: seenBy, headers } = waited.value
      const empty = after === null && page.rows.length === 0 && page.next === null
      // A registered group has an empty list until its first leg is in.
      if (empty && (await seenGroup(reads, seenBy, groupId)) === undefined) {
        return notFound('No transaction carries this group ID.')
      }
      const members = { group_id: groupId, transactions: page.rows.map(groupLegMembers) }
      return { members, next: page.next === null ? null : cursorText(page.next), headers }
    })
  },
}
