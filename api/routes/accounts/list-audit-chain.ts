/** GET /v1/accounts/{id}/audit-chain: the entries with the exact strings that were hashed, oldest first (D2, D9). */
import { accountRead } from '../../endpoint/path-values.ts'
import { listReply, numberAfter } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { auditEntryMembers } from '../../views/views.ts'
import { auditChainResponse } from '../../schemas/responses/account.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listAuditChain: Endpoint = {
  id: 'listAuditChain',
  method: 'GET',
  path: '/v1/accounts/:accountId/audit-chain',
  summary: 'Read an account’s audit chain',
  description: `Oldest first, with the exact strings that were hashed: \`audit_hash\` = SHA-256 of the 32 bytes of \`previous_hash\` followed by the 32 bytes of SHA-256(\`payload\`). Entry 0 is the registration, on a previous hash of 32 zero bytes; failed transactions have no entry. \`ledger verify\` checks a chain offline. The log proves each entry: \`GET /v1/accounts/{id}/audit-chain/{sequence}/proof\`.`,
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: auditChainResponse }],
  handle: accountRead((accountId, context, call) =>
    listReply(context, call, [], async ({ after, limit }) => {
      const page = await context.reads.auditChain(accountId, numberAfter(after), limit)
      if (page === undefined) return noSuchAccount()
      const members = { account_id: accountId, entries: page.entries.map(auditEntryMembers) }
      return { members, next: page.next, total: page.total }
    }),
  ),
}
