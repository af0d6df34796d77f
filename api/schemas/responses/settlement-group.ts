/** Responses about settlement groups (D10). */
import * as v from 'valibot'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { accountIdField, amountField, tokenIdField } from '../fields.ts'
import {
  classId,
  count,
  groupId,
  instanceId,
  pageToken,
  reasonCode,
  sha256,
  text,
  timestamp,
  transactionId,
} from '../values.ts'
import { define } from '../named-schema.ts'

/** The net amount in minimal form: negative if more value left than came in. */
const netAmount = v.pipe(v.string(), v.regex(/^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/))

const assetEntries = {
  token_id: v.exactOptional(tokenIdField),
  class_id: v.exactOptional(classId),
  instance_id: v.exactOptional(instanceId),
}

const legTerms = {
  account_id: accountIdField,
  type: v.picklist(TRANSACTION_TYPES),
  amount: amountField,
  ...assetEntries,
  to_account_id: v.exactOptional(accountIdField),
  boundary: v.exactOptional(v.literal(true)),
}

export const groupLegResponse = define('GroupLeg', 'One leg, and what has become of it.', {
  ...legTerms,
  account_id: [accountIdField, 'The account that submits the leg.'],
  amount: [amountField, 'How much moves; `"1"` for an NFT.'],
  to_account_id: [legTerms.to_account_id, 'In transfers: the receiver. The leg covers both sides.'],
  boundary: [legTerms.boundary, 'Its other side is outside the ledger.'],
  leg_status: [v.picklist(['expected', 'completed', 'failed', 'compensated']), 'The state of the leg.'],
  txn_id: [v.exactOptional(transactionId), 'The transaction that is the leg, once it is in.'],
})

export const settlementGroupResponse = define(
  'SettlementGroup',
  'A settlement group. A linked one has no terms, legs and times.',
  {
    group_id: [groupId, 'The group.'],
    status: [
      v.picklist(['open', 'settled', 'reverting', 'reverted', 'linked']),
      'The status: `settled`, `reverted` and `linked` are final.',
    ],
    terms_hash: [v.nullable(sha256), 'The hash of the terms. Each leg carries it, which binds the leg to these terms.'],
    expected_legs: [count, 'How many legs it has.'],
    legs: [v.array(groupLegResponse), 'The legs in the order of the terms.'],
    compensations: [
      v.array(v.object({ compensates: transactionId, txn_id: transactionId })),
      'Which transaction undid which.',
    ],
    partial_failures: [
      v.array(v.object({ txn_id: transactionId, code: reasonCode, detail: text })),
      'The transactions that could not be undone, and why.',
    ],
    failure: [v.exactOptional(v.object({ code: reasonCode, detail: text })), 'Why the group reverts.'],
    net: [
      v.exactOptional(v.array(v.object({ ...assetEntries, amount: netAmount }))),
      'Of a linked group: the net amount of its completed transactions, per asset.',
    ],
    balanced: [
      v.exactOptional(v.boolean()),
      'Of a linked group: it has two or more transactions, all completed, with a net of zero.',
    ],
    created_at: v.nullable(timestamp),
    due_at: [v.nullable(timestamp), 'Until when the legs must be in.'],
    finished_at: [v.nullable(timestamp), 'When it became final; null before.'],
  },
)

export const declinedGroupResponse = define('DeclinedGroup', 'The account has declined its legs: the group reverts.', {
  group_id: [groupId, 'The group.'],
  account_id: [accountIdField, 'The account.'],
  declined: [v.literal(true), 'Always true.'],
})

export const expectationResponse = define(
  'Expectation',
  'A leg that a group expects of the account and that it has not signed.',
  {
    group_id: [groupId, 'The group.'],
    terms_hash: [sha256, 'The `terms_hash` for the leg’s submission.'],
    leg: [count, 'The index of the leg in the terms, from 0.'],
    role: [
      v.picklist(['own', 'receiver']),
      '`own`: the account submits the leg; `receiver`: the leg is a transfer to it.',
    ],
    terms: [v.object(legTerms), 'The leg as registered.'],
    registered_by: [text, 'The client that registered the group.'],
    due_at: [timestamp, 'When the group reverts unless all its legs are in.'],
  },
)

export const expectationsResponse = define('ExpectationList', 'The legs that settlement groups expect of an account.', {
  account_id: [accountIdField, 'The account.'],
  expectations: [v.array(expectationResponse), 'By group ID and leg.'],
  next_page_token: pageToken,
})
