/** The shapes of orders about holds (D25): signed bodies, so unknown fields are refused. */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { isHoldId } from '../../../actors/identifiers.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { Invalid } from '../../http/problem.ts'
import {
  accountIdField,
  amountField,
  checkedField,
  idempotencyKeyField,
  ledgerIdField,
  signatureField,
  textField,
  tokenIdField,
} from '../fields.ts'
import { defineClosed } from '../named-schema.ts'
import { readBody, closedErrors } from '../read-body.ts'
import { metadataField } from './submission.ts'

const HOLD_RULE = 'must be the hold of the path'
const EXPIRY_RULE = 'must be an RFC 3339 timestamp with an offset'

const holdIdField = checkedField('must be a hold ID', isHoldId, { pattern: '^hld_[0-7][0-9A-HJKMNP-TV-Z]{25}$' })
const ledgerIdEntry = [
  v.exactOptional(ledgerIdField),
  'The ledger that this is for, as `/readyz` tells it. Required in production.',
] as const

export const holdSchema = defineClosed('HoldOrder', 'A signed order that puts value on hold.', {
  account_id: [accountIdField, 'The payer, whose key signs.'],
  to_account_id: [accountIdField, 'The beneficiary, which may capture the hold.'],
  amount: [amountField, 'How much. At most as many fractional digits as the token has decimals.'],
  token_id: [v.exactOptional(tokenIdField), 'The token; without it (or with `BASE`) the ledger’s own unit.'],
  expires_at: [
    checkedField(EXPIRY_RULE, (text) => parseTimestamp(text) !== undefined, { format: 'date-time' }),
    'When the hold expires; at most 90 days from now.',
  ],
  metadata: [v.exactOptional(metadataField), 'Up to 16 strings for the client’s own use.'],
  ledger_id: ledgerIdEntry,
  idempotency_key: idempotencyKeyField,
  signature: signatureField,
})

export const captureSchema = defineClosed('HoldCapture', 'A signed order of the beneficiary that captures a hold.', {
  hold_id: [holdIdField, 'The hold of the path, so that it is signed.'],
  account_id: [accountIdField, 'The beneficiary, whose key signs.'],
  amount: [amountField, 'How much; at most what remains.'],
  final: [v.exactOptional(v.boolean('must be true or false')), 'True releases what then remains. False by default.'],
  ledger_id: ledgerIdEntry,
  idempotency_key: idempotencyKeyField,
  signature: signatureField,
})

export const releaseSchema = defineClosed(
  'HoldRelease',
  'Ends a hold: signed by its beneficiary, or with the `reason` of an administrator.',
  {
    hold_id: [v.exactOptional(holdIdField), 'The hold of the path. Required with `signature`.'],
    account_id: [v.exactOptional(accountIdField), 'The beneficiary, whose key signs. Required with `signature`.'],
    ledger_id: ledgerIdEntry,
    signature: v.exactOptional(signatureField),
    reason: [v.exactOptional(textField(1, 256)), 'Why. Without `signature`, from an administrator.'],
  },
)

export function readHold(body: JsonObject) {
  const invalid = closedErrors(holdSchema, body)
  if (invalid.length === 0 && body['account_id'] === body['to_account_id']) {
    invalid.push({ field: 'to_account_id', code: 'ERR_SELF_TRANSFER', message: 'is the account itself' })
  }
  return readBody(holdSchema, body, invalid)
}

/** `holdId`: of the path. */
export function readCapture(body: JsonObject, holdId: string) {
  return readBody(captureSchema, body, [...closedErrors(captureSchema, body), ...otherHold(body, holdId)])
}

export type Release =
  | { readonly kind: 'signed'; readonly accountId: string; readonly signature: string }
  | { readonly kind: 'forced'; readonly reason: string }

/** `holdId`: of the path. */
export function readRelease(body: JsonObject, holdId: string): Result<Release, readonly Invalid[]> {
  const invalid = [...closedErrors(releaseSchema, body), ...otherHold(body, holdId)]
  const { account_id: accountId, signature, reason } = body
  const needed = signature === undefined ? ['reason'] : ['hold_id', 'account_id']
  for (const field of needed) {
    if (body[field] !== undefined) continue
    const message = signature === undefined ? 'is required without signature' : 'is required with signature'
    invalid.push({ field, code: field === 'account_id' ? 'ERR_INVALID_ACCOUNT_ID' : 'ERR_INVALID_FIELD', message })
  }
  const alone = signature === undefined ? ['hold_id', 'account_id', 'ledger_id'] : ['reason']
  for (const field of alone) {
    if (body[field] === undefined) continue
    const message = signature === undefined ? 'is allowed with signature only' : 'is not allowed with signature'
    invalid.push({ field, code: 'ERR_INVALID_FIELD', message })
  }
  if (invalid.length > 0) return refuse(invalid)
  return signature === undefined
    ? ok({ kind: 'forced', reason: reason as string })
    : ok({ kind: 'signed', accountId: accountId as string, signature: signature as string })
}

function otherHold({ hold_id: named }: JsonObject, holdId: string): readonly Invalid[] {
  if (typeof named !== 'string' || !isHoldId(named) || named === holdId) return []
  return [{ field: 'hold_id', code: 'ERR_INVALID_FIELD', message: HOLD_RULE }]
}
