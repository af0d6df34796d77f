/** What answers questions about schemas, without the process around it: what it must be spared from is counted, not timed. */
import { createSchemaValidatorInPlace } from '../support/schema-validator-in-place.ts'
import { schemaValidatorContract } from './schema-validator.contract.ts'

schemaValidatorContract('in place', async () => ({
  validator: createSchemaValidatorInPlace(),
  close: async () => undefined,
}))
