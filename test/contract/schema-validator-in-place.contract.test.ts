/** The validator without the process around it: its work is counted, not timed. */
import { createSchemaValidatorInPlace } from '../support/memory/schema-validator-in-place.ts'
import { schemaValidatorContract } from './schema-validator.contract.ts'

schemaValidatorContract('in place', async () => ({
  validator: createSchemaValidatorInPlace(),
  close: async () => undefined,
}))
