/** The shape of the registration of an NFT class (D1, D11). The JSON Schema itself is validated elsewhere. */
import { type JsonObject } from '../../../actors/canonical-json.ts'
import { ok, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import { accountIdField, objectField, signatureField, textField, unsignedOptional } from '../fields.ts'
import { define } from '../named-schema.ts'
import { readBody, registeredPayload, signableErrors } from '../read-body.ts'

export const classSchema = define('NftClassRegistration', 'A new class.', {
  name: [textField(1, 256), 'Its name, unique.'],
  description: [textField(0, 4_096, 'must be at most 4,096 characters'), 'A description, for people.'],
  issuer: [accountIdField, 'The account that alone mints in it.'],
  metadata_schema: [
    objectField('must be a JSON Schema, as an object'),
    'The JSON Schema that the metadata of every instance satisfies.',
  ],
  signature: [unsignedOptional(signatureField), 'The issuer’s, over the body without `signature`.'],
})
export interface ClassRegistration {
  readonly name: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
  /** Canonical JSON of what is registered, which is what the issuer signed if there is a signature. */
  readonly payload: string
  readonly signature: string | null
}

export function readClassRegistration(body: JsonObject): Result<ClassRegistration, readonly Invalid[]> {
  const read = readBody(classSchema, body, signableErrors(classSchema, body))
  if (!read.ok) return read
  const { name, issuer, metadata_schema: metadataSchema, signature = null } = read.value
  return ok({ name, issuer, metadataSchema, payload: registeredPayload(classSchema, body), signature })
}
