/** The connect timeout bounds each reply of the server. Lost connections: query-pool-lost.test.ts. */
import { expect, test } from 'vitest'
import { connect } from '../../../infra/postgres/connection/connection.ts'
import { createLedgerDatabase } from '../../support/postgres/ledger-database.ts'
import { startWire } from '../../support/nats/severable-wire.ts'

test('a connection opens although its round trips together take longer than the connect timeout', async () => {
  const database = await createLedgerDatabase()
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
    await database.drop()
  }
})
