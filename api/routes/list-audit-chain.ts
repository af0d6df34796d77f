/** GET /v1/accounts/{id}/audit-chain: the entries with the exact strings that were hashed, oldest first (D2, D9). */
import { accountRead } from '../account-read.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import type { PageTokens } from '../page-token.ts'
import { listScope, nextPageToken, readPageRequest } from '../paging.ts'
import { readQuery } from '../query.ts'
import { noSuchAccount } from '../refusals.ts'
import { jsonReply } from '../reply.ts'
import type { GuardedRoute } from '../route.ts'
import { auditEntryMembers } from '../views.ts'

const BEFORE_ALL = -1

export function listAuditChain({ reads }: EdgeDependencies, tokens: PageTokens): GuardedRoute {
  return accountRead('/v1/accounts/:accountId/audit-chain', async (accountId, call) => {
    const scope = listScope('/v1/accounts/audit-chain', call.caller.clientId, [accountId])
    const query = readQuery(call.http.req.url)
    const { limit, after } = readPageRequest(query, tokens, scope)
    const refused = query.problem()
    if (refused !== undefined) return refused
    const page = await reads.auditChain(accountId, after === null ? BEFORE_ALL : Number(after.cursor), limit)
    if (page === undefined) return noSuchAccount()
    return jsonReply(200, {
      account_id: accountId,
      entries: page.entries.map(auditEntryMembers),
      next_page_token: nextPageToken(tokens, scope, page.next === null ? null : String(page.next), null),
      total_count: page.total,
    })
  })
}
