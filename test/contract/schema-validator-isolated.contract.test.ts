/** The production validator with real worker processes. */
import { afterAll } from 'vitest'
import { createIsolatedSchemaValidator } from '../../infra/schema/schema-validator-isolated.ts'
import { WORKER_LIMITS } from '../../infra/schema/validator-worker.ts'
import { buildProgram } from '../support/processes/built-program.ts'
import { schemaValidatorContract } from './schema-validator.contract.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const program = buildProgram('infra/schema/validator-process.ts')
afterAll(program.remove)

schemaValidatorContract('in a worker process', async () => {
  // By the clock there is time enough on a machine that does other things as well; of a processor there is no more.
  const limits = { ...WORKER_LIMITS, elapsedMs: 60_000, startMs: 60_000 }
  const validator = createIsolatedSchemaValidator({ log: silent, program: program.path, limits, maxWaitMs: 60_000 })
  return { validator, close: validator.close }
})
