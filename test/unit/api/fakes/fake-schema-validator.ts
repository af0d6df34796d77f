/** A schema validator with settable results, which records its calls. */
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import type { SchemaValidator, SchemaVerdict, ValueVerdict } from '../../../../runtime/ports/schema-validator.ts'

export interface FakeSchemaValidator extends SchemaValidator {
  /** The result of every check from now on. */
  schemaVerdict: SchemaVerdict
  /** The result of every validation from now on. */
  valueVerdict: ValueVerdict
  readonly checked: JsonObject[]
  readonly validated: { readonly schema: JsonObject; readonly value: Json }[]
}

export function createFakeSchemaValidator(): FakeSchemaValidator {
  const fake: FakeSchemaValidator = {
    schemaVerdict: { kind: 'valid' },
    valueVerdict: { kind: 'valid' },
    checked: [],
    validated: [],
    check: async (schema) => {
      fake.checked.push(schema)
      return fake.schemaVerdict
    },
    validate: async (schema, value) => {
      fake.validated.push({ schema, value })
      return fake.valueVerdict
    },
  }
  return fake
}
