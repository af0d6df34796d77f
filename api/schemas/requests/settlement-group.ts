/** The shapes of what is asked of settlement groups: registration and revert (D10). */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { DEFAULT_TIMEOUT_SECONDS, readTerms, type TermsRule } from '../../../actors/group/terms.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import type { ErrorCode, Invalid } from '../../http/problem.ts'
import {
  accountIdField,
  groupIdField,
  ledgerIdField,
  signatureField,
  termsHashField,
  textField,
  transactionIdField,
  unsignedOptional,
} from '../fields.ts'
import { define, defineClosed } from '../named-schema.ts'
import { readBody, closedErrors } from '../read-body.ts'

/**
 * As canonical JSON. 64 legs with the longest fields have half of it. Legs may have unknown members, which are hashed
 * and sent on: without a bound a legal body would exceed every message.
 */
const MAX_TERMS_LENGTH = 65_536
const TERMS_LENGTH_RULE = 'must have at most 65,536 characters in all'

const MAX_REVERTED = 100
const TXN_IDS_RULE = 'must be 1 to 100 different transaction IDs'

const TERMS_CODES = {
  account_id: 'ERR_INVALID_ACCOUNT_ID',
  type: 'ERR_INVALID_TYPE',
  amount: 'ERR_INVALID_AMOUNT',
  asset: 'ERR_INVALID_TOKEN_ID',
  class: 'ERR_INVALID_CLASS_ID',
  instance: 'ERR_INVALID_FIELD',
  receiver: 'ERR_INVALID_ACCOUNT_ID',
  self_transfer: 'ERR_SELF_TRANSFER',
  boundary: 'ERR_INVALID_FIELD',
  legs: 'ERR_INVALID_FIELD',
  timeout: 'ERR_INVALID_FIELD',
  group_id: 'ERR_INVALID_GROUP_ID',
  net: 'ERR_INVALID_FIELD',
} as const satisfies Record<TermsRule, ErrorCode>

export interface GroupRegistration {
  /** Lower case. */
  readonly groupId: string
  /** The canonical terms, legs exactly as sent: what `terms_hash` is over. */
  readonly payload: string
  /** Of all legs: those that they are of, and those that they go to. */
  readonly accountIds: readonly string[]
}

/** `newGroupId`: for a body that names none. */
export function readGroupRegistration(
  body: JsonObject,
  newGroupId: () => string,
): Result<GroupRegistration, readonly Invalid[]> {
  const { group_id: named, legs, timeout_seconds: timeoutSeconds } = body
  const groupId = named ?? newGroupId()
  const terms: JsonObject = {
    group_id: typeof groupId === 'string' ? groupId.toLowerCase() : groupId,
    ...(legs === undefined ? {} : { legs }),
    timeout_seconds: timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
  }
  const payload = canonicalJson(terms)
  if (payload.length > MAX_TERMS_LENGTH) {
    return refuse([{ field: 'legs', code: 'ERR_INVALID_FIELD', message: TERMS_LENGTH_RULE }])
  }
  const read = readTerms(terms)
  if (!read.ok) {
    return refuse(read.error.map(({ field, rule, message }) => ({ field, code: TERMS_CODES[rule], message })))
  }
  const accountIds = read.value.legs.flatMap(({ accountId, toAccountId }) =>
    toAccountId === null ? [accountId] : [accountId, toAccountId],
  )
  return ok({ groupId: terms['group_id'] as string, payload, accountIds })
}

export const revertSchema = define('GroupRevert', 'Why a group is to be reverted, and for a linked one what.', {
  reason: [textField(1, 256), 'Why.'],
  txn_ids: [
    unsignedOptional(
      v.pipe(
        v.array(transactionIdField, TXN_IDS_RULE),
        v.check(
          (ids) => ids.length > 0 && ids.length <= MAX_REVERTED && new Set(ids).size === ids.length,
          TXN_IDS_RULE,
        ),
        v.metadata({ minItems: 1, maxItems: MAX_REVERTED, uniqueItems: true }),
      ),
    ),
    'Of a linked group: the transactions to be undone.',
  ],
})

export const declineSchema = defineClosed('GroupDecline', 'An account declines the legs that a group expects of it.', {
  group_id: [groupIdField, 'The group of the path.'],
  account_id: [accountIdField, 'The account, which signs.'],
  terms_hash: [termsHashField, 'The hash of the declined terms.'],
  ledger_id: [v.exactOptional(ledgerIdField), 'The intended ledger. Required in production.'],
  signature: signatureField,
})
/** `groupId`: of the path, in lower case. */
export function readDecline(body: JsonObject, groupId: string) {
  const invalid = closedErrors(declineSchema, body)
  const { group_id: named } = body
  if (
    invalid.every(({ field }) => field !== 'group_id') &&
    typeof named === 'string' &&
    named.toLowerCase() !== groupId
  ) {
    invalid.push({ field: 'group_id', code: 'ERR_INVALID_GROUP_ID', message: 'must be the group of the path' })
  }
  return readBody(declineSchema, body, invalid)
}

export function readRevert(body: JsonObject) {
  return readBody(revertSchema, body)
}
