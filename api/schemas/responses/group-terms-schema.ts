/**
 * The registration of a settlement group in the words of a schema, for the description of the interface. It is judged by
 * `readTerms`, which the home of the group uses too; a test holds both together.
 */
import * as v from 'valibot'
import { DEFAULT_TIMEOUT_SECONDS, MAX_LEGS, MAX_TIMEOUT_SECONDS, MIN_LEGS } from '../../../actors/group/terms.ts'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { accountIdField, amountField, groupIdField, tokenIdField, unsignedOptional } from '../fields.ts'
import { classId, instanceId } from '../values.ts'
import { define } from '../named-schema.ts'

export const groupLegSchema = define(
  'GroupLegTerms',
  'The part of one account in the group: with a token, or with an NFT.',
  {
    account_id: [accountIdField, 'The account that submits the leg.'],
    type: v.picklist(TRANSACTION_TYPES),
    amount: [amountField, 'How much moves; `"1"` for an NFT.'],
    token_id: unsignedOptional(tokenIdField),
    class_id: unsignedOptional(classId),
    instance_id: unsignedOptional(instanceId),
    to_account_id: [unsignedOptional(accountIdField), 'In transfers: the receiver. The leg covers both sides.'],
    boundary: [unsignedOptional(v.boolean()), 'Its other side is outside the ledger.'],
  },
  { relations: { dependentRequired: { class_id: ['instance_id'], instance_id: ['class_id'] } } },
)

export const groupRegistrationSchema = define(
  'GroupRegistration',
  'The terms of a settlement group. At most 65,536 characters.',
  {
    group_id: [unsignedOptional(groupIdField), 'Chosen by the client, or by the service.'],
    legs: [
      v.pipe(v.array(groupLegSchema), v.minLength(MIN_LEGS), v.maxLength(MAX_LEGS)),
      'The parts of the accounts, in this order.',
    ],
    timeout_seconds: [
      v.exactOptional(
        v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TIMEOUT_SECONDS))),
        DEFAULT_TIMEOUT_SECONDS,
      ),
      'How long the legs may take.',
    ],
  },
)
