/** A backup that follows a server through its loss and the promotion of another one. */
import { generateKeyPairSync } from 'node:crypto'
import { chownSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { BackupWriter } from '../../../infra/backup/backup-directory.ts'
import { readServerFacts } from '../../../infra/backup/base-backup.ts'
import { follow } from '../../../infra/backup/follow.ts'
import { createSealer } from '../../../infra/backup/sealed-piece.ts'
import { startPostgres } from '../../../infra/embedded/postgres-server.ts'
import { readRecord } from '../../../infra/embedded/server-record.ts'
import { publicJwkOf, readPublicKey } from '../../../infra/keys/public-key.ts'
import { connect } from '../../../infra/postgres/connection/connection.ts'
import { migrate } from '../../../infra/postgres/migrations/migrate.ts'
import { Closing } from '../../support/closing.ts'
import { startWire } from '../../support/nats/severable-wire.ts'
import { DEFAULT_SHARD_COUNT, TEST_MASTER_KEYS } from '../../support/postgres/ledger-database.ts'
import { withSql } from '../../support/postgres/replicated-postgres.ts'
import { freePort } from '../../support/processes/free-ports.ts'
import { serverDirectory } from '../../support/processes/test-directory.ts'

const closing = new Closing()
afterEach(() => closing.close())

async function startLedgerServer() {
  const directory = serverDirectory('ledger-backup-')
  closing.add(() => rmSync(directory, { recursive: true, force: true }))
  const options = { dataDir: join(directory, 'postgres'), sharedBuffersMb: 128, port: await freePort() }
  const server = await startPostgres(options)
  closing.add(() => server.stop())
  await migrate(server.url, { shardCount: DEFAULT_SHARD_COUNT, masterKeys: TEST_MASTER_KEYS })
  return { directory, options, server }
}

interface Changes {
  readonly baseEveryMs?: number
  readonly prepare?: (writer: BackupWriter) => void
}

/** `urlOf`: of each next connection. */
async function startFollowing(
  directory: string,
  urlOf: () => string,
  { baseEveryMs = 86_400_000, prepare }: Changes = {},
) {
  const open = () => connect({ url: urlOf(), applicationName: 'ledger backup' })
  const connection = await open()
  const { systemIdentifier } = await readServerFacts(connection.sql)
  await connection.end()
  const recipient = readPublicKey(publicJwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey))
  if (recipient === undefined) throw new Error('not a key')
  const owner = { recipientKeyId: recipient.keyId, systemIdentifier }
  const writer = BackupWriter.open(join(directory, 'followed'), owner, createSealer(recipient))
  prepare?.(writer)
  const stop = new AbortController()
  const said: string[] = []
  const timelines: string[] = []
  const following = follow({
    writer,
    connect: open,
    systemIdentifier,
    baseEveryMs,
    signal: stop.signal,
    progress: () => undefined,
    say: (text) => void said.push(text),
    onBase: ({ base }) => void timelines.push(base.timeline),
    pauses: { followMs: 50, retryMs: 50, baseRetryMs: 86_400_000 },
    deadlineMs: 2_000,
  })
  let hasEnded = false
  const ended = following.finally(() => (hasEnded = true))
  ended.catch(() => undefined)
  closing.add(() => {
    stop.abort()
    return ended.catch(() => undefined)
  })
  return {
    said,
    timelines,
    writer,
    /** Waits for the condition. Throws if the backup ends. */
    until: async (condition: () => boolean) => {
      await expect.poll(() => hasEnded || condition()).toBe(true)
      if (hasEnded) throw new Error('the backup has ended', { cause: await ended.catch((error: unknown) => error) })
    },
  }
}

/** The stopped server is a standby from its next start on. */
function becomeStandby(dataDir: string): void {
  const data = join(readRecord(dataDir)?.place ?? '', 'data')
  const { uid, gid } = statSync(data)
  writeFileSync(join(data, 'standby.signal'), '')
  chownSync(join(data, 'standby.signal'), uid, gid)
}

test('F3: goes on when its address leads to a standby, and takes a base backup once that is promoted', async () => {
  const { directory, options, server } = await startLedgerServer()
  let attempts = 0
  const urlOf = (): string => {
    attempts += 1
    return server.url
  }
  const { timelines, until } = await startFollowing(directory, urlOf)
  await until(() => timelines.length === 1)
  await server.stop()
  becomeStandby(options.dataDir)
  const standby = await startPostgres(options)
  closing.add(() => standby.stop())
  const before = attempts
  await until(() => attempts >= before + 3)
  await withSql(standby.url, async (sql) => void (await sql`SELECT pg_promote(true, 60)`))
  await until(() => timelines.length === 2)
  expect(timelines).toEqual(['00000001', '00000002'])
})

test('F3: gives up a connection to a machine that is gone, and goes on with another one', async () => {
  const { directory, options, server } = await startLedgerServer()
  const wire = await startWire({ host: '127.0.0.1', port: options.port })
  closing.add(() => wire.close())
  let port = wire.port
  const urlOf = (): string => server.url.replace(`:${options.port}/`, `:${port}/`)
  const { said, timelines, writer, until } = await startFollowing(directory, urlOf)
  await until(() => timelines.length === 1)
  wire.sever()
  port = options.port
  const [row] = await withSql(server.url, async (sql) => {
    await sql`SELECT pg_logical_emit_message(true, 'after', 'the loss')`
    return sql<{ flushed: string }[]>`SELECT (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text AS flushed`
  })
  await until(() => writer.walPieces('00000001').some(({ end }) => end >= Number(row?.flushed)))
  expect([timelines.length, said]).toEqual([1, [expect.stringContaining('no answer within'), 'the copy continues']])
})

test('F4: copies the WAL while base backups fail, and begins no other one at once', async () => {
  const { directory, server } = await startLedgerServer()
  const { said, timelines, writer, until } = await startFollowing(directory, () => server.url, { baseEveryMs: 1 })
  await until(() => timelines.length === 1)
  const failing = vi.spyOn(writer, 'putManifest').mockRejectedValue(new Error('no space left'))
  await until(() => failing.mock.calls.length > 0)
  for (let round = 0; round < 5; round += 1) {
    const [row] = await withSql(server.url, async (sql) => {
      await sql`SELECT pg_logical_emit_message(true, 'round', ${round})`
      return sql<{ flushed: string }[]>`SELECT (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text AS flushed`
    })
    await until(() => writer.walPieces('00000001').some(({ end }) => end >= Number(row?.flushed)))
  }
  expect(failing).toHaveBeenCalledTimes(1)
  expect(said.filter((text) => text.includes('no space left'))).toHaveLength(1)
})

test('F4: begins no other base backup at once if the first one fails', async () => {
  const { directory, server } = await startLedgerServer()
  let attempts = 0
  const urlOf = (): string => {
    attempts += 1
    return server.url
  }
  const { said, until } = await startFollowing(directory, urlOf, {
    prepare: (writer) => void vi.spyOn(writer, 'putChunk').mockRejectedValue(new Error('no space left')),
  })
  await until(() => said.length > 0)
  const before = attempts
  // Longer than some attempts would take.
  for (let round = 0; round < 100; round += 1) await withSql(server.url, (sql) => sql`SELECT`)
  expect([attempts, said]).toEqual([before, [expect.stringContaining('the base backup failed: no space left')]])
})
