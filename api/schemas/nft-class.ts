/** The shape of the registration of an NFT class (D1, D11). The JSON Schema itself is validated elsewhere. */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../http/problem.ts'
import { accountIdField, signatureField, textField, unsignedOptional } from './fields.ts'
import { schemaErrors, unknownFields } from '../http/invalid.ts'
import { define } from './named-schema.ts'

const SCHEMA_RULE = 'must be a JSON Schema, as an object'

export const classSchema = define('NftClassRegistration', 'A new class.', {
  name: [textField(1, 256), 'Its name, unique.'],
  description: [textField(0, 4_096, 'must be at most 4,096 characters'), 'A description, for people.'],
  issuer: [accountIdField, 'The account that alone mints in it.'],
  metadata_schema: [
    v.pipe(v.custom<JsonObject>(isObject, SCHEMA_RULE), v.metadata({ type: 'object', additionalProperties: true })),
    'The JSON Schema that the metadata of every instance satisfies.',
  ],
  signature: [unsignedOptional(signatureField), 'The issuer’s, over the body without `signature`.'],
})
const CLASS_FIELDS: ReadonlySet<string> = new Set(Object.keys(classSchema.entries))
const SIGNED_FIELDS: ReadonlySet<string> = new Set([...CLASS_FIELDS].filter((field) => field !== 'signature'))

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
