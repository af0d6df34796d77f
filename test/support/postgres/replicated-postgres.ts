/**
 * A PostgreSQL with a synchronous standby that can be promoted when the primary is gone. The standby begins as a copy of
 * the primary's data, made while nothing runs on it: the binaries at hand have no pg_basebackup.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import type { EmbeddedServer } from '../../../infra/embedded/server-process.ts'
import { readRecord, type ServerRecord, writeRecord } from '../../../infra/embedded/server-record.ts'
import { makePrivateDirectory } from '../../../infra/system/private-file.ts'
import { Closing } from '../closing.ts'
import type { DatabasePlace } from '../processes/cluster-parts.ts'
import { until } from '../processes/cluster-process.ts'
import { freePort } from '../processes/free-ports.ts'
import { startWire } from '../nats/severable-wire.ts'

export interface ReplicatedPostgres {
  readonly standby: EmbeddedServer
  /** The primary's machine is gone: nothing of it answers any more. */
  readonly killPrimary: () => Promise<void>
  /** Resolves once the standby takes writes. */
  readonly promote: () => Promise<void>
}

const STANDBY = 'standby_1'
const STREAMS_WITHIN_MS = 180_000

/** `onStarted` is given the pair; what is returned is the primary, whose `stop` ends and removes both. */
export async function startReplicatedPostgres(
  options: DatabasePlace,
  onStarted: (pair: ReplicatedPostgres) => void,
): Promise<EmbeddedServer> {
  const first = await startPostgres(options)
  await first.stop()
  const directory = realpathSync(options.dataDir)
  const record = readRecord(directory)
  if (record === undefined) throw new Error('PostgreSQL left no record')
  const closing = new Closing()
  return closing.unlessStarted(async () => {
    for (const place of [record.place, standbyPlaceOf(record)])
      closing.add(() => rmSync(place, { recursive: true, force: true }))
    const wire = await startWire({ host: '127.0.0.1', port: options.port })
    closing.add(() => wire.close())
    copyForStandby(directory, record, wire.port)
    const primary = await startPostgres(options)
    // Cut off first: to a standby that it believes there it would send all it has before it ends.
    closing.add(() => wire.close().then(() => primary.stop()))
    const standby = await startPostgres({
      ...options,
      dataDir: standbyDirectory(directory),
      port: await freePort(),
    })
    closing.add(() => standby.stop())
    await beFollowed(primary.url)
    onStarted(pairOf(primary, standby))
    return { ...primary, stop: () => closing.close() }
  })
}

function pairOf(primary: EmbeddedServer, standby: EmbeddedServer): ReplicatedPostgres {
  return {
    standby,
    killPrimary: async () => {
      process.kill(primary.pid, 'SIGKILL')
      await primary.exited
    },
    promote: () => withSql(standby.url, async (sql) => void (await sql`SELECT pg_promote(true, 60)`)),
  }
}

/** Nothing may run on the data. */
function copyForStandby(directory: string, record: ServerRecord, portToPrimary: number): void {
  const place = standbyPlaceOf(record)
  const data = join(place, 'data')
  makePrivateDirectory(standbyDirectory(directory))
  mkdirSync(place, { recursive: true })
  chmodSync(place, statSync(record.place).mode)
  execFileSync('cp', ['-a', join(record.place, 'data'), data])
  const { uid, gid } = statSync(data)
  const followed = `host=127.0.0.1 port=${portToPrimary} user=ledger password=${record.password} application_name=${STANDBY}`
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${followed}'\n`)
  writeFileSync(join(data, 'standby.signal'), '')
  chownSync(join(data, 'standby.signal'), uid, gid)
  writeRecord(standbyDirectory(directory), { ...record, port: null, place, launcher: null })
}

/** Where the copy is. */
function standbyPlaceOf(record: ServerRecord): string {
  return `${record.place}-standby`
}

function standbyDirectory(directory: string): string {
  return `${directory}-standby`
}

/** Set only now: a primary without the standby that it waits for commits nothing, and the copy waits for none. */
async function beFollowed(url: string): Promise<void> {
  await withSql(url, async (sql) => {
    await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (${STANDBY})'`)
    await sql`SELECT pg_reload_conf()`
    await until('the standby streams', STREAMS_WITHIN_MS, async () => {
      const [row] = await sql`SELECT state, sync_state FROM pg_stat_replication`
      return row?.['state'] === 'streaming' && row['sync_state'] === 'sync'
    })
  })
}

export async function withSql<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
