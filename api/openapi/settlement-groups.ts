/** Settlement groups: legs of several accounts that all take effect or none (D10). */
import { EVERYONE, SUBMITTERS } from '../route.ts'
import { groupLegResponse, settlementGroupResponse } from '../schemas/responses/settlement-group.ts'
import { revertSchema } from '../schemas/settlement-group.ts'
import {
  CREATE_SETTLEMENT_GROUP_EXAMPLES,
  GET_SETTLEMENT_GROUP_EXAMPLES,
  REVERT_SETTLEMENT_GROUP_EXAMPLES,
} from './examples/settlement-groups.ts'
import { groupLegSchema, groupRegistrationSchema } from './group-terms-schema.ts'
import type { Operation, Tag } from './operation.ts'
import { IDEMPOTENCY_KEY_HEADER, PREFER_WAIT } from './parameters.ts'

export const createSettlementGroup: Operation = {
  id: 'createSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups',
  summary: 'Register a settlement group',
  description: `What several accounts will do together: all of it, or nothing. The 201 says that every account concerned expects its leg and keeps room for what it brings. Each party then submits its own leg (POST /v1/transactions) with \`group_id\` and \`terms_hash\`.

The legs net to zero per asset: a leg with \`to_account_id\` stands for both sides; one marked \`boundary\` has its other side outside the ledger and needs the client’s grant; mints and burns are outside the netting.

When all legs are in, the group is \`settled\`: the value can be spent. When one fails, when \`timeout_seconds\` have passed, or on request, it is reverted: what was completed is given back, each leg once.

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
    ERR_NOT_FOUND: 'A leg names an account, token, class or NFT that does not exist; `errors` says which.',
    ERR_CONFLICT:
      'The ID is registered with other terms, an account cannot take part, or the client has 1,000 open groups.',
    ERR_FORBIDDEN: 'The role or the grants of the client do not permit this.',
    ERR_NOT_ISSUER: 'A leg mints a token that its account does not issue.',
    ERR_SELF_TRANSFER: '',
  },
  examples: CREATE_SETTLEMENT_GROUP_EXAMPLES,
}

export const getSettlementGroup: Operation = {
  id: 'getSettlementGroup',
  method: 'GET',
  path: '/v1/settlement-groups/:groupId',
  summary: 'Get where a settlement group stands',
  description: `\`open\`, then \`settled\`; or \`open\`, \`reverting\`, \`reverted\`. Final states never change. An ID that only links transactions and was never registered is \`linked\`.

With \`Prefer: wait=N\` the answer comes once it is final.`,
  roles: EVERYONE,
  parameters: [PREFER_WAIT],
  answers: [
    { status: 200, description: 'The group.', content: settlementGroupResponse, headers: ['Preference-Applied'] },
  ],
  examples: GET_SETTLEMENT_GROUP_EXAMPLES,
}

export const revertSettlementGroup: Operation = {
  id: 'revertSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups/:groupId/revert',
  summary: 'Revert a settlement group',
  description: `By an administrator, or while it is open by the client that registered it. Whatever its legs completed is given back; ask for the group until it is \`reverted\`. Again, nothing new happens. A settled group cannot be reverted.

Of a linked group an administrator names the transactions to be undone in \`txn_ids\`; one that cannot be, because the money is spent, is listed in \`partial_failures\` and does not stop the others.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: revertSchema,
  answers: [{ status: 202, description: 'The revert has begun, or had.', content: settlementGroupResponse }],
  refusals: {
    ERR_NOT_FOUND: 'There is no such group, or it has no such transaction.',
    ERR_CONFLICT: 'The group is settled.',
    ERR_FORBIDDEN: 'The client is no administrator and did not register the group, or it is no longer open.',
  },
  examples: REVERT_SETTLEMENT_GROUP_EXAMPLES,
}

const LEG_FIELDS = {
  account_id: 'The account that submits the leg.',
  amount: 'How much moves; `"1"` for an NFT.',
  to_account_id: 'In transfers: the receiver. The leg stands for both sides.',
}

export const SETTLEMENT_GROUPS: Tag = {
  name: 'Settlement groups',
  description: 'Delivery against payment, and whatever else must happen together or not at all.',
  schemas: {
    GroupLegTerms: {
      schema: groupLegSchema,
      description: 'What one account will do: with a token, or with an NFT.',
      relations: { dependentRequired: { class_id: ['instance_id'], instance_id: ['class_id'] } },
      fields: { ...LEG_FIELDS, boundary: 'Its other side is outside the ledger.' },
    },
    GroupRegistration: {
      schema: groupRegistrationSchema,
      description: 'The terms of a settlement group. At most 65,536 characters.',
      fields: {
        group_id: 'Chosen by the client, or by the service.',
        legs: 'Who does what.',
        timeout_seconds: 'How long the legs may take.',
      },
    },
    GroupRevert: {
      schema: revertSchema,
      description: 'Why a group is to be reverted, and for a linked one what.',
      fields: { reason: 'Why.', txn_ids: 'Of a linked group: the transactions to be undone.' },
    },
    GroupLeg: {
      schema: groupLegResponse,
      description: 'One leg, and what has become of it.',
      fields: {
        ...LEG_FIELDS,
        boundary: 'Its other side is outside the ledger.',
        leg_status: 'What has become of it.',
        txn_id: 'The transaction that is the leg, once it is in.',
      },
    },
    SettlementGroup: {
      schema: settlementGroupResponse,
      description: 'A settlement group. A linked one has no terms, legs and times.',
      fields: {
        group_id: 'The group.',
        status: 'Where it stands: `settled`, `reverted` and `linked` are final.',
        terms_hash: 'What its legs carry, so that they are this agreement’s and no other’s.',
        expected_legs: 'How many legs it has.',
        legs: 'The legs in the order of the terms.',
        compensations: 'Which transaction undid which.',
        partial_failures: 'The transactions that could not be undone, and why.',
        due_at: 'Until when the legs must be in.',
        finished_at: 'When it became final; null before.',
      },
    },
  },
  operations: [createSettlementGroup, getSettlementGroup, revertSettlementGroup],
}
