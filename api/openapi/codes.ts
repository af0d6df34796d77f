/** Error codes as the document needs them: what each comes with, and which ones an endpoint can give. */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ERROR_CODES } from '../http/error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES } from '../http/problem.ts'
import { EVERYONE } from '../endpoint/route.ts'
import { FIELD_CODES } from '../http/invalid.ts'
import type { SchemaBook } from './json-schemas.ts'
import { nameReferredTo } from './openapi-types.ts'
import type { Operation } from '../endpoint/operation.ts'

/** In the order of the table. */
export const ALL_ERROR_CODES = Object.keys(ERROR_CODES) as readonly ErrorCode[]

/** The HTTP status that a code comes with: all types of problems that carry it have one. */
export function statusOfCode(code: ErrorCode): number {
  return PROBLEM_TYPES[ERROR_CODES[code].types[0]].status
}

/** Its own codes and the ones that follow from what it is, in the order of the table. */
export function errorCodesOf(operation: Operation, book: SchemaBook): readonly ErrorCode[] {
  const codes = new Set(Object.keys(operation.refusals ?? {}) as ErrorCode[])
  const add = (holds: boolean, ...more: readonly ErrorCode[]): void => {
    if (holds) for (const code of more) codes.add(code)
  }
  const { body, changes, parameters = [], path, roles } = operation
  add(path.startsWith('/v1/'), 'ERR_NO_SHARDS', 'ERR_DOWNSTREAM_FAILURE', 'ERR_INVALID_QUERY')
  add(roles !== null, 'ERR_UNAUTHORIZED', 'ERR_RATE_LIMITED')
  add(roles !== null && roles.length < EVERYONE.length, 'ERR_FORBIDDEN')
  add(changes === 'shard', 'ERR_SHARD_UNAVAILABLE', 'ERR_NO_HEALTHY_SHARDS', 'ERR_OVERLOADED')
  add(path.includes('/:'), 'ERR_NOT_FOUND')
  add(path.includes('/:accountId'), 'ERR_INVALID_ACCOUNT_ID')
  add(path.includes('/:groupId'), 'ERR_INVALID_GROUP_ID')
  add(
    parameters.some((parameter) => parameter.in === 'query'),
    'ERR_INVALID_QUERY',
  )
  add(
    parameters.some(({ name }) => name === 'Idempotency-Key'),
    'ERR_INVALID_IDEMPOTENCY_KEY',
  )
  if (body !== undefined) {
    add(true, 'ERR_INVALID_FIELD', 'ERR_PAYLOAD_TOO_LARGE', 'ERR_UNSUPPORTED_CONTENT_TYPE')
    const shape = book.components[book.nameOf(body)] ?? {}
    add(shape['additionalProperties'] === false, 'ERR_UNKNOWN_FIELD')
    add(true, ...fieldsIn(shape, book).flatMap((field) => FIELD_CODES.get(field) ?? []))
  }
  return ALL_ERROR_CODES.filter((code) => codes.has(code))
}

/** The names of all fields of a schema, at any depth. */
function fieldsIn(schema: JsonObject, book: SchemaBook): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === '$ref') return fieldsIn(book.components[nameReferredTo(value)] ?? {}, book)
    if (typeof value !== 'object' || value === null) return []
    if (Array.isArray(value)) return (value as readonly JsonObject[]).flatMap((part) => fieldsIn(part, book))
    const inner = fieldsIn(value as JsonObject, book)
    return keyword === 'properties' ? [...Object.keys(value), ...inner] : inner
  })
}
