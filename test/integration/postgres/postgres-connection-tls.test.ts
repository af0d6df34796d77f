/** T2 and T3 of tls-by-address.ts: a lost TLS connection fails only the work that uses it; sslmode decides on certificates. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import type { EmbeddedServer } from '../../../infra/embedded/server-process.ts'
import { connect, type Connection } from '../../../infra/postgres/connection/connection.ts'
import { createQueryPool } from '../../../infra/postgres/connection/query-pool.ts'
import { until } from '../../support/processes/cluster-process.ts'
import { makeSecrets } from '../../support/nats/secured-nats.ts'
import { installCertificate } from '../../support/postgres/server-certificate.ts'

class Unavailable extends Error {}

/** Codes of the driver and the server for a lost connection. */
const LOST = { code: expect.stringMatching(/^(CONNECTION_[A-Z]+|57P01|ABORT_ERR)$/) }

let directory: string
let secrets: string
let server: EmbeddedServer
let other: Connection
const uncaught: unknown[] = []
const note = (error: unknown): void => void uncaught.push(error)

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-tls-'))
  secrets = makeSecrets([])
  server = await startPostgres({ dataDir: directory })
  other = await connect({ url: server.url, applicationName: 'other' })
  await offerTls()
})
afterAll(async () => {
  await other?.end()
  await server?.stop()
  for (const made of [directory, secrets]) rmSync(made, { recursive: true, force: true })
})

beforeEach(() => {
  uncaught.length = 0
  process.on('uncaughtException', note)
})
afterEach(async () => {
  // Afterwards the driver writes no more to lost connections.
  const isClosed = async () => (await other.sql`SELECT FROM pg_stat_ssl WHERE ssl`).length === 0
  await until('the server has closed all lost connections', 180_000, isClosed)
  await new Promise(setImmediate)
  process.off('uncaughtException', note)
  if (uncaught.length > 0) throw new AggregateError(uncaught, 'an error was not caught')
})

/** Enables TLS with a certificate of an authority that this process does not trust. */
async function offerTls(): Promise<void> {
  installCertificate(join(directory, 'data'), secrets)
  await other.sql`ALTER SYSTEM SET ssl_cert_file = 'postgres.pem'`
  await other.sql`ALTER SYSTEM SET ssl_key_file = 'postgres.key'`
  await other.sql`ALTER SYSTEM SET ssl = 'on'`
  await other.sql`SELECT pg_reload_conf()`
  await until('PostgreSQL offers TLS', 180_000, async () => {
    const [row] = await other.sql<{ on: boolean }[]>`SELECT current_setting('ssl') = 'on' AS on`
    return row?.on === true
  })
}

function urlWith(sslmode: string): string {
  const url = new URL(server.url)
  url.searchParams.set('sslmode', sslmode)
  return url.toString()
}

async function connectTls(): Promise<Connection> {
  const connection = await connect({ url: urlWith('require'), applicationName: 'lost' })
  expect(await other.sql`SELECT ssl FROM pg_stat_ssl WHERE pid = ${connection.backend.pid}`).toEqual([{ ssl: true }])
  return connection
}

const isAsleep = (pid: number): Promise<readonly unknown[]> =>
  other.sql`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`

test('T2: a statement on a destroyed connection is rejected', async () => {
  const connection = await connectTls()
  connection.destroy()
  expect(connection.isOpen()).toBe(false)
  await expect(connection.sql`SELECT 1`).rejects.toMatchObject(LOST)
})

test('T2: a statement is rejected if its connection is destroyed while it runs', async () => {
  const connection = await connectTls()
  const slept = connection.sql`SELECT pg_sleep(60)`
  const refused = expect(slept).rejects.toMatchObject(LOST)
  await expect.poll(() => isAsleep(connection.backend.pid)).toHaveLength(1)
  connection.destroy()
  await refused
})

const WAYS: readonly [string, (connection: Connection) => Promise<unknown>][] = [
  ['is ended by the server', ({ backend }) => other.sql`SELECT pg_terminate_backend(${backend.pid})`],
  ['is destroyed here', async ({ destroy }) => destroy()],
]

test.for(WAYS)('T2: a transaction with further statements is rejected if its connection %s', async ([, lose]) => {
  const connection = await connectTls()
  const work = connection.sql.begin(async (transaction) => {
    await transaction`SELECT 1`
    await lose(connection)
    for (let number = 0; number < 200; number += 1) {
      await transaction`SELECT ${number}::integer`.catch(() => undefined)
      await new Promise(setImmediate)
    }
  })
  await expect(work).rejects.toMatchObject(LOST)
  expect(connection.isOpen()).toBe(false)
  connection.destroy()
})

test('T2: a query pool rejects work that exceeds its deadline, and executes the next', async () => {
  const pool = createQueryPool({
    url: urlWith('require'),
    name: 'pool over TLS',
    size: 1,
    statementTimeoutMs: 100,
    unavailable: (message, options) => new Unavailable(message, options),
  })
  const late = pool.run((sql) =>
    sql.begin(async (transaction) => {
      await transaction`SELECT 1`
      await new Promise(() => undefined)
    }),
  )
  await expect(late).rejects.toMatchObject({ cause: { name: 'DeadlinePassed' } })
  expect(await pool.run((sql) => sql`SELECT 1 AS one`)).toEqual([{ one: 1 }])
  await pool.close()
})

test.for(['verify-full', 'verify-ca', 'true'])('T3: sslmode=%s refuses an unknown authority', async (mode) => {
  await expect(connect({ url: urlWith(mode), applicationName: 'refused' })).rejects.toThrow(/certificate/)
})

test.for(['require', 'allow', 'prefer'])('T3: sslmode=%s accepts an unknown authority', async (mode) => {
  const connection = await connect({ url: urlWith(mode), applicationName: 'accepted' })
  const { pid } = connection.backend
  expect(await other.sql`SELECT ssl FROM pg_stat_ssl WHERE pid = ${pid}`).toEqual([{ ssl: true }])
  await connection.end()
})
