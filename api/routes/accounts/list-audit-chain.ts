/** GET /v1/accounts/{id}/audit-chain: the entries with the exact strings that were hashed, oldest first (D2, D9). */
import { accountRead } from '../../endpoint/path-values.ts'
import { countMembers, listScope, nextPageToken, readPageRequest } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { auditEntryMembers } from '../../views/views.ts'
import { auditChainResponse } from '../../schemas/responses/account.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listAuditChain: Endpoint = {
  id: 'listAuditChain',
  method: 'GET',
  path: '/v1/accounts/:accountId/audit-chain',
  summary: 'Read an account’s audit chain',
  description: `Oldest first, with the exact strings that were hashed: \`audit_hash\` = SHA-256 of the 32 bytes of \`previous_hash\` followed by the 32 bytes of SHA-256(\`payload\`). Entry 0 is the registration, on a previous hash of 32 zero bytes; failed transactions have no entry. \`ledger verify\` checks a chain offline.`,
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: auditChainResponse }],
  handle: accountRead(async (accountId, { reads, tokens }, call) => {
    const scope = listScope('/v1/accounts/audit-chain', call.caller.clientId, [accountId])
    const { query } = call
    const { limit, after } = readPageRequest(query, tokens, scope)
    const refused = query.problem()
    if (refused !== undefined) return refused
    const page = await reads.auditChain(accountId, after === null ? BEFORE_ALL : Number(after.cursor), limit)
    if (page === undefined) return noSuchAccount()
    return jsonReply(200, {
      account_id: accountId,
      entries: page.entries.map(auditEntryMembers),
      next_page_token: nextPageToken(tokens, scope, page.next === null ? null : String(page.next), null),
      ...countMembers({ total: page.total, exact: true }),
    })
  }),
}

const BEFORE_ALL = -1
