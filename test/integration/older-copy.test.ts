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

  /** Starts a node, runs it for some heartbeats, and stops it. */
  async function runNode(): Promise<void> {
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

  test('is refused at every start, also if NATS lost the position', async () => {
    await runNode()
    const copy = await copied()
    await runNode()
    await putBack(copy)
    await expect(runNode()).rejects.toThrow('older copy')
    expect(refusalOf(await onDatabase(readServer))).toContain('older copy')
    await nats.empty()
    await nats.start()
    await expect(runNode()).rejects.toThrow('older copy')
  })

  test('is accepted if it lacks no commits', async () => {
    await runNode()
    await putBack(await copied())
    await runNode()
    expect((await onDatabase(readServer)).wentBack).toBe(false)
  })

  test('is the current database once an administrator accepts it: the replaced one is refused', async () => {
    await runNode()
    const older = await copied()
    await runNode()
    const replaced = await copied()
    await putBack(older)
    await expect(runNode()).rejects.toThrow('older copy')
    await onDatabase(acceptServer)
    await runNode()
    await runNode()
    await putBack(replaced)
    await expect(runNode()).rejects.toThrow('older copy')
  })

  test('stops a running node, which withdraws the acceptance of the server', async () => {
    await runNode()
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

  test('is not suspected if only NATS lost the position', async () => {
    await runNode()
    await nats.empty()
    await nats.start()
    await runNode()
    expect((await onDatabase(readServer)).wentBack).toBe(false)
  })
})
