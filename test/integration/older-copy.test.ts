/** An older copy of the database, restored on the same server and timeline, is refused until an administrator accepts it. */
import { randomBytes, randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openPositionMemory, type NatsPositionMemory } from '../../infra/nats/position-memory-nats.ts'
import { acceptServer, readServer, refusalOf } from '../../infra/postgres/connection/accepted-servers.ts'
import {
  createPostgresLedgerStore,
  type PostgresLedgerStore,
} from '../../infra/postgres/store/ledger-store-postgres.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../support/postgres/ledger-database.ts'
import { SILENT } from '../support/postgres/ledger-store-postgres.ts'
import { startTestNats, type TestNats } from '../support/nats/nats.ts'

const never = (): boolean => false

describe('an older copy of the database', () => {
  let database: LedgerDatabase
  let nats: TestNats
  let server: postgres.Sql
  const copies: string[] = []

  beforeEach(async () => {
    ;[database, nats] = await Promise.all([createLedgerDatabase(), startTestNats()])
    const url = new URL(database.url)
    url.pathname = '/postgres'
    server = postgres(url.toString(), { max: 1, onnotice: () => undefined })
  })
  afterEach(async () => {
    for (const copy of copies.splice(0)) await server`DROP DATABASE IF EXISTS ${server(copy)} WITH (FORCE)`
    await Promise.all([server.end(), nats.close()])
    await database.drop()
  })

  const nameOfDatabase = (): string => new URL(database.url).pathname.slice(1)

  async function copied(): Promise<string> {
    const copy = `older_${randomBytes(6).toString('hex')}`
    copies.push(copy)
    await server`CREATE DATABASE ${server(copy)} TEMPLATE ${server(nameOfDatabase())}`
    return copy
  }

  async function putBack(copy: string): Promise<void> {
    await server`DROP DATABASE ${server(nameOfDatabase())} WITH (FORCE)`
    await server`CREATE DATABASE ${server(nameOfDatabase())} TEMPLATE ${server(copy)}`
  }

  async function openMemory(): Promise<NatsPositionMemory> {
    const link = await nats.connect('node')
    const memory = await openPositionMemory(link, SILENT, { ledgerId: 'copied', replicas: 1 }, never)
    if (memory === undefined) throw new Error('no stop signal')
    return memory
  }

  async function openStore(
    positions: NatsPositionMemory,
    onStopped: (reason: string) => void = () => undefined,
  ): Promise<PostgresLedgerStore> {
    return createPostgresLedgerStore({
      url: database.url,
      nodeId: 'node',
      session: randomUUID().replaceAll('-', ''),
      log: SILENT,
      vault: await vaultOf(database.url),
      positions,
      onStopped,
    })
  }

  /** A node starts, runs for some heartbeats, and stops. */
  async function live(): Promise<void> {
    const positions = await openMemory()
    const store = await openStore(positions)
    for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) await store.probe()
    await store.close()
    await positions.close()
  }

  async function onDatabase<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    try {
      return await work(sql)
    } finally {
      await sql.end()
    }
  }

  test('a start on it is refused, and so is every later one, also if NATS lost the position', async () => {
    await live()
    const copy = await copied()
    await live()
    await putBack(copy)
    await expect(live()).rejects.toThrow('older copy')
    expect(refusalOf(await onDatabase(readServer))).toContain('older copy')
    await nats.empty()
    await nats.start()
    await expect(live()).rejects.toThrow('older copy')
  })

  test('a copy without missing commits is accepted like the original', async () => {
    await live()
    await putBack(await copied())
    await live()
    expect((await onDatabase(readServer)).wentBack).toBe(false)
  })

  test('after an administrator accepts it, the replaced database counts as the older one', async () => {
    await live()
    const older = await copied()
    await live()
    const replaced = await copied()
    await putBack(older)
    await expect(live()).rejects.toThrow('older copy')
    await onDatabase(acceptServer)
    await live()
    await live()
    await putBack(replaced)
    await expect(live()).rejects.toThrow('older copy')
  })

  test('a running node that meets it stops and withdraws the acceptance', async () => {
    await live()
    const copy = await copied()
    const positions = await openMemory()
    let stopped: (reason: string) => void = () => undefined
    const reason = new Promise<string>((resolve) => (stopped = resolve))
    const store = await openStore(positions, stopped)
    await store.probe()
    await putBack(copy)
    expect(await reason).toContain('older copy')
    expect((await onDatabase(readServer)).wentBack).toBe(true)
    await Promise.all([store.close(), positions.close()])
  })

  test('NATS without the position is no reason to refuse', async () => {
    await live()
    await nats.empty()
    await nats.start()
    await live()
    expect((await onDatabase(readServer)).wentBack).toBe(false)
  })
})
