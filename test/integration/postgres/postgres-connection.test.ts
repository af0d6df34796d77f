/** Goal: a server that answers slowly is given time for another answer. Lost connections: query-pool-lost.test.ts. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../../infra/postgres/connection/connection.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../../support/postgres/ledger-database.ts'
import { startWire } from '../../support/nats/severable-wire.ts'

let database: LedgerDatabase
beforeAll(async () => {
  database = await createLedgerDatabase()
})
afterAll(async () => {
  await database?.drop()
})

test('one is opened where all its round trips together take longer than one answer may', async () => {
  const address = new URL(database.url)
  const wire = await startWire({ host: address.hostname, port: Number(address.port) })
  address.port = String(wire.port)
  const connectTimeoutMs = 5_000
  wire.delay(0.25 * connectTimeoutMs)
  const sinceMs = performance.now()
  try {
    const connection = await connect({ url: address.toString(), applicationName: 'slow', connectTimeoutMs })
    expect(performance.now() - sinceMs).toBeGreaterThan(connectTimeoutMs)
    connection.destroy()
  } finally {
    await wire.close()
  }
})
