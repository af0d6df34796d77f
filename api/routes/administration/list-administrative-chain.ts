/** GET /v1/admin/audit-chain: every act of administrators, in a chain whose end the service signs. */
import { showHash } from '../../../actors/audit-chain.ts'
import type { AdministrativeEntry, AdministrativePage } from '../../../runtime/ports/administrative-chain.ts'
import { listReply, numberAfter } from '../../endpoint/paging.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import { ADMINS, type EdgeContext, type Endpoint } from '../../endpoint/route.ts'
import { signAssertion } from '../../endpoint/service-signature.ts'
import { problem } from '../../http/problem.ts'
import { accountIdField } from '../../schemas/fields.ts'
import { ACTS } from './recorded-acts.ts'
import { administrativeChainResponse } from '../../schemas/responses/administrative-chain.ts'

const UNSCOPED = 'The administrative chain is for administrators whose client is not limited to accounts.'

export const listAdministrativeChain: Endpoint = {
  id: 'listAdministrativeChain',
  method: 'GET',
  path: '/v1/admin/audit-chain',
  summary: 'Read the administrative chain',
  description: `Each act of an administrator, and its outcome, oldest first, by a request or by a command. An act is recorded before it is done; without an entry it is not done. An act without an outcome is under way, or may have been done. A replayed reply is no act.

The entries are hashed as those of accounts are: \`audit_hash\` = SHA-256 of the 32 bytes of \`previous_hash\` followed by the 32 bytes of SHA-256(\`payload\`). \`head\` has the last entry of the page and the number of entries of the whole chain, signed. \`ledger verify\` checks saved pages, and the log of the ledger has every entry.

${ACTS}`,
  roles: ADMINS,
  parameters: [
    { name: 'account_id', in: 'query', description: 'Only acts on this account.', schema: accountIdField },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page.', content: administrativeChainResponse }],
  refusals: {
    ERR_FORBIDDEN: 'The client is no administrator, or is limited to accounts.',
    ERR_INVALID_ACCOUNT_ID: '',
  },
  handle(context, call) {
    if (!call.scope.whole) return problem('forbidden', 'ERR_FORBIDDEN', UNSCOPED)
    const accountId = call.query.checked('account_id', accountIdField, 'ERR_INVALID_ACCOUNT_ID')
    return listReply(context, call, [accountId], async ({ after, limit }) => {
      const page = await context.administrativeChain.entries({ after: numberAfter(after), limit, accountId })
      const head = accountId === null ? await headOf(context, page) : {}
      const entries = page.entries.map(entryMembers)
      const members = { ledger_id: context.settings.ledgerId, entries, ...head }
      return { members, next: page.next, ...(accountId === null ? { total: page.total } : {}) }
    })
  },
}

function entryMembers({ sequence, previousHash, auditHash, payload }: AdministrativeEntry): object {
  return { sequence, previous_hash: showHash(previousHash), audit_hash: showHash(auditHash), payload }
}

/** Empty without an entry. */
async function headOf(
  { serviceKeys, clock, settings }: EdgeContext,
  { entries, total }: AdministrativePage,
): Promise<{ readonly head?: object }> {
  const last = entries.at(-1)
  if (last === undefined) return {}
  const { content, signature } = await signAssertion(serviceKeys, clock.now(), (keyId, at) => ({
    type: 'administrative_chain',
    ledger_id: settings.ledgerId,
    sequence: last.sequence,
    audit_hash: showHash(last.auditHash),
    total_count: total,
    at,
    key_id: keyId,
  }))
  return { head: { ...content, signature } }
}
