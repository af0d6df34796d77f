/**
 * The registration of a settlement group in the words of a schema, for the description of the interface. It is judged by
 * `readTerms`, which the home of the group uses too; a test holds both together.
 */
import * as v from 'valibot'
import { DEFAULT_TIMEOUT_SECONDS, MAX_LEGS, MAX_TIMEOUT_SECONDS, MIN_LEGS } from '../../../actors/group/terms.ts'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { accountIdField, amountField, groupIdField, tokenIdField, unsignedOptional } from '../fields.ts'
import { classId, instanceId } from './values.ts'

export const groupLegSchema = v.object({
  account_id: accountIdField,
  type: v.picklist(TRANSACTION_TYPES),
  amount: amountField,
  token_id: unsignedOptional(tokenIdField),
  class_id: unsignedOptional(classId),
  instance_id: unsignedOptional(instanceId),
  to_account_id: unsignedOptional(accountIdField),
  boundary: unsignedOptional(v.boolean()),
})

export const groupRegistrationSchema = v.object({
  group_id: unsignedOptional(groupIdField),
  legs: v.pipe(v.array(groupLegSchema), v.minLength(MIN_LEGS), v.maxLength(MAX_LEGS)),
  timeout_seconds: v.exactOptional(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIMEOUT_SECONDS))),
    DEFAULT_TIMEOUT_SECONDS,
  ),
})
