/** Turns the issues of a schema into fields and error codes. The code follows from the name of the field. */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { type ErrorCode, type Invalid, MAX_ERRORS } from './problem.ts'

export const FIELD_CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['account_id', 'ERR_INVALID_ACCOUNT_ID'],
  ['to_account_id', 'ERR_INVALID_ACCOUNT_ID'],
  ['owner', 'ERR_INVALID_ACCOUNT_ID'],
  ['amount', 'ERR_INVALID_AMOUNT'],
  ['type', 'ERR_INVALID_TYPE'],
  ['token_id', 'ERR_INVALID_TOKEN_ID'],
  ['class_id', 'ERR_INVALID_CLASS_ID'],
  ['subject_class', 'ERR_INVALID_CLASS_ID'],
  ['group_id', 'ERR_INVALID_GROUP_ID'],
  ['signature', 'ERR_INVALID_SIGNATURE'],
  ['proof', 'ERR_INVALID_SIGNATURE'],
  ['idempotency_key', 'ERR_INVALID_IDEMPOTENCY_KEY'],
  ['public_key', 'ERR_INVALID_PUBLIC_KEY'],
  ['symbol', 'ERR_INVALID_SYMBOL'],
  ['decimals', 'ERR_INVALID_DECIMALS'],
  ['issuer', 'ERR_INVALID_ISSUER'],
  ['name', 'ERR_INVALID_NAME'],
  ['metadata_schema', 'ERR_INVALID_SCHEMA'],
  ['requester', 'ERR_INVALID_REQUESTER'],
  ['total_supply', 'ERR_INVALID_TOTAL_SUPPLY'],
  ['expires_at', 'ERR_INVALID_TIMESTAMP'],
  ['health_state', 'ERR_INVALID_HEALTH_STATE'],
  ['txn_count', 'ERR_INVALID_TXN_COUNT'],
])

/** The message of an object schema; distinguishes a missing member from a value that is no object. */
export function objectMessage(issue: { readonly expected: string | null }): string {
  return issue.expected === 'Object' ? 'must be an object' : 'is required'
}

/** Everything that is wrong with the body, in the order of the schema. */
export function schemaErrors(
  schema: v.GenericSchema,
  body: JsonObject,
  codes: ReadonlyMap<string, ErrorCode> = FIELD_CODES,
): Invalid[] {
  const result = v.safeParse(schema, body)
  if (result.success) return []
  return result.issues.map((issue) => {
    const invalid = invalidOf(issue, codes)
    return isNullOptional(schema, issue) ? { ...invalid, message: NULL_RULE } : invalid
  })
}

export const NULL_RULE = 'is null: omit it, since the body is signed'

/** Unsigned bodies accept null for an optional field (`unsignedOptional`). */
function isNullOptional(schema: v.GenericSchema, issue: v.BaseIssue<unknown>): boolean {
  if (issue.path?.at(-1)?.value !== null) return false
  let field: object | undefined = schema
  for (const { key } of issue.path) field = fieldOf(field, key)
  return field !== undefined && 'type' in field && field.type === 'exact_optional'
}

function fieldOf(schema: object | undefined, key: unknown): object | undefined {
  if (schema === undefined) return undefined
  const object = 'wrapped' in schema ? schema.wrapped : schema
  if (typeof object !== 'object' || object === null || !('entries' in object)) return undefined
  const entries = new Map<unknown, object>(Object.entries(object.entries as Readonly<Record<string, object>>))
  return entries.get(key)
}

function invalidOf(issue: v.BaseIssue<unknown>, codes: ReadonlyMap<string, ErrorCode>): Invalid {
  const keys = (issue.path ?? []).map((item) => item.key)
  const last = keys.at(-1)
  const field = fieldPath(keys)
  // Of an object that takes no others.
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    return { field, message: 'is not a field of this request', code: 'ERR_UNKNOWN_FIELD' }
  }
  return {
    field,
    message: issue.message,
    code: (typeof last === 'string' ? codes.get(last) : undefined) ?? 'ERR_INVALID_FIELD',
  }
}

/** `legs[0].amount`. */
export function fieldPath(keys: readonly unknown[]): string {
  let path = ''
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`
    else path += path === '' ? String(key) : `.${String(key)}`
  }
  return path === '' ? 'body' : path
}

/**
 * In a money order a misspelt field must not be ignored (D5). `prefix`: the path of the object, with its dot.
 * Ends with the first that no problem would list.
 */
export function unknownFields(body: JsonObject, known: object, prefix = ''): Invalid[] {
  return Object.keys(body)
    .filter((field) => !Object.hasOwn(known, field))
    .slice(0, MAX_ERRORS + 1)
    .map((field) => ({
      field: `${prefix}${field}`,
      code: 'ERR_UNKNOWN_FIELD',
      message: 'is not a field of this request',
    }))
}
