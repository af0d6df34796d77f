/**
 * Goal: a connection that is lost in the middle of a transaction fails whoever uses it, and nobody else; a server that
 * answers slowly is given time for another.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Connection } from '../../infra/postgres/connection.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'
import { startWire } from '../support/severable-wire.ts'

/** As the driver, the server and the network say it. */
const LOST = /CONNECTION_|connection|ECONN/

let database: LedgerDatabase
let other: Connection
beforeAll(async () => {
  database = await createLedgerDatabase()
  other = await connect({ url: database.url, applicationName: 'other' })
})
afterAll(async () => {
  await other?.end()
  await database?.drop()
})

const WAYS: readonly [string, (connection: Connection) => Promise<unknown>][] = [
  ['is ended by the server', ({ backend }) => other.sql`SELECT pg_terminate_backend(${backend.pid})`],
  ['is destroyed here', async ({ destroy }) => destroy()],
]

for (const [way, lose] of WAYS) {
  test(`one that ${way} while a statement runs`, async () => {
    const connection = await connect({ url: database.url, applicationName: 'lost' })
    const closed = new Promise<void>((resolve) => connection.onClosed(resolve))
    const work = connection.sql.begin(async (transaction) => {
      const slept = transaction`SELECT pg_sleep(60)`
      slept.catch(() => undefined)
      await other.sql`SELECT 1`
      await lose(connection)
      await slept
    })
    await expect(work).rejects.toThrow(LOST)
    await closed
    await expect(connection.sql`SELECT 1`).rejects.toThrow(LOST)
    connection.destroy()
  })

  test(`one that ${way} between two statements, of which more come`, async () => {
    const connection = await connect({ url: database.url, applicationName: 'lost' })
    const failed: unknown[] = []
    const work = connection.sql.begin(async (transaction) => {
      await transaction`SELECT 1`
      await lose(connection)
      for (let number = 0; number < 200; number += 1) {
        await transaction`SELECT ${number}::integer`.catch((error: unknown) => failed.push(error))
        await new Promise(setImmediate)
      }
    })
    await expect(work).rejects.toThrow(LOST)
    expect(connection.isOpen()).toBe(false)
    await expect.poll(() => failed.length).toBeGreaterThan(0)
    connection.destroy()
  })
}

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
