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
} from './values.ts'

/** The net amount in minimal form: negative if more value left than came in. */
const netAmount = v.pipe(v.string(), v.regex(/^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/))

const asset = {
  token_id: v.exactOptional(tokenIdField),
  class_id: v.exactOptional(classId),
  instance_id: v.exactOptional(instanceId),
}

const legTerms = {
  account_id: accountIdField,
  type: v.picklist(TRANSACTION_TYPES),
  amount: amountField,
  ...asset,
  to_account_id: v.exactOptional(accountIdField),
  boundary: v.exactOptional(v.literal(true)),
}

export const groupLegResponse = v.object({
  ...legTerms,
  leg_status: v.picklist(['expected', 'completed', 'failed', 'compensated']),
  txn_id: v.exactOptional(transactionId),
})

export const settlementGroupResponse = v.object({
  group_id: groupId,
  status: v.picklist(['open', 'settled', 'reverting', 'reverted', 'linked']),
  terms_hash: v.nullable(sha256),
  expected_legs: count,
  legs: v.array(groupLegResponse),
  compensations: v.array(v.object({ compensates: transactionId, txn_id: transactionId })),
  partial_failures: v.array(v.object({ txn_id: transactionId, code: reasonCode, detail: text })),
  failure: v.exactOptional(v.object({ code: reasonCode, detail: text })),
  net: v.exactOptional(v.array(v.object({ ...asset, amount: netAmount }))),
  balanced: v.exactOptional(v.boolean()),
  created_at: v.nullable(timestamp),
  due_at: v.nullable(timestamp),
  finished_at: v.nullable(timestamp),
})

export const declinedGroupResponse = v.object({
  group_id: groupId,
  account_id: accountIdField,
  declined: v.literal(true),
})

export const expectationResponse = v.object({
  group_id: groupId,
  terms_hash: sha256,
  leg: count,
  role: v.picklist(['own', 'receiver']),
  terms: v.object(legTerms),
  registered_by: text,
  due_at: timestamp,
})

export const expectationsResponse = v.object({
  account_id: accountIdField,
  expectations: v.array(expectationResponse),
  next_page_token: pageToken,
})
