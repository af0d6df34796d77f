/** GET /v1/transactions/group/{groupID}: the transactions that carry a group ID (D16). */
import type { EdgeDependencies } from '../dependencies.ts'
import type { PageTokens } from '../page-token.ts'
import { listScope, nextPageToken, readPageRequest } from '../paging.ts'
import { checkGroupId } from '../path-values.ts'
import type { PreferWait } from '../prefer-wait.ts'
import { notFound } from '../problem.ts'
import { readQuery } from '../query.ts'
import { jsonReply } from '../reply.ts'
import { EVERYONE, type GuardedRoute, pathValue } from '../route.ts'
import type { TransactionPage, TransactionQuery } from '../../runtime/ports/ledger-reads.ts'
import { cursorText, readCursor } from '../transaction-cursor.ts'
import { groupLegMembers } from '../views.ts'

const NO_OTHER_FILTER = {
  accountId: null,
  createdFromMs: null,
  createdToMs: null,
  type: null,
  tokenId: null,
  tokenClass: null,
  amountMin: null,
  amountMax: null,
  status: null,
  idempotencyKey: null,
  order: 'desc',
  counted: false,
} as const satisfies Partial<TransactionQuery>

export function listGroupTransactions(
  { reads }: EdgeDependencies,
  tokens: PageTokens,
  preferWait: PreferWait,
): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/transactions/group/:groupId',
    roles: EVERYONE,
    asksLedger: false,
    async handle(call) {
      const groupId = pathValue(call, 'groupId').toLowerCase()
      const illFormed = checkGroupId(groupId)
      if (illFormed !== undefined) return illFormed
      const scope = listScope('/v1/transactions/group', call.caller.clientId, [groupId])
      const query = readQuery(call.http.req.url)
      const { limit, after } = readPageRequest(query, tokens, scope)
      const refused = query.problem()
      if (refused !== undefined) return refused
      const cursor = after === null ? null : readCursor(after.cursor)
      const { value: page, headers } = await preferWait.until(
        call.http.req.header('prefer'),
        () => reads.transactions({ ...NO_OTHER_FILTER, groupId, limit, after: cursor }),
        nothingPending,
      )
      const empty = after === null && page.transactions.length === 0 && page.next === null
      // A registered group has an empty list until its first leg is in.
      if (empty && (await reads.group(groupId)) === undefined) {
        return notFound('No transaction carries this group ID.')
      }
      return jsonReply(
        200,
        {
          group_id: groupId,
          transactions: page.transactions.map(groupLegMembers),
          next_page_token: nextPageToken(tokens, scope, page.next === null ? null : cursorText(page.next), null),
        },
        headers,
      )
    },
  }
}

function nothingPending(page: TransactionPage): boolean {
  return page.transactions.every((transaction) => transaction.status !== 'pending')
}
