/** Both keepers of the service's keys, PostgreSQL and memory, under one contract. */
import { randomBytes } from 'node:crypto'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { createServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { createServiceKeys } from '../../infra/postgres/access/service-keys-postgres.ts'
import { createLedgerDatabase } from '../support/postgres/ledger-database.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { SILENT_LOG } from '../support/nats/nats.ts'
import { createFakeServiceKeys } from '../unit/api/fakes/fake-service-keys.ts'
import { serviceKeysContract } from './service-keys.contract.ts'

const START_MS = 1_790_000_000_000

serviceKeysContract('PostgreSQL', async () => {
  const database = await createLedgerDatabase()
  const clock = createManualClock(START_MS)
  const current = readMasterKey(randomBytes(32).toString('base64url'))
  const seals = createServiceKeySeals({ current, previous: [] })
  const readStoreMs = () => Promise.resolve(clock.now())
  const keys = await createServiceKeys({ url: database.url, seals, clock, readStoreMs, log: SILENT_LOG })
  const { activeFromMs: rotatedAtMs } = await keys.rotate('receipt')
  return {
    keys,
    nowMs: clock.now,
    rotatedAtMs,
    close: async () => {
      await keys.close()
      await database.drop()
    },
  }
})

serviceKeysContract('memory', async () => {
  const keys = createFakeServiceKeys(START_MS)
  const rotatedAtMs = START_MS + 300_000
  keys.rotateAt('receipt', rotatedAtMs)
  return { keys, nowMs: () => START_MS, rotatedAtMs, close: () => Promise.resolve() }
})
