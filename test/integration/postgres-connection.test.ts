/** Goal: a connection that is lost in the middle of a transaction fails whoever uses it, and nobody else. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Connection } from '../../infra/postgres/connection.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'

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
