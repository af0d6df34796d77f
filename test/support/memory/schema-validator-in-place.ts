/** The schema validator without its processes: what is asked is answered where it is asked, and may take as long. */
import { createJudge } from '../../../infra/schema/judge.ts'
import { schemaText, valueText } from '../../../infra/schema/question.ts'
import type { SchemaValidator } from '../../../runtime/ports/schema-validator.ts'

export function createSchemaValidatorInPlace(): SchemaValidator {
  const judge = createJudge()
  return {
    check: async (schema) => {
      const text = schemaText(schema)
      return text.ok ? judge.check(text.value) : { kind: 'invalid', reason: text.error }
    },
    validate: async (schema, value) => {
      const [text, written] = [schemaText(schema), valueText(value)]
      if (text.ok && written.ok) return judge.validate(text.value, written.value)
      return { kind: 'invalid', errors: [{ path: '', message: 'beyond the bounds' }] }
    },
  }
}
