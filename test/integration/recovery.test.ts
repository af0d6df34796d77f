/** The ledger waits for a PostgreSQL server in recovery, and refuses a permanently read-only one. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EmbeddedServer } from '../../infra/embedded/server-process.ts'
import { startPostgres } from '../../infra/embedded/postgres-server.ts'
import { readRecord, writeRecord } from '../../infra/embedded/server-record.ts'
import { readMasterKey } from '../../infra/keys/master-key.ts'
import { createOrMigrate } from '../../infra/ledger/ledger-creation.ts'
import { findLedger } from '../../infra/ledger/ledger-found.ts'
import { ServerReadOnly } from '../../infra/postgres/store/recovery.ts'
import type { LogFields } from '../../runtime/ports/log.ts'
import { until } from '../support/processes/cluster-process.ts'
import { withSql } from '../support/postgres/replicated-postgres.ts'

const MASTER_KEYS = { current: readMasterKey(Buffer.alloc(32, 7).toString('base64url')), previous: [] }
const WITHIN_MS = 180_000

let directory: string
let backup: string
let ledgerId: string
const running: EmbeddedServer[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-recovery-'))
  // PostgreSQL's user needs access.
  chmodSync(directory, 0o711)
  backup = join(directory, 'backup')
  const server = await startPostgres({ dataDir: backup })
  ;({ ledgerId } = await migrated(server.url))
  await server.stop()
})

afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  rmSync(directory, { recursive: true, force: true })
})

function migrated(url: string, say?: (text: string) => void) {
  return createOrMigrate(url, MASTER_KEYS, { shards: 4 }, say)
}

/** A server on a copy of the backup. */
async function startCopy(
  name: string,
  { settings = [], signal }: { readonly settings?: readonly string[]; readonly signal?: 'recovery' | 'standby' },
): Promise<EmbeddedServer> {
  const dataDir = join(directory, name)
  execFileSync('cp', ['-a', backup, dataDir])
  const record = readRecord(backup)
  if (record?.place !== backup) throw new Error('the data is not in its directory')
  writeRecord(dataDir, { ...record, place: dataDir, port: null })
  const data = join(dataDir, 'data')
  appendFileSync(join(data, 'postgresql.auto.conf'), [...settings, ''].join('\n'))
  if (signal !== undefined) {
    const { uid, gid } = statSync(data)
    const file = join(data, `${signal}.signal`)
    writeFileSync(file, '')
    chownSync(file, uid, gid)
  }
  const server = await startPostgres({ dataDir })
  running.push(server)
  return server
}

test('W1: a migration waits for the end of the recovery and reports progress; parts wait too', async () => {
  const go = join(directory, 'go')
  // The command provides no file, so that the server replays its own log, and delays the end of the recovery.
  const restoring = `case %f in *.history) exit 1;; esac; test -e asked || { touch asked; exit 1; }; while [ ! -e "${go}" ]; do sleep 0.05; done; exit 1`
  const { url } = await startCopy('restored', { settings: [`restore_command = '${restoring}'`], signal: 'recovery' })
  const said: string[] = []
  const waits: (LogFields | undefined)[] = []
  const log = {
    info: () => undefined,
    warn: (_event: string, fields?: LogFields) => void waits.push(fields),
    error: () => undefined,
  }
  const both = Promise.all([migrated(url, (text) => said.push(text)), findLedger(url, log, () => false)])
  await until('both wait', WITHIN_MS, () => said.length > 0 && waits.length > 0)
  expect(said[0]).toMatch(/^waiting: PostgreSQL is in recovery and has replayed its log up to [0-9A-F]+\/[0-9A-F]+.*$/)
  expect(waits[0]).toEqual({ because: 'database_in_recovery' })
  writeFileSync(go, '')
  expect(await both).toEqual([expect.objectContaining({ ledgerId }), expect.objectContaining({ ledgerId })])
})

test('W1: a migration refuses a paused recovery at once', async () => {
  const { url } = await startCopy('paused', { settings: [`restore_command = 'false'`], signal: 'standby' })
  await withSql(url, async (sql) => {
    await sql`SELECT pg_wal_replay_pause()`
    await until('it is paused', WITHIN_MS, async () => {
      const [row] = await sql`SELECT pg_get_wal_replay_pause_state() AS state`
      return row?.['state'] === 'paused'
    })
  })
  await expect(migrated(url)).rejects.toThrow(/recovery of PostgreSQL is paused.*pg_wal_replay_resume/)
})

test('W1: a migration refuses a standby at once', async () => {
  const primary = await startCopy('primary', {})
  const { port, password } = new URL(primary.url)
  const settings = [`primary_conninfo = 'host=127.0.0.1 port=${port} user=ledger password=${password}'`]
  const standby = await startCopy('standby', { settings, signal: 'standby' })
  await withSql(standby.url, (sql) =>
    until('it follows', WITHIN_MS, async () => (await sql`SELECT FROM pg_stat_wal_receiver`).length > 0),
  )
  const refused = migrated(standby.url)
  await expect(refused).rejects.toThrow(/standby that follows another server.*LEDGER_DATABASE_URL/)
  await expect(refused).rejects.toBeInstanceOf(ServerReadOnly)
})

test('a migration refuses a server with read-only sessions, and names the setting', async () => {
  const { url } = await startCopy('read-only', { settings: ['default_transaction_read_only = on'] })
  await expect(migrated(url)).rejects.toThrow('default_transaction_read_only is on')
})
