/** GET /v1/accounts/{id}/expectations: legs that groups expect of the account and that it has not signed (D10). */
import { showHash } from '../../../actors/audit-chain.ts'
import type { LegHold } from '../../../actors/account/state.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { accountRead } from '../../endpoint/path-values.ts'
import { listReply, sliceAfter } from '../../endpoint/paging.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { termsMembers } from '../../views/views.ts'
import { expectationsResponse } from '../../schemas/responses/settlement-group.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listExpectations: Endpoint = {
  id: 'listExpectations',
  method: 'GET',
  path: '/v1/accounts/:accountId/expectations',
  summary: 'List the legs that settlement groups expect of an account',
  description:
    'Unsigned legs of open groups that name the account, by group ID. Any client may register a group that names any account: the account signs such a leg, declines the group, or lets it time out.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: expectationsResponse }],
  handle: accountRead((accountId, context, call) =>
    listReply(context, call, [], async (request) => {
      const expectations = await context.reads.expectations(accountId)
      if (expectations === undefined) return noSuchAccount()
      // Few clients, each with at most 100 legs of an account: the read returns all of them, and this route pages them.
      const page = sliceAfter(expectations, cursorOf, request)
      return { members: { account_id: accountId, expectations: page.rows.map(expectationMembers) }, next: page.next }
    }),
  ),
}

/** In the order in which `expectations` gives them. */
function cursorOf({ groupId, leg, role }: LegHold): string {
  return `${groupId} ${String(leg).padStart(2, '0')} ${role}`
}

function expectationMembers({ groupId, termsHash, leg, role, terms, clientId, dueAtMs }: LegHold): object {
  return {
    group_id: groupId,
    terms_hash: showHash(termsHash),
    leg,
    role: role === 'receiver' ? 'receiver' : 'own',
    terms: termsMembers(terms),
    registered_by: clientId,
    due_at: isoTimestamp(dueAtMs),
  }
}
