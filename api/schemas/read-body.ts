/** Reads the body of a request by its schema: the value, or everything that is wrong with it. */
import type * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { schemaErrors, unknownFields } from '../http/invalid.ts'
import type { Invalid } from '../http/problem.ts'

type ObjectSchema = v.GenericSchema & { readonly entries: v.ObjectEntries }
type Read<S extends v.GenericSchema> = Result<v.InferOutput<S>, readonly Invalid[]>

/** `invalid`: everything that is wrong. */
export function readBody<S extends v.GenericSchema>(
  schema: S,
  body: JsonObject,
  invalid: readonly Invalid[] = schemaErrors(schema, body),
): Read<S> {
  return invalid.length > 0 ? refuse(invalid) : ok(body as v.InferOutput<S>)
}

/** Errors of a body of which no member is ignored: it is signed, or a misspelt member would widen a right. */
export function closedErrors(schema: ObjectSchema, body: JsonObject): Invalid[] {
  return [...schemaErrors(schema, body), ...unknownFields(body, schema.entries)]
}

/** Errors of a body that may be signed. In an unsigned body only known members count. */
export function signableErrors(schema: ObjectSchema, body: JsonObject): Invalid[] {
  return (body['signature'] ?? null) === null ? schemaErrors(schema, body) : closedErrors(schema, body)
}

/** Canonical JSON of the known members but the signature: what is registered, and what a signature is over. */
export function registeredPayload({ entries }: ObjectSchema, body: JsonObject): string {
  const registered = Object.entries(body).filter(([field]) => field !== 'signature' && Object.hasOwn(entries, field))
  return canonicalJson(Object.fromEntries(registered))
}
