/** Settlement groups: legs of several accounts that all take effect or none (D10). */
import {
  declinedGroupResponse,
  expectationResponse,
  expectationsResponse,
  groupLegResponse,
  settlementGroupResponse,
} from '../schemas/responses/settlement-group.ts'
import { declineSchema, revertSchema } from '../schemas/settlement-group.ts'
import { groupLegSchema, groupRegistrationSchema } from '../schemas/responses/group-terms-schema.ts'
import type { Tag } from '../endpoint/operation.ts'
import { LIST_EXPECTATIONS } from '../routes/accounts/list-expectations.ts'
import { CREATE_SETTLEMENT_GROUP } from '../routes/settlement-groups/create-settlement-group.ts'
import { DECLINE_SETTLEMENT_GROUP } from '../routes/settlement-groups/decline-settlement-group.ts'
import { GET_SETTLEMENT_GROUP } from '../routes/settlement-groups/get-settlement-group.ts'
import { REVERT_SETTLEMENT_GROUP } from '../routes/settlement-groups/revert-settlement-group.ts'

const LEG_FIELDS = {
  account_id: 'The account that submits the leg.',
  amount: 'How much moves; `"1"` for an NFT.',
  to_account_id: 'In transfers: the receiver. The leg covers both sides.',
}

export const SETTLEMENT_GROUPS: Tag = {
  name: 'Settlement groups',
  description: 'Delivery against payment, and whatever else must happen together or not at all.',
  schemas: {
    GroupLegTerms: {
      schema: groupLegSchema,
      description: 'The part of one account in the group: with a token, or with an NFT.',
      relations: { dependentRequired: { class_id: ['instance_id'], instance_id: ['class_id'] } },
      fields: { ...LEG_FIELDS, boundary: 'Its other side is outside the ledger.' },
    },
    GroupRegistration: {
      schema: groupRegistrationSchema,
      description: 'The terms of a settlement group. At most 65,536 characters.',
      fields: {
        group_id: 'Chosen by the client, or by the service.',
        legs: 'The parts of the accounts, in this order.',
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
        leg_status: 'The state of the leg.',
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
        status: 'The status: `settled`, `reverted` and `linked` are final.',
        terms_hash: 'The hash of the terms. Each leg carries it, which binds the leg to these terms.',
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
    CREATE_SETTLEMENT_GROUP,
    GET_SETTLEMENT_GROUP,
    REVERT_SETTLEMENT_GROUP,
    DECLINE_SETTLEMENT_GROUP,
    LIST_EXPECTATIONS,
  ],
}
