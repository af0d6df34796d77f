/** Q1 to Q4 of query-pool.ts, over a connection that can stop to transmit. Q5: query-pool-lost.test.ts. */
import net from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { READ_SETTINGS } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import {
  createQueryPool,
  type QueryPool,
  type QueryPoolOptions,
} from '../../../infra/postgres/connection/query-pool.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../../support/postgres/ledger-database.ts'

class Unavailable extends Error {}

interface Wire {
  readonly url: string
  /** Open connections transmit no more, and stay open. */
  readonly silence: () => void
  readonly close: () => void
}

async function wireTo(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url)
  const clients = new Set<net.Socket>()
  const silent = new Set<net.Socket>()
  const listener = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname)
    clients.add(client)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.on('data', (chunk) => silent.has(client) || upstream.write(chunk))
    upstream.on('data', (chunk) => silent.has(client) || client.write(chunk))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => silent.has(client) || client.destroy())
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const proxied = new URL(url)
  proxied.port = String(address.port)
  return {
    url: proxied.toString(),
    silence: () => clients.forEach((client) => silent.add(client)),
    close: () => {
      clients.forEach((client) => client.destroy())
      listener.close()
    },
  }
}

let database: LedgerDatabase
let wire: Wire
beforeAll(async () => {
  database = await createLedgerDatabase({ migrated: false })
  wire = await wireTo(database.url)
})
afterAll(async () => {
  wire.close()
  await database.drop()
})

async function withPool(changes: Partial<QueryPoolOptions>, run: (pool: QueryPool) => Promise<void>): Promise<void> {
  const pool = createQueryPool({
    url: wire.url,
    name: 'pool under test',
    size: 2,
    statementTimeoutMs: 500,
    unavailable: (message, options) => new Unavailable(message, options),
    ...changes,
  })
  try {
    await run(pool)
  } finally {
    await pool.close()
  }
}

const one = (pool: QueryPool) => pool.run((sql) => sql<{ one: number }[]>`SELECT 1 AS one`)

test('Q1: the pool refuses queries beyond the bound of waiting ones at once, and answers the others', () =>
  withPool({ size: 1, maxWaiting: 2 }, async (pool) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => one(pool)))
    const statuses = [...Array(3).fill('fulfilled'), 'rejected', 'rejected']
    expect(outcomes.map((outcome) => outcome.status)).toEqual(statuses)
    expect(outcomes[4]).toMatchObject({ reason: expect.any(Unavailable) as unknown })
    expect(await one(pool)).toEqual([{ one: 1 }])
  }))

test('Q2: PostgreSQL ends a statement at its timeout, and the pool answers the next', () =>
  withPool({}, async (pool) => {
    await expect(pool.run((sql) => sql`SELECT pg_sleep(60)`)).rejects.toThrow(Unavailable)
    expect(await one(pool)).toEqual([{ one: 1 }])
  }))

test('Q2: the pool replaces silent connections, also idle ones', () =>
  withPool({ size: 3 }, async (pool) => {
    await Promise.all([one(pool), one(pool), one(pool)])
    wire.silence()
    const outcomes = await Promise.allSettled([one(pool), one(pool)])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected'])
    expect(await one(pool)).toEqual([{ one: 1 }])
  }))

test.for([
  { readsOnly: true, attempts: 2, outcome: 'answered' },
  { readsOnly: false, attempts: 1, outcome: 'unavailable' },
])('Q4: a query on a lost connection is $outcome if readsOnly is $readsOnly', ({ readsOnly, ...expected }) =>
  withPool({ readsOnly }, async (pool) => {
    let attempts = 0
    const ask = pool.run((sql) => {
      attempts += 1
      return attempts === 1 ? sql`SELECT pg_terminate_backend(pg_backend_pid())` : sql`SELECT 1 AS one`
    })
    const outcome = await ask.then(
      () => 'answered',
      (error: unknown) => (error instanceof Unavailable ? 'unavailable' : 'unexpected'),
    )
    expect({ attempts, outcome }).toEqual(expected)
  }),
)

test("Q3: an error of PostgreSQL is the cause of the port's error and not in its text", () =>
  withPool({}, async (pool) => {
    const error: unknown = await pool.run((sql) => sql`SELECT * FROM no_such_table`).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Unavailable)
    expect(String(error)).not.toContain('no_such_table')
    expect(String((error as Error).cause)).toContain('no_such_table')
  }))

test('the settings of reads prevent writes and sequential scans', () =>
  withPool({ settings: READ_SETTINGS }, async (pool) => {
    await expect(pool.run((sql) => sql`CREATE TABLE written (n integer)`)).rejects.toMatchObject({
      cause: { code: '25006' },
    })
    const settings = await pool.run(
      (sql) => sql`
        SELECT current_setting('enable_seqscan') AS seqscan, current_setting('enable_bitmapscan') AS bitmapscan,
               current_setting('statement_timeout') AS timeout, current_setting('jit') AS jit`,
    )
    expect(settings).toEqual([{ seqscan: 'off', bitmapscan: 'off', timeout: '500ms', jit: 'off' }])
  }))
