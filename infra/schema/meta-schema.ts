/** Checks a schema against the meta-schema of its dialect, by ajv. */
import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Dialect } from './dialect.ts'
import { FORMAT_TESTS } from './formats.ts'
import { shortened } from './shortened.ts'

export interface MetaSchemas {
  /** The error is the reason, as a sentence. */
  readonly check: (dialect: Dialect, schema: JsonObject) => Result<null, string>
}

/** Compiles the meta-schemas, which takes tens of milliseconds. */
export function createMetaSchemas(): MetaSchemas {
  const options = { strict: false, logger: false, ownProperties: true, formats: FORMAT_TESTS } as const
  const validators: Readonly<Record<Dialect, ValidateFunction>> = {
    '2020-12': compiled(new Ajv2020(options).getSchema('https://json-schema.org/draft/2020-12/schema')),
    'draft-07': compiled(new Ajv(options).getSchema('http://json-schema.org/draft-07/schema')),
  }
  return {
    check: (dialect, schema) => {
      const validate = validators[dialect]
      if (validate(schema)) return ok(null)
      const [error] = validate.errors ?? []
      const place = error === undefined || error.instancePath === '' ? '' : `: ${shortened(error.instancePath)}`
      return refuse(`It is not a JSON Schema of ${dialect}${place} ${error?.message ?? 'is not valid'}.`)
    },
  }
}

function compiled(validate: ValidateFunction | undefined): ValidateFunction {
  if (validate === undefined) throw new Error('ajv lacks the meta-schema of a dialect')
  return validate
}
