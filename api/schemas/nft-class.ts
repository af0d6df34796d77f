/** The shape of the registration of an NFT class (D1, D11). The JSON Schema itself is validated elsewhere. */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../http/problem.ts'
import { accountIdField, codePoints, signatureField, unsignedOptional } from './fields.ts'
import { objectMessage, schemaErrors, unknownFields } from '../http/invalid.ts'

const MAX_NAME_LENGTH = 256
const MAX_DESCRIPTION_LENGTH = 4096

const NAME_RULE = 'must be 1 to 256 characters'
const DESCRIPTION_RULE = 'must be at most 4,096 characters'
const SCHEMA_RULE = 'must be a JSON Schema, as an object'

const signedEntries = {
  name: v.pipe(
    v.string(NAME_RULE),
    v.check((text) => text !== '' && codePoints(text) <= MAX_NAME_LENGTH, NAME_RULE),
    v.metadata({ minLength: 1, maxLength: MAX_NAME_LENGTH }),
  ),
  description: v.pipe(
    v.string(DESCRIPTION_RULE),
    v.check((text) => codePoints(text) <= MAX_DESCRIPTION_LENGTH, DESCRIPTION_RULE),
    v.metadata({ maxLength: MAX_DESCRIPTION_LENGTH }),
  ),
  issuer: accountIdField,
  metadata_schema: v.pipe(
    v.custom<JsonObject>(isObject, SCHEMA_RULE),
    v.metadata({ type: 'object', additionalProperties: true }),
  ),
}
export const classSchema = v.object({ ...signedEntries, signature: unsignedOptional(signatureField) }, objectMessage)
const SIGNED_FIELDS: ReadonlySet<string> = new Set(Object.keys(signedEntries))
const CLASS_FIELDS: ReadonlySet<string> = new Set([...SIGNED_FIELDS, 'signature'])

export interface ClassRegistration {
  readonly name: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
  /** Canonical JSON of what is registered, which is what the issuer signed if there is a signature. */
  readonly payload: string
  readonly signature: string | null
}

export function readClassRegistration(body: JsonObject): Result<ClassRegistration, readonly Invalid[]> {
  const invalid = schemaErrors(classSchema, body)
  // A signed member is never ignored. In an unsigned body only known members count.
  if ((body['signature'] ?? null) !== null) invalid.push(...unknownFields(body, CLASS_FIELDS))
  if (invalid.length > 0) return refuse(invalid)
  const { name, issuer, metadata_schema: metadataSchema, signature } = body as v.InferOutput<typeof classSchema>
  const registered = Object.fromEntries(Object.entries(body).filter(([field]) => SIGNED_FIELDS.has(field)))
  return ok({ name, issuer, metadataSchema, payload: canonicalJson(registered), signature: signature ?? null })
}

export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
