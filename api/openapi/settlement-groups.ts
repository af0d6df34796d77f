/** Settlement groups: legs of several accounts that all take effect or none (D10). */
import { EVERYONE, SUBMITTERS } from '../endpoint/route.ts'
import {
  declinedGroupResponse,
  expectationResponse,
  expectationsResponse,
  groupLegResponse,
  settlementGroupResponse,
} from '../schemas/responses/settlement-group.ts'
import { declineSchema, revertSchema } from '../schemas/settlement-group.ts'
import { groupLegSchema, groupRegistrationSchema } from './group-terms-schema.ts'
import type { Operation, Tag } from './model/operation.ts'
import { IDEMPOTENCY_KEY_HEADER, PAGING, PREFER_WAIT } from './parameters.ts'

export const createSettlementGroup: Operation = {
  id: 'createSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups',
  summary: 'Register a settlement group',
  description: `An atomic settlement between several accounts: all legs settle, or none. The 201 means that every account concerned expects its leg. The ledger reserves nothing before an account has signed its leg, and an account may decline it. Each party then submits its own leg (POST /v1/transactions) with \`group_id\` and \`terms_hash\`.

The legs net to zero per asset: a leg with \`to_account_id\` stands for both sides; one marked \`boundary\` has its other side outside the ledger and needs the client’s grant; mints and burns are outside the netting.

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
    ERR_NOT_FOUND: 'A leg names an account, token, class or NFT that does not exist; `errors` says which.',
    ERR_CONFLICT:
      'The ID is registered with other terms, an account cannot take part, the client has 1,000 open groups, or it expects 100 unsigned legs of one account.',
    ERR_FORBIDDEN: 'The role or the grants of the client do not permit this.',
    ERR_NOT_ISSUER: 'A leg mints a token that its account does not issue.',
    ERR_SELF_TRANSFER: '',
  },
}

export const getSettlementGroup: Operation = {
  id: 'getSettlementGroup',
  method: 'GET',
  path: '/v1/settlement-groups/:groupId',
  summary: 'Get where a settlement group stands',
  description: `\`open\`, then \`settled\`; or \`open\`, \`reverting\`, \`reverted\`. Final states never change. An ID that only links transactions and was never registered is \`linked\`: its \`net\` is the net amount of its completed transactions per asset, and \`balanced\` is true if it has two or more transactions, all completed, with a net of zero (both are absent beyond 5,000 transactions).

With \`Prefer: wait=N\` the answer comes once it is final.`,
  roles: EVERYONE,
  parameters: [PREFER_WAIT],
  answers: [
    { status: 200, description: 'The group.', content: settlementGroupResponse, headers: ['Preference-Applied'] },
  ],
  refusals: {
    ERR_OVERLOADED:
      'The edge is already summing its limit of linked groups with more than 100 transactions, for this client or in total.',
  },
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
}

export const declineSettlementGroup: Operation = {
  id: 'declineSettlementGroup',
  method: 'POST',
  path: '/v1/settlement-groups/:groupId/decline',
  summary: 'Decline a settlement group',
  description: `The account declines the legs that a group expects of it, and the group reverts. The account’s key signs all fields but \`signature\`. The request is idempotent. An account cannot decline a leg that it has signed.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: declineSchema,
  answers: [
    { status: 202, description: 'The legs are declined.', content: declinedGroupResponse, headers: ['Location'] },
  ],
  refusals: {
    ERR_NOT_FOUND: 'There is no such account, or no open group of this ID and terms expects a leg of it.',
    ERR_CONFLICT: 'The account has signed its leg, or is closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: 'The signature does not verify under the key of the account.',
    ERR_WRONG_LEDGER: 'The request was signed for another ledger; in production `ledger_id` is required.',
  },
}

export const listExpectations: Operation = {
  id: 'listExpectations',
  method: 'GET',
  path: '/v1/accounts/:accountId/expectations',
  summary: 'List the legs that settlement groups expect of an account',
  description:
    'Unsigned legs of open groups that name the account, by group ID. Any client may register a group that names any account: the account signs such a leg, declines the group, or lets it time out.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: expectationsResponse }],
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
    GroupDecline: {
      schema: declineSchema,
      description: 'An account declines the legs that a group expects of it.',
      closed: true,
      fields: {
        group_id: 'The group of the path.',
        account_id: 'The account, which signs.',
        terms_hash: 'The hash of the declined terms.',
        ledger_id: 'The intended ledger. Required in production.',
      },
    },
    DeclinedGroup: {
      schema: declinedGroupResponse,
      description: 'The account has declined its legs: the group reverts.',
      fields: { group_id: 'The group.', account_id: 'The account.', declined: 'Always true.' },
    },
    ExpectationList: {
      schema: expectationsResponse,
      description: 'The legs that settlement groups expect of an account.',
      fields: { account_id: 'The account.', expectations: 'By group ID and leg.' },
    },
    Expectation: {
      schema: expectationResponse,
      description: 'A leg that a group expects of the account and that it has not signed.',
      fields: {
        group_id: 'The group.',
        terms_hash: 'The `terms_hash` for the leg’s submission.',
        leg: 'The index of the leg in the terms, from 0.',
        role: '`own`: the account submits the leg; `receiver`: the leg is a transfer to it.',
        terms: 'The leg as registered.',
        registered_by: 'The client that registered the group.',
        due_at: 'When the group reverts unless all its legs are in.',
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
        failure: 'Why the group reverts.',
        net: 'Of a linked group: the net amount of its completed transactions, per asset.',
        balanced: 'Of a linked group: it has two or more transactions, all completed, with a net of zero.',
        due_at: 'Until when the legs must be in.',
        finished_at: 'When it became final; null before.',
      },
    },
  },
  operations: [
    createSettlementGroup,
    getSettlementGroup,
    revertSettlementGroup,
    declineSettlementGroup,
    listExpectations,
  ],
}
