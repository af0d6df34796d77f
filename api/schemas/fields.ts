/**
 * Schemas of the fields that several requests share. A field that is absent is a matter of the object around it. The
 * metadata says in the words of JSON Schema what a check demands, for the interface's description; it checks nothing.
 */
import * as v from 'valibot'
import { isAccountId, isAttester, isTransactionId, isUuid } from '../../actors/identifiers.ts'
import { isDecimalString } from '../../actors/money.ts'
import { isRecord } from '../../actors/shapes.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { named } from './named-schema.ts'

const SYMBOL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/
const NOT_ZERO = /[1-9]/

export function isTokenId(text: string): boolean {
  return SYMBOL.test(text)
}

export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text)
}

export const ACCOUNT_ID_RULE = 'must be 1 to 128 characters of a-z, A-Z, 0-9 and _ . - : @'
export const IDEMPOTENCY_KEY_RULE = 'must be 1 to 255 printable ASCII characters'
export const TOKEN_ID_RULE = 'must be the symbol of a token'
export const GROUP_ID_RULE = 'must be a UUID'
const AMOUNT_RULE = 'must be a decimal string above zero with at most 18 integer and 18 fractional digits'
const SIGNATURE_RULE = 'must be a signature in base64url'

export const ACCOUNT_ID_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$'
export const DECIMAL_PATTERN = '^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?$'
export const SYMBOL_PATTERN = SYMBOL.source

/** A string that a check accepts. `metadata`: the check in JSON Schema. */
export function checkedField(
  rule: string,
  holds: (text: string) => boolean,
  metadata: Readonly<Record<string, unknown>> = {},
) {
  return v.pipe(v.string(rule), v.check(holds, rule), v.metadata(metadata))
}

export function textField(
  least: number,
  most: number,
  rule = `must be ${least} to ${most.toLocaleString('en')} characters`,
) {
  const holds = (text: string): boolean => text.length >= least && codePoints(text) <= most
  return checkedField(rule, holds, { ...(least === 0 ? {} : { minLength: least }), maxLength: most })
}

/** Any JSON object that a check accepts. */
export function objectField(rule: string, holds: (value: JsonObject) => boolean = () => true) {
  return v.pipe(
    v.custom<JsonObject>((value) => isRecord<JsonObject>(value) && holds(value), rule),
    v.metadata({ type: 'object', additionalProperties: true }),
  )
}

export const accountIdField = named(
  'AccountId',
  'An account. `.` and `..` are none.',
  checkedField(ACCOUNT_ID_RULE, isAccountId, { pattern: ACCOUNT_ID_PATTERN }),
)
/** For JSON Schema. Many validators lack Unicode classes: the pattern excludes only control characters and line breaks. */
export const PRINTABLE = '[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]'
export const ATTESTER_RULE = 'must be 1 to 256 printable characters'
export const attesterField = checkedField(ATTESTER_RULE, isAttester, {
  pattern: `^(?!erased:[0-9a-f]{12}$)${PRINTABLE}+$`,
  maxLength: 256,
})
export const amountField = named(
  'Amount',
  'A quantity above zero, as it was signed: trailing zeros are kept.',
  checkedField(AMOUNT_RULE, isAmount, { pattern: '^(?=.*[1-9])(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?$' }),
)
export const tokenIdField = named(
  'TokenId',
  'A fungible token: its symbol as registered, or `BASE`, the ledger’s own unit.',
  checkedField(TOKEN_ID_RULE, isTokenId, { pattern: SYMBOL_PATTERN }),
)
export const groupIdField = checkedField(GROUP_ID_RULE, isUuid, { format: 'uuid' })
export const idempotencyKeyField = named(
  'IdempotencyKey',
  'Chosen by the client, once per account and kind of order; never expires. Sent again, it gets the first answer again.',
  checkedField(IDEMPOTENCY_KEY_RULE, isIdempotencyKey, { pattern: IDEMPOTENCY_KEY.source }),
)
export const transactionIdField = checkedField('must be a transaction ID', isTransactionId, {
  pattern: '^txn_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
})
export const ledgerIdField = textField(1, 128, 'must be the ID of a ledger')
const TERMS_HASH_RULE = 'must be sha256: and 64 lower-case hexadecimal digits'
export const termsHashField = v.pipe(v.string(TERMS_HASH_RULE), v.regex(/^sha256:[0-9a-f]{64}$/, TERMS_HASH_RULE))
/** Whether it verifies is for the owner to say: here it only has to be there. */
export const signatureField = named(
  'Signature',
  'ECDSA P-256 over the SHA-256 of the canonical JSON (RFC 8785) of the body without `signature`: base64url or base64 of the 64 bytes r||s, or of DER.',
  v.pipe(v.string(SIGNATURE_RULE), v.nonEmpty(SIGNATURE_RULE)),
)

/** An optional field. In an unsigned body null counts as absent. */
export function unsignedOptional<const S extends v.GenericSchema>(schema: S) {
  return v.exactOptional(v.nullable(schema))
}

function isAmount(text: string): boolean {
  return isDecimalString(text) && NOT_ZERO.test(text)
}

/** Lengths count code points (D1). */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
