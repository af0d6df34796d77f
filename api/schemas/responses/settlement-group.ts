/** What the endpoints of settlement groups answer (D10). */
import * as v from 'valibot'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { accountIdField, amountField, tokenIdField } from '../fields.ts'
import { classId, count, groupId, instanceId, reasonCode, sha256, text, timestamp, transactionId } from './values.ts'

export const groupLegResponse = v.object({
  account_id: accountIdField,
  type: v.picklist(TRANSACTION_TYPES),
  amount: amountField,
  token_id: v.exactOptional(tokenIdField),
  class_id: v.exactOptional(classId),
  instance_id: v.exactOptional(instanceId),
  to_account_id: v.exactOptional(accountIdField),
  boundary: v.exactOptional(v.literal(true)),
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
  created_at: v.nullable(timestamp),
  due_at: v.nullable(timestamp),
  finished_at: v.nullable(timestamp),
})
