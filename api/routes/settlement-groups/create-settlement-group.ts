/** POST /v1/settlement-groups: agrees on legs that all take effect or none (D10). */
import { guarded, type GuardedRoute, SUBMITTERS } from '../../endpoint/route.ts'
import { groupAddress } from '../../../actors/address.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import type { NewGroupId } from '../../endpoint/group-ids.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { type Problem, problem } from '../../http/problem.ts'
import { noSuchAccount, refusalProblem, unavailableProblem } from '../../endpoint/refusals.ts'
import { readRegistrationKey } from '../../endpoint/registration-key.ts'
import { jsonReply } from '../../http/reply.ts'
import { readGroupRegistration } from '../../schemas/settlement-group.ts'
import { repeatHeaders } from '../../http/signed-body.ts'
import { unexpectedAnswer } from '../../endpoint/unexpected-answer.ts'
import { groupMembers } from '../../views/views.ts'
import { settlementGroupResponse } from '../../schemas/responses/settlement-group.ts'
import { groupRegistrationSchema } from '../../schemas/responses/group-terms-schema.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'

export const CREATE_SETTLEMENT_GROUP: Operation = {
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
}

const MAX_OPEN_GROUPS = 1000

export function createSettlementGroup(dependencies: EdgeDependencies, newGroupId: NewGroupId): GuardedRoute {
  const { gateway, reads } = dependencies
  return {
    ...guarded(CREATE_SETTLEMENT_GROUP),
    handle: idempotent(dependencies, {
      read: (body, { http, caller }) =>
        readGroupRegistration(body, () => newGroupId(caller.clientId, readRegistrationKey(http).registrationKey)),
      find: ({ accountIds }, { scope }) => (accountIds.some(scope.includes) ? undefined : noSuchAccount()),
      async run({ groupId, payload }, { caller, trail }, registrationKey) {
        const full = await checkOpenGroups(reads, caller.clientId, groupId)
        if (full !== undefined) return full
        const outcome = await gateway.ask({
          actor: groupAddress(groupId),
          caller,
          trail,
          operation: { kind: 'register_group', payload, registrationKey },
        })
        if (outcome.kind === 'unavailable') return unavailableProblem(outcome.reason, outcome.outcome)
        const { answer } = outcome
        if (answer.kind === 'refused') return refusalProblem(answer)
        if (answer.kind !== 'group_registered') return unexpectedAnswer(answer)
        return jsonReply(answer.created ? 201 : 200, groupMembers(answer.group), {
          ...(answer.created ? { location: `/v1/settlement-groups/${answer.group.groupId}` } : {}),
          ...repeatHeaders(answer),
        })
      },
    }),
  }
}

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
