/** POST /v1/settlement-groups: agrees on legs that all take effect or none (D10). */
import { type Problem, problem } from '../../http/problem.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { type Endpoint, SUBMITTERS } from '../../endpoint/route.ts'
import { groupAddress } from '../../../actors/address.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { jsonReply } from '../../http/reply.ts'
import { readGroupRegistration } from '../../schemas/requests/settlement-group.ts'
import { groupMembers } from '../../views/views.ts'
import { settlementGroupResponse } from '../../schemas/responses/settlement-group.ts'
import { groupRegistrationSchema } from '../../schemas/responses/group-terms-schema.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'
import { askLedger } from '../../endpoint/ask.ts'

export const createSettlementGroup: Endpoint = {
  id: 'createSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups',
  summary: 'Register a settlement group',
  description: `An atomic settlement between several accounts: all legs settle, or none. The 201 means that every account concerned expects its leg. The ledger reserves nothing before an account has signed its leg, and an account may decline it. Each party then submits its own leg (POST /v1/transactions) with \`group_id\` and \`terms_hash\`.

The legs net to zero per asset: a leg with \`to_account_id\` covers both sides; one marked \`boundary\` has its other side outside the ledger and needs the client’s grant; mints and burns are outside the netting.

When all legs are in, the group is \`settled\`: the value can be spent. The group reverts when a leg fails, when \`timeout_seconds\` have passed, or on request: each completed leg is undone once, and \`failure\` gives the reason. A leg fails \`balance_limit\` if its account has no room when it signs, or when the sender’s value is on hold.

\`terms_hash\` is \`sha256:\` and the SHA-256 of the canonical JSON of \`group_id\` in lower case, \`legs\` exactly as sent and \`timeout_seconds\` in force. The same terms by the same client again are a 200; without \`group_id\` use \`Idempotency-Key\`, so that a repeat finds the same group.`,
  roles: SUBMITTERS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: groupRegistrationSchema,
  answers: [
    {
      status: 201,
      description: 'Every account expects its leg.',
      content: settlementGroupResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
    {
      status: 200,
      description: 'It was registered with these terms before.',
      content: settlementGroupResponse,
      headers: ['Idempotency-Replayed'],
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'A leg names an account, token, class or NFT that does not exist; `errors` names the field.',
    ERR_CONFLICT:
      'The ID is registered with other terms, an account cannot take part, the client has 1,000 open groups, or it expects 100 unsigned legs of one account.',
    ERR_FORBIDDEN: 'The role or the grants of the client do not permit this.',
    ERR_NOT_ISSUER: 'A leg mints a token that its account does not issue.',
    ERR_SELF_TRANSFER: '',
  },
  handle: bodyEndpoint({
    read: (body, { newGroupId }, { caller, registrationKey }) =>
      readGroupRegistration(body, () => newGroupId(caller.clientId, registrationKey)),
    find: ({ accountIds }, { scope }) => (accountIds.some(scope.includes) ? undefined : noSuchAccount()),
    async run({ groupId, payload }, context, call) {
      const full = await checkOpenGroups(context.reads, call.caller.clientId, groupId)
      if (full !== undefined) return full
      const operation = { kind: 'register_group', payload, registrationKey: call.registrationKey } as const
      return askLedger(context, call, { actor: groupAddress(groupId), operation }, 'group_registered', (answer) =>
        jsonReply(answer.created ? 201 : 200, groupMembers(answer.group), {
          ...(answer.created ? { location: `/v1/settlement-groups/${answer.group.groupId}` } : {}),
          ...repeatHeaders(answer),
        }),
      )
    },
  }),
}

const MAX_OPEN_GROUPS = 1000

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
